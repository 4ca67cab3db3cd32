package main

import (
	"fmt"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// The verdicts, and the exit codes that they have.
const (
	verdictVerified  = "verified"  // 0: everything that was given holds
	verdictFalse     = "false"     // 1: something that was given is false
	verdictUnchecked = "unchecked" // 2: something could not be checked
)

// A verdict is what was found out, for people and for machines. The verifiers in other languages
// have the same sentences.
type verdict struct {
	Verdict  string   `json:"verdict"`
	Headline string   `json:"headline"` // what is proven, and what is not, in one line
	Notes    []string `json:"notes"`    // what else it shows, and what to do about what is missing
	Steps    []step   `json:"steps"`
}

// A step is a [prooffile.Step] as JSON.
type step struct {
	Name string `json:"name"`
	OK   *bool  `json:"ok"` // null if it was not checked
	Text string `json:"text"`
}

// newVerdict returns a verdict without its sentences.
func newVerdict(steps prooffile.Steps) *verdict {
	v := &verdict{Notes: []string{}, Steps: []step{}}
	for _, s := range steps {
		one := step{Name: s.Name, Text: s.Detail}
		if s.State == prooffile.OK || s.State == prooffile.Wrong {
			ok := s.State == prooffile.OK
			one.OK = &ok
		}
		v.Steps = append(v.Steps, one)
	}
	return v
}

// verified says what is proven. A missing proof of a commitment belongs in the first line.
func (v *verdict) verified(steps prooffile.Steps, what string) {
	v.Verdict = verdictVerified
	if steps.Has(prooffile.StepCommitted, prooffile.Skipped) {
		v.Headline = "Verified except for the commitment: " + what + ". Not proven: that the seed was fixed before the client seed was known."
		return
	}
	v.Headline = "Verified: " + what + "."
}

// unchecked says what is proven and what could not be checked.
func (v *verdict) unchecked(format string, args ...any) {
	v.Verdict, v.Headline = verdictUnchecked, "Not checked to the end: "+fmt.Sprintf(format, args...)+"."
}

func (v *verdict) note(format string, args ...any) {
	v.Notes = append(v.Notes, fmt.Sprintf(format, args...))
}

// conclude adds the sentences. finding adds those for a proof of which no step fails, if its key is
// that of the log: without a key given, nothing is established.
func (v *verdict) conclude(steps prooffile.Steps, keyGiven bool, finding func()) {
	defer v.clean()
	failed, missing := steps.Failed(), steps.Unchecked()
	switch {
	case failed != nil:
		v.Verdict, v.Headline = verdictFalse, "This proof does NOT verify: it fails at the step "+failed.Name+"."
		return
	case steps.Has(prooffile.StepProof, prooffile.Unchecked):
		v.unchecked("the step %s could not be checked", missing.Name)
		v.note("%s.", upper(missing.Detail))
		return
	}
	finding()
	if keyGiven {
		return
	}
	ifRight, notes := v.Headline, v.Notes
	v.Verdict, v.Headline = verdictUnchecked, "Not established: no key of the log was given, and the one in the file shows only that the file agrees with itself."
	v.Notes = append([]string{
		"Anybody can bring that about. Take the key of the log from somewhere else than the file, and give it with --key.",
		"If the key is the right one: " + ifRight,
	}, notes...)
}

// clean makes the sentences printable, which quote files of strangers.
func (v *verdict) clean() {
	v.Headline = prooffile.Printable(v.Headline)
	for i, note := range v.Notes {
		v.Notes[i] = prooffile.Printable(note)
	}
}

// ofRecord says what the proof of one record shows.
func (v *verdict) ofRecord(steps prooffile.Steps, e *prooffile.Entry, given *prooffile.Given) {
	log := logOf(e)
	if e.Record == nil {
		v.ofUnknownKind(log)
		return
	}
	missing := steps.Unchecked()
	if words := withoutOrder(e.Record); words != "" {
		v.verified(steps, "the record is in "+log)
		if missing != nil {
			v.unchecked("the record is in %s, but what was given to compare cannot be compared with it", log)
		}
		v.note("%s", words)
		return
	}
	const fromSeed = "follows from the seed and the record, and the record is in "
	const follows = "the order " + fromSeed
	switch {
	case e.HeldBack() && e.Record.Root != nil:
		v.unchecked("the record is in %s, and its seed is held back until the shoe is closed", log)
		v.note("The cards were sealed, and none of them can be exchanged: a hand that was drawn is proven alone.")
	case e.HeldBack():
		v.unchecked("the record is in %s, and its seed is held back, so that the order cannot be checked yet", log)
		v.note("What was committed to cannot be exchanged until the seed is revealed.")
	case missing != nil:
		v.unchecked("%s%s, but the step %s could not be checked", follows, log, missing.Name)
	case e.Record.Kind != audit.KindShuffle:
		v.verified(steps, follows+log)
		if steps.Has(prooffile.StepRoot, prooffile.OK) {
			v.note("The cards were sealed in this order.")
		}
		v.note("That every change of the shoe was of cards that lay where it says, only the proof of the whole shoe shows.")
	case given.Order != nil:
		v.verified(steps, "the order is the one given and "+fromSeed+log)
	default:
		v.verified(steps, follows+log)
		v.note("No order was given to compare it with: give what was answered as well.")
	}
	v.committed(steps, e)
	if v.Verdict == verdictVerified && e.Record.Kind == audit.KindShuffle && !e.Record.UsesCommitment() {
		v.note("This proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.")
	}
}

// ofHand says whether a hand is proven by the records that it was given with.
func (v *verdict) ofHand(r *prooffile.HandResult) {
	log := logOf(&r.Entry)
	if r.Record == nil {
		v.ofUnknownKind(log)
		return
	}
	missing := r.Unchecked()
	switch {
	case missing == nil:
		v.verified(r.Steps, fmt.Sprintf("the %d card(s) of the hand were sealed at their positions by the record, which is in %s, and none could be exchanged since", r.Proven, log))
		if r.HeldBack() {
			v.note("The other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked.")
		}
	case r.Others > 0:
		v.unchecked("%d of the %d card(s) of the hand are proven by what was given, and %d are NOT", r.Proven, r.Proven+r.Others, r.Others)
		if len(r.Missing) > 0 {
			v.note("Give the proof of each record that they name as sealed_by as well: %s.", idList(r.Missing))
		}
	default:
		v.unchecked("the %d card(s) of the hand were sealed at their positions, but the step %s could not be checked", r.Proven, missing.Name)
	}
	v.committed(r.Steps, &r.Entry)
}

// ofShoe says what the records of a shoe show together.
func (v *verdict) ofShoe(r *prooffile.ShoeResult) {
	log, missing := logOf(&r.Entry), r.Unchecked()
	if r.Record == nil {
		v.ofUnknownKind(log)
		return
	}
	soFar := fmt.Sprintf("the first record of the shoe and its %d change(s) are in %s, and fit together", r.Changes, log)
	switch {
	case missing != nil && missing.Name == prooffile.StepClosed:
		v.unchecked("%s; but it is not closed", soFar)
		v.note("Its seeds are held back, and the rest can be checked when they are revealed.")
	case missing != nil:
		v.unchecked("%s; but the step %s could not be checked", soFar, missing.Name)
	case !r.Closed:
		v.verified(r.Steps, fmt.Sprintf("the %d card(s) of the hand were sealed at their positions; %s so far", r.Proven, soFar))
		v.note("The other cards stay hidden until the shoe is closed.")
	default:
		v.verified(r.Steps, "the whole shoe, from its first record to its last, which are in "+log)
		if r.Sealed() {
			v.note("Every order follows from its seed, every card lay where it is said to have lain, and none was exchanged.")
		} else {
			v.note("Every order follows from its seed, and every change was of cards that lay where it says. Which cards they were was not compared.")
		}
	}
	if r.Proven > 0 && (r.Closed || missing != nil) {
		v.note("The hand is proven: %d card(s) of it were sealed at their positions, and none could be exchanged since.", r.Proven)
	}
	v.committed(r.Steps, &r.Entry)
}

// ofUnknownKind says what is known of a record whose kind is not.
func (v *verdict) ofUnknownKind(log string) {
	v.unchecked("the record is in %s, but of a kind that this version does not know", log)
	v.note("A later version may be able to check it.")
}

// withoutOrder says what a record is for that has no order. It is empty for a record that has one.
func withoutOrder(record *audit.Record) string {
	switch record.Kind {
	case audit.KindCommitment:
		return "It is a commitment: the seed and what is to be shuffled cannot be exchanged any more. The seed is held until it is used, before " +
			record.Deadline.Format(audit.TimeFormat) + ", by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own."
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

// committed adds what is known of the commitment that a shuffle or a shoe used.
func (v *verdict) committed(steps prooffile.Steps, e *prooffile.Entry) {
	id := e.Record.CommitmentID
	switch {
	case steps.Has(prooffile.StepCommitted, prooffile.OK):
		v.note("The commitment %s fixed the order, but for the client seed, before the client seed was known: as far as that was new when the commitment was in the log, no seed can have been picked for its order.", id)
	case steps.Has(prooffile.StepCommitted, prooffile.Skipped):
		v.note("It names the commitment %s: give the proof of that record as well (GET /audits/%s/proof).", id, id)
	}
}

// logOf names the log of a proof by its origin, which is the name of its key.
func logOf(e *prooffile.Entry) string {
	origin, _, _ := strings.Cut(e.File.LogKey, "+")
	return "the log of " + origin
}

// upper makes the first letter of a sentence large.
func upper(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func idList(ids []uuid.UUID) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, id.String())
	}
	return strings.Join(texts, ", ")
}
