package prooffile

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A Verdict is a verifier's conclusion.
type Verdict string

// The verdicts. A program exits with 0, 1 and 2.
const (
	VerdictVerified  Verdict = "verified"  // everything that was given holds
	VerdictFalse     Verdict = "false"     // something that was given is false
	VerdictUnchecked Verdict = "unchecked" // something could not be checked
)

// A Conclusion is a verdict with its reasons, for people and for machines. The verifiers in other
// languages have the same sentences.
type Conclusion struct {
	Verdict  Verdict        `json:"verdict"`
	Headline string         `json:"headline"` // what is proven, and what is not, in one line
	Notes    []string       `json:"notes"`    // what else it shows, and what to do about what is missing
	Steps    Steps          `json:"steps"`
	Summary  map[string]any `json:"summary"` // the headline for translation: docs/spec.md, "Output of a verifier"
}

// A summary is an id and values.
type summary map[string]any

// say sets the verdict with its headline and its summary.
func (c *Conclusion) say(v Verdict, s summary, format string, args ...any) {
	c.Verdict, c.Summary, c.Headline = v, s, Printable(fmt.Sprintf(format, args...)+".")
}

// note adds a sentence to the notes.
func (c *Conclusion) note(format string, args ...any) {
	c.Notes = append(c.Notes, Printable(fmt.Sprintf(format, args...)))
}

// sayVerified says what is proven. A missing proof of a commitment belongs in the first line.
func (c *Conclusion) sayVerified(r *Result, s summary, format string, args ...any) {
	c.say(VerdictVerified, s, "Verified: "+format, args...)
	if r.Has(StepCommitted, Skipped) {
		s["commitment"] = "missing"
		c.Headline = strings.Replace(c.Headline, "Verified: ", "Verified except for the commitment: ", 1) + " Not proven: that the seed was fixed before the client seed was known."
	}
}

// sayUnchecked says what is proven and what could not be checked.
func (c *Conclusion) sayUnchecked(s summary, format string, args ...any) {
	c.say(VerdictUnchecked, s, "Not checked to the end: "+format, args...)
}

// sayIncomplete is unchecked because of a step.
func (c *Conclusion) sayIncomplete(missing *Step, format string, args ...any) {
	c.sayUnchecked(lacking(missing.Name), format+", but the step %s could not be checked", append(args, missing.Name)...)
}

func lacking(step string) summary { return summary{"id": "incomplete", "step": step} }

// sayOfOtherCommitment says that the commitment that was given is not the one that the record
// names.
func (c *Conclusion) sayOfOtherCommitment(id uuid.UUID) {
	if c.Verdict != VerdictVerified {
		c.note("The commitment that was given, %s, is not the one that the record names.", id)
		return
	}
	c.Notes = append([]string{"Without that commitment: " + c.Headline}, c.Notes...)
	c.sayUnchecked(lacking(StepCommitted), "the commitment that was given, %s, is not the one that the record names", id)
}

// conclude returns the conclusion from what a verifier found. say adds the sentences for a proof
// without a failed step, if its key is the log's: without a given key, nothing is established.
func conclude(r *Result, say func(c *Conclusion, r *Result, log string)) Conclusion {
	c := Conclusion{Notes: []string{}, Steps: r.Steps}
	switch failed, missing := r.Failed(), r.Unchecked(); {
	case failed != nil:
		c.say(VerdictFalse, summary{"id": "false", "step": failed.Name}, "This proof does NOT verify: it fails at the step %s", failed.Name)
		return c
	case r.Has(StepProof, Unchecked):
		c.sayUnchecked(lacking(missing.Name), "the step %s could not be checked", missing.Name)
		c.note("%s.", strings.ToUpper(missing.Detail[:1])+missing.Detail[1:])
		return c
	}
	log := "the log of " + audit.LogName(r.File.LogKey)
	if r.Record == nil {
		c.sayUnchecked(summary{"id": "unknown-kind"}, "the record is in %s, but of a kind that this version does not know", log)
		c.note("A later version may be able to check it.")
	} else {
		say(&c, r, log)
	}
	if r.Has(StepWitnesses, OK) {
		c.Summary["witnessed"] = true
		c.note("Enough witnesses of the policy have cosigned this history of the log.")
	}
	if !r.given.hasKey() { // all is under a condition
		c.Notes = append([]string{
			"Anybody can make such a file. Get the key of the log from another source than the file, and give it as well.",
			"If the key is the right one: " + c.Headline,
		}, c.Notes...)
		c.say(VerdictUnchecked, summary{"id": "no-key", "if": c.Summary},
			"Not established: no key of the log was given, and the one in the file shows only that the file agrees with itself")
	}
	return c
}

