package client

import (
	"errors"
	"fmt"

	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// Given is what proofs are checked against. What is missing is not checked.
type Given struct {
	Key       string // the public key of the log, from another source than the proofs
	Items     []byte // the JSON array of the items that were shuffled
	ItemsSalt string
	Order     []byte // what was answered: a whole answer, an array of items or positions, or one hand of it
	HandOf    string // which hand of the deal the order is: a number from 1, or rest; empty for any, or all
	AnyOrder  bool   // hands and the rest of the order may be sorted
	Hand      []byte // cards that were drawn from a shoe with their proofs: a whole answer, an array, or one
}

// Verdict is the outcome of [Verify] in a word.
type Verdict = prooffile.Verdict

// The verdicts. VerdictFalse means that something is false, and VerdictUnchecked that something
// could not be checked.
const (
	VerdictVerified  = prooffile.VerdictVerified
	VerdictFalse     = prooffile.VerdictFalse
	VerdictUnchecked = prooffile.VerdictUnchecked
)

// A Check is one step of a verification.
type Check struct {
	Step    string
	Verdict Verdict
	Detail  string
}

// Verify verifies what it is given, without the service and without trusting anything but the key.
// The files may be proofs in any order, each of a record or several, and whatever else [Given] can
// have: an answer, a hand or a list is taken for what it looks like. The error says why nothing can
// be concluded: something is not well-formed, or it is not clear what it is.
func Verify(given Given, files ...[]byte) (Verdict, []Check, error) {
	decks, err := deck.Builtin()
	if err != nil {
		return "", nil, err
	}
	var texts []prooffile.Text
	for i, file := range files {
		texts = append(texts, prooffile.Text{Name: fmt.Sprintf("file %d", i+1), Content: file})
	}
	for _, t := range []prooffile.Text{
		{Role: prooffile.RoleKey, Content: []byte(given.Key)},
		{Role: prooffile.RoleItems, Content: given.Items},
		{Role: prooffile.RoleSalt, Content: []byte(given.ItemsSalt)},
		{Role: prooffile.RoleOrder, Content: given.Order},
		{Role: prooffile.RoleHand, Content: given.Hand},
	} {
		if len(t.Content) > 0 {
			t.Name = "what was given"
			texts = append(texts, t)
		}
	}
	found := prooffile.Verify(texts, prooffile.Options{HandOf: given.HandOf, AnyOrder: given.AnyOrder, Decks: decks})
	if len(found.Proofs) == 0 {
		return "", nil, errors.New(found.Headline)
	}
	verdicts := map[prooffile.State]Verdict{
		prooffile.OK: VerdictVerified, prooffile.Wrong: VerdictFalse, prooffile.Unchecked: VerdictUnchecked, prooffile.Skipped: VerdictUnchecked,
	}
	var checks []Check
	for _, step := range found.Steps {
		checks = append(checks, Check{Step: step.Name, Verdict: verdicts[step.State], Detail: step.Detail})
	}
	return found.Verdict, checks, nil
}
