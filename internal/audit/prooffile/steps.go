package prooffile

import (
	"fmt"
	"slices"
	"strings"
)

// A State is what became of a step.
type State int

// The states of a step.
const (
	OK        State = iota // it holds
	Wrong                  // it does not hold
	Unchecked              // it was asked for or required, and something it takes is missing
	Skipped                // nobody asked for it, or there is nothing of the kind
)

// The steps of a record, in their order. Between seed and order come commitment and keys, as
// [riffle/internal/audit.Verify] names them.
const (
	StepProof     = "proof"
	StepRecord    = "record"
	StepSeed      = "seed"
	StepOrder     = "order"
	StepItems     = "items"
	StepRoot      = "root"
	StepHand      = "hand"
	StepInclusion = "inclusion"
	StepSignature = "signature"
	StepCommitted = "committed"
)

// The steps that only a whole shoe has. Chain follows record; moves and closed come last, with root
// and hand between them.
const (
	StepChain  = "chain"
	StepMoves  = "moves"
	StepClosed = "closed"
)

// missing returns the state of a step that lacks something.
func missing(isRequired bool) State {
	if isRequired {
		return Unchecked
	}
	return Skipped
}

// A Step is one check of a proof.
type Step struct {
	Name   string
	State  State
	Detail string // what was found, in printable characters; never a seed
}

// newStep returns a step with its detail made printable.
func newStep(name string, state State, format string, args ...any) Step {
	return Step{Name: name, State: state, Detail: Printable(fmt.Sprintf(format, args...))}
}

// Printable replaces what could move the cursor of a terminal: files come from strangers, and
// errors quote them.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return '\uFFFD'
		}
		return c
	}, text)
}

// Steps are the checks that a verifier made, in the order in which it reports them.
type Steps []Step

// Failed returns the first step that does not hold, or nil.
func (s Steps) Failed() *Step { return s.first(func(step Step) bool { return step.State == Wrong }) }

// Unchecked returns the first step that could not be checked, or nil.
func (s Steps) Unchecked() *Step {
	return s.first(func(step Step) bool { return step.State == Unchecked })
}

// Find returns the step of that name, or nil.
func (s Steps) Find(name string) *Step {
	return s.first(func(step Step) bool { return step.Name == name })
}

// Has reports whether the step of that name is in the state.
func (s Steps) Has(name string, state State) bool {
	step := s.Find(name)
	return step != nil && step.State == state
}

func (s Steps) first(isWanted func(Step) bool) *Step {
	if i := slices.IndexFunc(s, isWanted); i >= 0 {
		return &s[i]
	}
	return nil
}

// add appends a step.
func (s *Steps) add(name string, state State, format string, args ...any) {
	*s = append(*s, newStep(name, state, format, args...))
}

// check appends a step that is wrong because of err or, if err is nil, holds as the format says.
func (s *Steps) check(name string, err error, format string, args ...any) {
	if err != nil {
		s.add(name, Wrong, "%s", err)
		return
	}
	s.add(name, OK, format, args...)
}