// sayOfRecord says what the proof of one record shows.
func (c *Conclusion) sayOfRecord(r *Result, log string) {
	const fromSeed = "follows from the seed and the record, and the record is in "
	missing := r.Unchecked()
	_, purpose := describe(r.Record)
	switch {
	case purpose != "" && missing != nil && missing.Name == StepWitnesses:
		c.sayIncomplete(missing, "the record is in %s", log)
	case purpose != "" && missing != nil:
		c.sayUnchecked(lacking(missing.Name), "the record is in %s, but the files given for comparison do not fit it", log)
	case purpose != "":
		c.sayVerified(r, summary{"id": "record", "kind": string(r.Record.Kind)}, "the record is in %s", log)
	case r.HeldBack() && r.Record.Kind != audit.KindShuffle:
		c.say(VerdictUnchecked, summary{"id": "held-back"}, "Not proven yet: the seed is still secret, because the shoe is still open; the record is in %s", log)
		c.note("The cards were sealed, and none of them can be exchanged: a hand that was drawn is proven alone.")
	case r.HeldBack():
		c.say(VerdictUnchecked, summary{"id": "held-back"}, "Not proven yet: the seed is still secret, because it was not revealed yet; the record is in %s", log)
		c.note("Nothing committed to can be exchanged before the seed is revealed.")
	case r.cost > 0:
		c.sayUnchecked(summary{"id": "cost", "steps": strconv.FormatUint(uint64(r.cost), 10)}, "the record is in %s, but %s", log, r.cost)
	case missing != nil:
		c.sayIncomplete(missing, "the order %s%s", fromSeed, log)
	case r.match != nil && r.match.Parts == nil:
		c.sayVerified(r, r.match.summary(), "the order is the one given and %s%s", fromSeed, log)
	case r.match != nil:
		c.sayVerified(r, r.match.summary(), "these are %s; the order %s%s", r.match, fromSeed, log)
	default:
		c.sayVerified(r, summary{"id": "follows"}, "the order %s%s", fromSeed, log)
		if r.Record.Kind == audit.KindShuffle {
			c.note("No order was given to compare it with: give the answer as well.")
			break
		}
		if r.Has(StepRoot, OK) {
			c.note("The cards were sealed in this order.")
		}
		c.note("Only the proof of the whole shoe shows that every change found its cards where it says.")
	}
	if purpose != "" {
		c.note("%s", purpose)
		return
	}
	c.sayOfCommitment(r)
	if c.Verdict == VerdictVerified && r.Record.Kind == audit.KindShuffle && !r.Record.UsesCommitment() {
		c.note("This proof cannot rule out that the operator drew several seeds and logged one. Use a commitment to rule that out.")
	}
}

// summary returns the summary of a comparison that holds.
func (m *Match) summary() summary {
	s := summary{"id": "order"}
	switch len(m.Parts) {
	case 0:
		return s
	case 1:
		s["id"], s["hand"], s["cards"] = "hand", m.Parts[0], m.Cards
	default:
		s["id"], s["hands"] = "hands", m.Parts
	}
	if m.Sorted {
		s["id"] = s["id"].(string) + "-set"
	}
	if m.Shuffle > 0 {
		s["shuffle"] = m.Shuffle
	}
	return s
}

// sayOfHand says whether a hand is proven by the records that it was given with.
func (c *Conclusion) sayOfHand(r *Result, log string) {
	missing := r.Unchecked()
	switch {
	case missing == nil:
		c.sayVerified(r, summary{"id": "cards", "cards": r.Proven}, "the %s by the record, which is in %s, and none could be exchanged since", sealedCards(r.Proven), log)
		if r.held > 0 {
			c.note("The other cards of the shoe stay hidden until it is closed, and then the whole shoe can be checked.")
		}
	case r.Others > 0:
		c.sayUnchecked(lacking(missing.Name), "of the %s of the hand, what was given proves %d and NOT %d", audit.Count(r.Proven+r.Others, "card"), r.Proven, r.Others)
		if len(r.Missing) > 0 {
			c.note("Give the proof of each record that they name as sealed_by as well: %s.", strings.Join(texts(r.Missing), ", "))
		}
	default:
		c.sayIncomplete(missing, "the %s", sealedCards(r.Proven))
	}
	c.sayOfCommitment(r)
}

