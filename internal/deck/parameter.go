package deck

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"riffle/internal/suggest"
)

// A Parameter is a number that a request for a deck may choose.
type Parameter struct {
	Name string `json:"name"`
	Min  int    `json:"min"`
	Max  int    `json:"max"`

	// Default is the value when the request chooses nothing at all.
	Default int `json:"default"`

	// DefaultBy is set if the default depends on another parameter.
	DefaultBy *Table `json:"default_by,omitempty"`
}

// A Table maps an earlier parameter to a number: the value of the first step that the parameter
// does not exceed.
type Table struct {
	Parameter string `json:"parameter"`
	Steps     []Step `json:"steps"`
}

// A Step is one row of a [Table].
type Step struct {
	UpTo  int `json:"up_to"`
	Value int `json:"value"`
}

// A ParameterError says which parameter of a deck is invalid, and why.
type ParameterError struct {
	Name   string
	Reason string
}

func (e *ParameterError) Error() string {
	return fmt.Sprintf("parameter %s %s", suggest.Brief(e.Name), e.Reason)
}

// resolve checks the given parameters and adds the defaults of all others. It returns nil for a
// type without parameters.
func (t *Type) resolve(given map[string]int) (map[string]int, error) {
	// Sorted, so that the same mistake always gives the same error.
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(t.Parameters, func(p Parameter) bool { return p.Name == name }) {
			return nil, &ParameterError{name, "is not one that " + t.Name + " takes; " + t.parameterHint(name)}
		}
	}
	if len(t.Parameters) == 0 {
		return nil, nil
	}
	resolved := make(map[string]int, len(t.Parameters))
	for _, p := range t.Parameters {
		v, ok := given[p.Name]
		if !ok {
			v = p.defaultUnder(resolved)
		}
		if v < p.Min || v > p.Max {
			return nil, &ParameterError{p.Name, fmt.Sprintf("is %d; it can be %d to %d", v, p.Min, p.Max)}
		}
		resolved[p.Name] = v
	}
	return resolved, nil
}

// parameterHint says what to write instead of a name that is no parameter.
func (t *Type) parameterHint(name string) string {
	names := namesOf(t.Parameters, func(p Parameter) string { return p.Name })
	if len(names) == 0 {
		return "it takes none"
	}
	return suggest.Or(name, names, "there are "+strings.Join(names, ", "))
}

// defaultUnder returns the default, given the values of the earlier parameters.
func (p Parameter) defaultUnder(earlier map[string]int) int {
	if p.DefaultBy == nil {
		return p.Default
	}
	return valueOf(p.DefaultBy.Steps, earlier[p.DefaultBy.Parameter], p.Default)
}

// valueOf returns the value of the first step that a number does not exceed.
func valueOf(steps []Step, number, otherwise int) int {
	for _, s := range steps {
		if number <= s.UpTo {
			return s.Value
		}
	}
	return otherwise
}

// lastOf returns the last of the given parameters in the type's order: the one to blame if all are
// in range but do not fit together.
func (t *Type) lastOf(given map[string]int) string {
	for _, p := range slices.Backward(t.Parameters) {
		if _, ok := given[p.Name]; ok {
			return p.Name
		}
	}
	return ""
}
