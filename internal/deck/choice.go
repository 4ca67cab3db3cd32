package deck

import (
	"cmp"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"riffle/internal/suggest"
)

// A Preset names the usual hands of a game. It has either their sizes, or one size for as many
// hands as there are players, and may have parts that are dealt after them.
type Preset struct {
	Name string `json:"name"`

	// Sizes are the cards of each hand.
	Sizes []int `json:"sizes,omitempty"`

	// Each is the size of all hands, whose number a request gives: uno:4 deals four hands. 0 if
	// there are Sizes.
	Each int `json:"each,omitempty"`

	// EachBy is in place of Each if the size depends on the number of hands. 0 if the game is not
	// for so many.
	EachBy []Row `json:"each_by,omitempty"`

	// Players is the number of hands if a request gives none, with default parameters; 0 if it has
	// to give one.
	Players int `json:"players,omitempty"`

	// PlayersFrom names the parameter that Players is taken from.
	PlayersFrom string `json:"players_from,omitempty"`

	// Then is dealt after the hands, as more of them.
	Then []Part `json:"then,omitempty"`
}

// A Part is a hand of nobody's, such as the flop of hold'em.
type Part struct {
	Name string `json:"name"`
	Size int    `json:"size"`
}

// The forms of the names of deck types, and of presets.
var (
	IsWord   = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}$`).MatchString
	IsPreset = regexp.MustCompile(`^[a-z][a-z0-9-]{0,63}(:[0-9]+)?$`).MatchString
)

// Hands returns the sizes of the hands of a preset, bridge, or uno:4 for four hands, dealt from
// that many copies of the deck. The caller may change the slice. The error says what is
// wrong with the preset.
func (d *Deck) Hands(copies int, preset string) ([]int, error) {
	name, number, counted := strings.Cut(preset, ":")
	i := slices.IndexFunc(d.kind.Presets, func(p Preset) bool { return p.Name == name })
	if i < 0 {
		return nil, fmt.Errorf("deck %s has no preset %s; %s", d.kind.Name, suggest.Quote(preset), d.kind.presetHint(preset))
	}
	p := d.kind.Presets[i]
	covered, sizes := copies*d.Size(), slices.Clone(p.Sizes)
	if len(p.Then) == 0 {
		covered -= d.kind.DeadWall // otherwise it may be one of the parts
	}
	var then []int
	for _, part := range p.Then {
		then = append(then, part.Size)
	}
	if len(sizes) > 0 && counted {
		return nil, fmt.Errorf("the preset always deals %d hands; write %s", len(sizes), name)
	}
	if len(sizes) == 0 {
		hands := cmp.Or(d.parameters[p.PlayersFrom], p.Players)
		if counted {
			n, err := strconv.Atoi(number)
			if err != nil || n < 1 || strconv.Itoa(n) != number {
				return nil, fmt.Errorf("the number of hands is a whole number from 1; write %s:4 for four hands of %d", name, p.size(4))
			}
			hands = n
		}
		each := p.size(hands)
		switch {
		case hands == 0:
			return nil, fmt.Errorf("say how many hands; write %s:4 for four hands of %d", name, p.size(4))
		case each == 0:
			return nil, fmt.Errorf("the preset is not for %d hands; write %s:%d, for example", hands, name, cmp.Or(p.Players, 4))
		case d.kind.Family == "roles" && hands < covered/each:
			return nil, fmt.Errorf("roles would be left over, for the deck has %d: write %s, and set the parameter players to %d, with the deck werewolf or another that has it", covered, name, hands)
		// Dividing keeps a large number of hands from overflowing, and from being allocated.
		case hands > max(covered-sum(then), 0)/each:
			return nil, fmt.Errorf("the deck covers %d hands of %d", max(covered-sum(then), 0)/each, each)
		}
		sizes = slices.Repeat([]int{each}, hands)
	}
	sizes = append(sizes, then...)
	if need := sum(sizes); need > covered {
		return nil, fmt.Errorf("the preset deals %d cards and the deck covers %d", need, covered)
	}
	return sizes, nil
}

// size returns the size of each of that many hands; 0 if the game is not for so many.
func (p Preset) size(hands int) int { return valueOf(p.EachBy, hands, p.Each) }

// nicknames are what people call a preset.
var nicknames = map[string]string{"poker": "holdem", "texas": "holdem", "texas-holdem": "holdem", "21": "blackjack"}

// presetHint says what to write instead of a text that is no preset.
func (t *Type) presetHint(text string) string {
	names := namesOf(t.Presets, func(p Preset) string { return p.Name })
	name, number, counted := strings.Cut(text, ":")
	meant := nicknames[name]
	if !slices.Contains(names, meant) {
		meant = suggest.Nearest(name, names)
	}
	i := slices.Index(names, meant)
	switch {
	case i >= 0 && counted && len(t.Presets[i].Sizes) == 0:
		return "did you mean " + meant + ":" + suggest.Brief(number) + "?"
	case i >= 0:
		return "did you mean " + meant + "?"
	case len(names) == 0:
		return "give the sizes of the hands, as in [5,5]"
	}
	return "give the sizes of the hands, as in [5,5], or a preset: " + strings.Join(names, ", ")
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}

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
	Steps     []Row  `json:"steps"`
}

// A Row is one row of a [Table].
type Row struct {
	UpTo  int `json:"up_to"`
	Value int `json:"value"`
}

// A ParameterError says which parameter of a deck is invalid, and why.
type ParameterError struct {
	Name    string
	Reason  string
	Unknown bool // the deck type has no parameter of the name
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
			return nil, &ParameterError{name, "is not one that " + t.Name + " takes; " + t.parameterHint(name), true}
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
			return nil, &ParameterError{p.Name, fmt.Sprintf("is %d; it can be %d to %d", v, p.Min, p.Max), false}
		}
		resolved[p.Name] = v
	}
	return resolved, nil
}

// ParameterNames returns the names of the parameters, nil for none.
func (t *Type) ParameterNames() []string {
	return namesOf(t.Parameters, func(p Parameter) string { return p.Name })
}

// parameterHint says what to write instead of a name that is no parameter.
func (t *Type) parameterHint(name string) string {
	names := t.ParameterNames()
	if names == nil {
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
func valueOf(steps []Row, number, otherwise int) int {
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