func sealedCards(n int) string {
	if n == 1 {
		return "1 card of the hand was sealed at its position"
	}
	return fmt.Sprintf("%d cards of the hand were sealed at their positions", n)
}

// sayOfShoe says what the records of a shoe show together.
func (c *Conclusion) sayOfShoe(r *Result, log string) {
	missing := r.Unchecked()
	soFar := fmt.Sprintf("the first record of the shoe and its %s are in %s, and fit together", audit.Count(r.Changes, "change"), log)
	switch {
	case missing != nil && !r.Closed && r.secretOnly():
		c.say(VerdictUnchecked, summary{"id": "open-shoe", "changes": r.Changes}, "Not proven yet: the shoe is still open, and its seeds are secret until it is closed; %s", soFar)
	case missing != nil:
		c.sayIncomplete(missing, "%s", soFar)
	case !r.Closed:
		c.sayVerified(r, summary{"id": "cards", "cards": r.Proven}, "the %s; %s so far", sealedCards(r.Proven), soFar)
		c.note("The other cards stay hidden until the shoe is closed.")
	default:
		c.sayVerified(r, summary{"id": "shoe", "changes": r.Changes}, "the whole shoe, from its first record to its last, which are in %s", log)
		if r.Has(StepRoot, OK) {
			c.note("Every order follows from its seed, every card was where the records say, and none was exchanged.")
		} else {
			c.note("Every order follows from its seed, and every change found its cards where it says. The cards themselves were not compared.")
		}
	}
	if r.Proven > 0 && (r.Closed || missing != nil) {
		c.note("The hand is proven: %s, and none could be exchanged since.", sealedCards(r.Proven))
	}
	c.sayOfCommitment(r)
}

// secretOnly reports whether nothing but the seeds of an open shoe is missing.
func (r *Result) secretOnly() bool {
	return !slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.State == Unchecked && s.Name != StepClosed && s.Name != StepOrder
	})
}

// sayOfCommitment adds what is known of the commitment that a shuffle or a shoe used.
func (c *Conclusion) sayOfCommitment(r *Result) {
	id := r.Record.CommitmentID
	switch {
	case r.Has(StepCommitted, OK) && r.beacon > 0:
		c.Summary["beacon"], c.Summary["cosigned"] = r.beacon.String(), r.cosigned
		c.note("The commitment %s fixed the order, except for the client seed, and that is the signature of %s: nobody knew it before %s, and neither the operator nor a player chose it.", id, r.beacon, r.beacon.Time().Format(audit.TimeFormat))
		if r.cosigned {
			c.note("Enough witnesses of the policy had cosigned the log with the commitment before then.")
		} else {
			c.note("That the commitment was in the log before then is what the log's own clock says: a proof of the commitment that witnesses of a policy cosigned in time would show it.")
		}
	case r.Has(StepCommitted, OK):
		c.note("The commitment %s fixed the order, except for the client seed, before the client seed was known: if that was new when the commitment was in the log, nobody can have picked a seed for its order.", id)
	case r.Has(StepCommitted, Skipped):
		c.note("It names the commitment %s: give the proof of that record as well (GET /audits/%s/proof).", id, id)
	}
}

