package main

import (
	"fmt"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// A report is what a verifier found.
type report struct {
	steps prooffile.Steps
	// finding says what the proof shows if no step fails and its key is that of the log. Its first
	// letter is small. The error is errUnchecked or nil.
	finding func() (string, error)
}

// verdict sums up the steps. Without a key given, nothing is established.
func (r *report) verdict(keyGiven bool) (string, error) {
	if failed := r.steps.Failed(); failed != nil {
		return fmt.Sprintf("This proof does NOT verify. It fails at the step %s.", failed.Name), errFindings
	}
	words, err := r.finding()
	if !keyGiven {
		return "Not established: no key was given, and the one in the file was used. That shows only that the file agrees with itself,\n" +
			"which anybody can bring about. Take the key of the log from somewhere else than the file, and name it with --key.\n" +
			"If the key is the right one: " + words, errUnchecked
	}
	return strings.ToUpper(words[:1]) + words[1:], err
}

// ofRecord says what the proof of one record shows.
func ofRecord(steps prooffile.Steps, e *prooffile.Entry, given *prooffile.Given) (string, error) {
	log := logOf(e)
	if e.Record == nil {
		return ofUnknownKind(log)
	}
	if words := withoutOrder(e.Record); words != "" {
		words = "the record is in " + log + ". " + words
		if steps.Unchecked() != nil {
			return words + "\nWhat was given to compare cannot be compared with it.", errUnchecked
		}
		return words, nil
	}
	if e.HeldBack() {
		words := "the record is in " + log + ", and its seed is held back: the order cannot be checked until the seed is revealed.\n" +
			"What was committed to cannot be exchanged until then."
		if e.Record.Root != nil {
			words = "the record is in " + log + ", and its seed is held back until the shoe is closed. The cards were sealed, and none of them can\n" +
				"be exchanged: a hand that was drawn is proven alone, with --hand."
		}
		return words + committed(steps, e), errUnchecked
	}
	if step := steps.Unchecked(); step != nil {
		return fmt.Sprintf("the replay follows from the seed, and the record is in %s; but the step %s could not be checked.", log, step.Name), errUnchecked
	}
	words := "verified. The order follows from the seed and the record, and the record is in " + log + ".\n"
	if e.Record.Kind != audit.KindShuffle {
		if steps.Has(prooffile.StepRoot, prooffile.OK) {
			words += "The cards were sealed in this order.\n"
		}
		return words + "That every change of the shoe was of cards that lay where it says, only the proof of the whole shoe shows." + committed(steps, e), nil
	}
	if given.Order == nil {
		words += "No order was given to compare it with: name the one that was answered with --order."
	} else {
		words += "It is the order given."
	}
	if known := committed(steps, e); known != "" {
		return words + known, nil
	}
	return words + "\nThis proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.", nil
}

// ofHand says whether a hand is proven by the record that it was given with.
func ofHand(r *prooffile.HandResult, given *prooffile.Given) (string, error) {
	if r.Proven == 0 {
		return ofRecord(r.Steps, &r.Entry, given)
	}
	words := fmt.Sprintf("the hand is proven. %d card(s) of it were sealed at their positions by the record, which is in %s,\n"+
		"and none of them could be exchanged since.", r.Proven, logOf(&r.Entry))
	if r.Others > 0 {
		words += fmt.Sprintf("\nThe other %d card(s) of the hand are NOT proven by it: give the proof of the record that they name as sealed_by.", r.Others)
	}
	if step := r.Unchecked(); step != nil {
		return words + fmt.Sprintf("\nBut the step %s could not be checked.", step.Name), errUnchecked
	}
	if r.HeldBack() {
		words += "\nThe other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked."
	}
	return words + committed(r.Steps, &r.Entry), nil
}

// ofShoe says what the records of a shoe show together.
func ofShoe(r *prooffile.ShoeResult) (string, error) {
	log := logOf(&r.Entry)
	if r.Record == nil {
		return ofUnknownKind(log)
	}
	step := r.Unchecked()
	words := "the whole shoe verifies, from its first record to its last, which are in " + log + "."
	switch {
	case step != nil || !r.Closed:
		words = fmt.Sprintf("so far the shoe verifies: its first record and %d change(s) are in %s, and fit together.", r.Changes, log)
	case r.Sealed():
		words += "\nEvery order follows from its seed, every card lay where it is said to have lain, and none was exchanged."
	default:
		words += "\nEvery order follows from its seed, and every change was of cards that lay where it says. Which cards they were was not compared."
	}
	if r.Proven > 0 {
		words += fmt.Sprintf("\nThe hand is proven: %d card(s) of it were sealed at their positions, and none could be exchanged since.", r.Proven)
	}
	words += committed(r.Steps, &r.Entry)
	switch {
	case step != nil && step.Name == prooffile.StepClosed:
		return words + "\nIt is not closed: its seeds are held back, and the rest can be checked when they are revealed.", errUnchecked
	case step != nil:
		return words + fmt.Sprintf("\nBut the step %s could not be checked.", step.Name), errUnchecked
	case !r.Closed:
		return words + "\nThe other cards stay hidden until the shoe is closed.", nil
	}
	return words, nil
}

// ofUnknownKind says what is known of a record whose kind is not.
func ofUnknownKind(log string) (string, error) {
	return "the record is in " + log + ". It is of a kind that this version does not know, and cannot be checked any further.\n" +
		"A later version may be able to.", errUnchecked
}

// withoutOrder says what a record is for that has no order. It is empty for a record that has one.
func withoutOrder(record *audit.Record) string {
	switch record.Kind {
	case audit.KindCommitment:
		return "It is a commitment: the seed and what is to be shuffled cannot be exchanged any more. The seed is held until it is used,\n" +
			"before " + record.Deadline.Format(audit.TimeFormat) + ", by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own."
	case audit.KindVoid:
		return fmt.Sprintf("It says that the commitment %s was not used in time, and has no order of its own.", record.CommitmentID)
	case audit.KindReveal:
		return fmt.Sprintf("It says that the seed of %s was made public, and has no order of its own.", record.AuditID)
	case audit.KindDraw, audit.KindAdd, audit.KindReturn, audit.KindClose, audit.KindExpire:
		if !record.Deals() {
			return fmt.Sprintf("It is a change of the shoe %s, and has no order of its own: give the proofs of the whole shoe to follow its cards.", record.AuditID)
		}
	case audit.KindShuffle, audit.KindShoe, audit.KindReshuffle:
	}
	return ""
}

// committed returns a line on the commitment that a shuffle or a shoe used; empty if it used none.
func committed(steps prooffile.Steps, e *prooffile.Entry) string {
	id := e.Record.CommitmentID
	switch {
	case steps.Has(prooffile.StepCommitted, prooffile.OK):
		return fmt.Sprintf("\nThe commitment %s fixed the order, but for the client seed, before the client seed was known:\n"+
			"as far as that was new when the commitment was in the log, no seed can have been picked for its order.", id)
	case steps.Has(prooffile.StepCommitted, prooffile.Skipped):
		return fmt.Sprintf("\nIt names the commitment %s: give that record's proof as well (GET /audits/%s/proof).\n"+
			"Without it, whether the seed was drawn more than once before it was recorded is not shown.", id, id)
	}
	return ""
}

// logOf names the log of a proof by its origin, which is the name of its key.
func logOf(e *prooffile.Entry) string {
	origin, _, _ := strings.Cut(e.File.LogKey, "+")
	return "the log of " + origin
}
