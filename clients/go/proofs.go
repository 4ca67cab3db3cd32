package client

import (
	"errors"

	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// Given has the texts that a proof is checked against. What is nil is not checked. A list is a JSON array or
// plain lines.
type Given struct {
	Key    []byte // the public key of the log, from another source than the proof
	Policy []byte // the logs and witnesses that are trusted
	Answer []byte // what POST /shuffle answered, whole
	Order  []byte // everything that was dealt, as a list
	Hand   []byte // one hand of a deal, as a list, or cards that were drawn from a shoe
	HandOf []byte // which hand of the deal it is: a number from 1, or rest
	Items  []byte // what was shuffled, as a list
	Salt   []byte // that the items were sent with
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

// Verify verifies one proof, of a record or of a whole shoe, without the service and without
// trusting anything but the key. The error says why nothing can be concluded: something that was
// given is not well-formed.
func Verify(proof []byte, given Given) (Verdict, []Check, error) {
	decks, err := deck.Builtin()
	if err != nil {
		return "", nil, err
	}
	found := prooffile.Verify(proof, &prooffile.Inputs{
		Key: given.Key, Policy: given.Policy, Answer: given.Answer, Order: given.Order, Hand: given.Hand, HandOf: given.HandOf, Items: given.Items,
		Salt: given.Salt, Decks: decks,
	})
	if found.Summary["id"] == "refused" {
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