// describe summarizes a record. purpose says what one is for that has no order of its own; it is
// empty for the others.
func describe(record *audit.Record) (text, purpose string) {
	const noOrder = ", and has no order of its own"
	switch record.Kind {
	case audit.KindShuffle:
		text = stated(record)
	case audit.KindShoe:
		text = "a shoe: " + stated(record) + ofCut(record.Cut)
		if record.AuditID != uuid.Nil {
			text += fmt.Sprintf("; it replaces the shoe %s", record.AuditID)
		}
	case audit.KindCommitment:
		deadline := record.Deadline.Format(audit.TimeFormat)
		text = "a commitment to " + stated(record) + ", until " + deadline
		purpose = "It is a commitment: the seed and the statement cannot be exchanged any more. The seed is held until it is used, before " +
			deadline + ", by a shuffle or a shoe that names it; if none does, a void follows in the log. It has no order of its own."
		if record.Count > 0 {
			text = fmt.Sprintf("a book of %d commitments, each to %s, until %s", record.Count, stated(record), deadline)
			purpose = fmt.Sprintf("It is a book: the seeds of its %d rounds and the statement cannot be exchanged any more. The rounds are used in their order, before %s, "+
				"each by a shuffle that names the book; if some are left, a void follows in the log. It has no order of its own.", record.Count, deadline)
		}
	case audit.KindReveal:
		text = fmt.Sprintf("the seed of %s was made public", record.AuditID)
		purpose = "It says that " + text + noOrder + "."
	case audit.KindVoid:
		text = fmt.Sprintf("the commitment %s was not used in time", record.CommitmentID)
		if record.Count > 0 {
			text = fmt.Sprintf("the book %s was not used up in time: its rounds from %d to %d are void", record.CommitmentID, record.Round, record.Count)
		}
		purpose = "It says that " + text + noOrder + "."
	case audit.KindLogEnd:
		text, purpose = "the log ended here", "It says that the log ended"+noOrder+"."
		if record.Successor != "" {
			text += "; it goes on as " + audit.LogName(record.Successor)
		}
	case audit.KindLogBegin:
		text = fmt.Sprintf("the log follows %s after its first %d records", audit.LogName(record.Predecessor), record.PredecessorSize())
		purpose = "It says which log this one follows" + noOrder + "."
	default:
		text = fmt.Sprintf("version %d of the shoe %s: ", record.Version, record.AuditID) + changed(record)
		if !record.Deals() {
			purpose = fmt.Sprintf("It is a change of the shoe %s%s: give the proofs of the whole shoe to follow its cards.", record.AuditID, noOrder)
		}
	}
	return fmt.Sprintf("%s, of %s: %s", record.ID, record.Time.Format(audit.TimeFormat), text), purpose
}

// changed summarizes a change of a shoe.
func changed(record *audit.Record) (text string) {
	switch s := &record.Statement; {
	case record.Kind == audit.KindReshuffle:
		return fmt.Sprintf("%s, %s, sealed in a new order by %s", where(record.From), audit.Count(s.Size, "card"), s.Algorithm) + ofCut(record.Cut)
	case record.Kind == audit.KindClose:
		return "closed"
	case record.Kind == audit.KindExpire:
		return "over, and not closed"
	case record.Cards.Len() == 0:
		return "no cards put on " + where(record.To)
	case record.To != shoe.Dealt:
		text = fmt.Sprintf(" and put to the %s of %s", record.Put, where(record.To))
	}
	how := cmp.Or(hows[record.Taken], "from the "+string(record.Taken)+" of")
	return fmt.Sprintf("%s taken %s %s", audit.Count(record.Cards.Len(), "card"), how, where(record.From)) + text
}

// ofCut says where the cut card lies; nothing without one.
func ofCut(c *shoe.Cut) (text string) {
	if c != nil {
		text = fmt.Sprintf("; a cut card behind %d", c.At)
		if c.IsDrawn() {
			text += fmt.Sprintf(", drawn from %d to %d", c.From, c.To)
		}
	}
	return text
}

// hows say how cards were chosen, unless they were at an end.
var hows = map[shoe.End]string{shoe.Random: "at random from", shoe.Named: "by name from"}

// places are the names of places that are no piles.
var places = map[shoe.Place]string{
	shoe.Deck: "the deck", shoe.Dealt: "the dealt cards", shoe.Out: "from anywhere outside the deck", shoe.All: "all cards",
}

// where names a place.
func where(p shoe.Place) string { return cmp.Or(places[p], "the "+string(p)) }

// stated summarizes the statement of a record.
func stated(record *audit.Record) string {
	s := &record.Statement
	text := fmt.Sprintf("%d of %d, shuffled by %s", s.Draw, s.Size, s.Algorithm)
	if record.Kind == audit.KindShoe && s.Draw == 0 {
		text = fmt.Sprintf("%d, in the order of the input", s.Size)
	}
	if s.Repeat > 1 {
		text += fmt.Sprintf(", %d times", s.Repeat)
	}
	if s.Reference != "" {
		text += fmt.Sprintf("; reference %q", s.Reference)
	}
	if record.Kind == audit.KindShuffle && record.Count > 0 {
		text += fmt.Sprintf("; round %d of the book of %d", record.Round, record.Count)
	}
	if record.Beacon != "" {
		text += "; the client seed will be the signature of " + record.Beacon
	}
	return text
}
