package prooffile

import (
	"cmp"
	"slices"
	"strconv"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
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

// A Conclusion is a verdict with its reasons, for people and for machines.
type Conclusion struct {
	Verdict  Verdict           `json:"verdict"`
	Headline string            `json:"headline"` // what is proven, and what is not, in one line
	Notes    []string          `json:"notes"`    // what else it shows, and what to do about what is missing
	Steps    Steps             `json:"steps"`
	Summary  map[string]any    `json:"summary"`  // the headline in short: docs/spec.md, "Output of a verifier"
	Messages []message.Message `json:"messages"` // the headline and the notes

	of message.Values // all that the messages may name
}

// A summary is an id and values.
type summary map[string]any

// decide sets the verdict with its summary and its headline, which may have what was found.
func (c *Conclusion) decide(v Verdict, s summary, headline, what string) {
	if what != "" {
		c.of["what"] = message.New(what, c.of)
	}
	c.Verdict, c.Summary = v, s
	c.Messages = append([]message.Message{message.New(headline, c.of)}, c.notes()...)
}

// notes returns the messages after the headline.
func (c *Conclusion) notes() []message.Message { return c.Messages[min(1, len(c.Messages)):] }

// note adds a note.
func (c *Conclusion) note(id string) { c.Messages = append(c.Messages, message.New(id, c.of)) }

// noteHeadline adds a note with the headline before the others. It must be said anew.
func (c *Conclusion) noteHeadline(id string) {
	c.Messages = slices.Insert(c.Messages, 1, message.New(id, message.Values{"headline": c.Messages[0]}))
}

// Warn adds a note of the caller before the others.
func (c *Conclusion) Warn(text string) {
	c.Messages = slices.Insert(c.Messages, 1, message.Text(text))
	c.write()
}

// write writes the texts of the messages.
func (c *Conclusion) write() {
	for i := range c.Steps {
		c.Steps[i].Detail = c.Steps[i].Message.String()
	}
	c.Headline, c.Notes = c.Messages[0].String(), []string{}
	for _, note := range c.notes() {
		c.Notes = append(c.Notes, note.String())
	}
}

// sayVerified says what is proven. A missing proof of a commitment belongs in the first line.
func (c *Conclusion) sayVerified(s summary, what string) {
	headline := "verified"
	if c.Steps.Has(StepCommitted, Skipped) {
		headline, s["commitment"] = "verified.except", "missing"
	}
	c.decide(VerdictVerified, s, headline, what)
}

// sayIncomplete is unchecked because of the step.
func (c *Conclusion) sayIncomplete(what string) {
	c.of["what"] = message.New(what, c.of)
	c.decide(VerdictUnchecked, summary{"id": "incomplete", "step": c.of["step"]}, "unchecked", "what.but")
}

// sayUnproven says that a secret is missing, and what was found.
func (c *Conclusion) sayUnproven(s summary, what, found string) {
	c.of["found"] = message.New(found, c.of)
	c.decide(VerdictUnchecked, s, "unproven", what)
}

// conclude returns the conclusion from what a verifier found. say adds the sentences for a proof
// without a failed step; without a given key, they hold only if the file's key is the log's.
func conclude(r *Result, say func(c *Conclusion, r *Result)) Conclusion {
	c := Conclusion{Steps: r.Steps, of: message.Values{
		"changes": r.Changes, "sealed": sealed(r.Proven), "proven": r.Proven, "others": r.Others, "cards": r.Proven + r.Others,
		"records": message.List(r.Missing), "steps": strconv.FormatUint(uint64(r.cost), 10),
	}}
	failed := r.Failed()
	if step := cmp.Or(failed, r.Unchecked()); step != nil {
		c.of["step"], c.of["text"] = step.Name, step.Message
	}
	switch {
	case failed != nil:
		c.decide(VerdictFalse, summary{"id": "false", "step": failed.Name}, "false", "")
		return c
	case r.Has(StepProof, Unchecked):
		c.decide(VerdictUnchecked, summary{"id": "incomplete", "step": StepProof}, "unchecked", "what.step")
		c.note("note.reason")
		return c
	}
	c.of["log"] = audit.LogName(r.File.LogKey)
	if r.Record == nil {
		c.decide(VerdictUnchecked, summary{"id": "unknown-kind"}, "unchecked", "what.unknown-kind")
		c.note("note.later")
	} else {
		if committed := r.Find(StepCommitted); committed != nil {
			c.of["id"], c.of["players"] = committed.Message.Values["id"], committed.Message.Values["players"]
		}
		say(&c, r)
	}
	if r.Has(StepWitnesses, OK) {
		c.Summary["witnessed"] = true
		c.note("note.witnessed")
	}
	if !r.given.hasKey() { // all is under a condition
		c.noteHeadline("note.if")
		c.Messages = slices.Insert(c.Messages, 1, message.New("note.anybody", nil))
		c.decide(VerdictUnchecked, summary{"id": "no-key", "if": c.Summary}, "no-key", "")
	}
	return c
}

// sayOfRecord says what the proof of one record shows.
func (c *Conclusion) sayOfRecord(r *Result) {
	missing, isShuffle := r.Unchecked(), r.Record.Kind == audit.KindShuffle
	_, purpose := describe(r.Record)
	switch {
	case purpose.ID != "" && missing != nil && missing.Name == StepWitnesses:
		c.sayIncomplete("what.record")
	case purpose.ID != "" && missing != nil:
		c.decide(VerdictUnchecked, summary{"id": "incomplete", "step": missing.Name}, "unchecked", "what.unfit")
	case purpose.ID != "":
		c.sayVerified(summary{"id": "record", "kind": string(r.Record.Kind)}, "what.record")
	case r.HeldBack() && isShuffle:
		c.sayUnproven(summary{"id": "held-back"}, "what.held-back", "what.record")
		c.note("note.committed-to")
	case r.HeldBack():
		c.sayUnproven(summary{"id": "held-back"}, "what.open-shoe", "what.record")
		c.note("note.sealed")
	case r.cost > 0:
		c.decide(VerdictUnchecked, summary{"id": "cost", "steps": c.of["steps"]}, "unchecked", "what.cost")
	case missing != nil:
		c.sayIncomplete("what.follows")
	case r.match != nil && r.match.Part == whole:
		c.sayVerified(r.match.summary(), "what.order")
	case r.match != nil:
		c.of["match"] = r.match.message()
		c.sayVerified(r.match.summary(), "what.hands")
	default:
		c.sayVerified(summary{"id": "follows"}, "what.follows")
		if isShuffle {
			c.note("note.no-order")
			break
		}
		if r.Has(StepRoot, OK) {
			c.note("note.sealed-order")
		}
		c.note("note.whole-shoe")
	}
	if purpose.ID != "" {
		c.Messages = append(c.Messages, purpose)
		return
	}
	c.sayOfCommitment(r)
	if c.Verdict == VerdictVerified && isShuffle && !r.Record.UsesCommitment() {
		c.note("note.several-seeds")
	}
}

// summary returns the summary of a comparison that holds.
func (m *Match) summary() summary {
	if m.Part == whole {
		return summary{"id": "order"}
	}
	s := summary{"id": "hand", "hand": m.Part, "cards": m.Cards}
	if m.Sorted {
		s["id"] = "hand-set"
	}
	if m.Shuffle > 0 {
		s["shuffle"] = m.Shuffle
	}
	return s
}

// sayOfHand says whether a hand is proven by the records that it was given with.
func (c *Conclusion) sayOfHand(r *Result) {
	missing := r.Unchecked()
	switch {
	case missing == nil:
		c.sayVerified(summary{"id": "cards", "cards": r.Proven}, "what.cards")
		if r.held > 0 || r.HeldBack() {
			c.note("note.hidden")
		}
	case r.Others > 0:
		c.decide(VerdictUnchecked, summary{"id": "incomplete", "step": missing.Name}, "unchecked", "what.partly")
		if len(r.Missing) > 0 {
			c.note("note.give")
		}
	default:
		c.sayIncomplete("what.sealed")
	}
	c.sayOfCommitment(r)
}

func sealed(n int) message.Message {
	if n == 1 {
		return message.New("sealed.one", nil)
	}
	return message.New("sealed", message.Values{"cards": n})
}

// sayOfShoe says what the records of a shoe show together.
func (c *Conclusion) sayOfShoe(r *Result) {
	missing := r.Unchecked()
	whole := summary{"id": "shoe", "changes": r.Changes}
	switch {
	case missing != nil && !r.Closed && r.secretOnly():
		c.sayUnproven(summary{"id": "open-shoe", "changes": r.Changes}, "what.open-seeds", "what.fits")
	case missing != nil:
		c.sayIncomplete("what.fits")
	case !r.Closed:
		c.of["found"] = message.New("what.fits", c.of)
		c.sayVerified(summary{"id": "cards", "cards": r.Proven}, "what.cards.so-far")
		c.note("note.hidden-shoe")
	case r.Has(StepRoot, OK):
		c.sayVerified(whole, "what.shoe")
		c.note("note.shoe")
	default:
		c.sayVerified(whole, "what.shoe")
		c.note("note.shoe.cards")
	}
	if r.Proven > 0 && (r.Closed || missing != nil) {
		c.note("note.hand")
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
	switch {
	case r.Has(StepCommitted, OK) && r.beacon > 0:
		c.Summary["beacon"], c.Summary["cosigned"] = r.beacon.String(), r.cosigned
		c.of["beacon"], c.of["time"] = r.beacon.String(), r.beacon.Time().Format(audit.TimeFormat)
		c.note("note.beacon")
		if r.cosigned {
			c.note("note.beacon.cosigned")
		} else {
			c.note("note.beacon.clock")
		}
	case r.Has(StepCommitted, OK) && c.of["players"] != nil:
		c.Summary["players"] = c.of["players"]
		c.note("note.players")
	case r.Has(StepCommitted, OK):
		c.note("note.commitment")
	case r.Has(StepCommitted, Skipped):
		c.note("note.commitment.missing")
	}
	isLater := func(o *Result) bool { return o.Record != nil && o.Record.Deals() && !o.Record.UsesCommitment() }
	if r.Has(StepCommitted, OK) && slices.ContainsFunc(r.files, isLater) {
		c.note("note.anew")
	}
}

// describe summarizes a record. purpose says what one is for that has no order of its own; it has
// no id for the others.
func describe(record *audit.Record) (text, purpose message.Message) {
	of, kind := valuesOf(record), string(record.Kind)
	change := "change." + kind
	switch {
	case record.Cards.Len() > 0:
		kind, change = "change", "change.moved"
	case record.Kind == audit.KindAdd:
		kind, change = "change", "change.none"
	case record.Kind.ChangesShoe():
		kind = "change"
	case record.Kind == audit.KindCommitment && record.Count > 0:
		kind = "book"
	case record.Kind == audit.KindVoid && record.Count > 0:
		kind = "void.book"
	}
	of["what"] = message.New(change, of)
	of["what"] = message.New("record."+kind, of)
	text = message.New("record", of)
	switch record.Kind { //nolint:exhaustive // the others have no more to say
	case audit.KindReveal, audit.KindVoid:
		return text, message.New("purpose.says", of)
	}
	if !record.Deals() {
		purpose = message.New("purpose."+kind, of)
	}
	return text, purpose
}

// valuesOf returns what a text about a record may name: its members, and what follows from them.
func valuesOf(r *audit.Record) message.Values {
	s := &r.Statement
	of := message.Values{}
	record, _ := members(r.Append(nil)) // no error, since it is a record
	for name, value := range record {
		if n, isNumber := wholeNumber(value); isNumber {
			of[name] = n
		} else if value.Kind() == '"' {
			of[name] = unquoted(value)
		}
	}
	of["cards"], of["from"], of["how"] = r.Cards.Len(), where(r.From), message.New("how."+string(r.Taken), nil)
	if record["reference"] != nil {
		of["reference"] = string(record["reference"]) // as JSON, so that it ends where it ends
	}
	if r.Players != nil {
		of["players"] = message.List(r.Players.Names())
	}
	if s.Repeat > 1 {
		of["times"] = s.Repeat
	}
	if r.Kind == audit.KindShuffle {
		of["of"] = of["count"]
	}
	of["to"], of["put"] = nil, nil // of dealt cards
	if r.Put != "" {
		of["to"], of["put"] = where(r.To), message.New("end."+string(r.Put), nil)
	}
	if r.Cut != nil && r.Cut.IsDrawn() {
		of["low"], of["high"] = r.Cut.From, r.Cut.To
	}
	of["stated"] = message.New("stated", of)
	if r.Kind == audit.KindShoe && s.Draw == 0 {
		of["stated"] = message.New("stated.unshuffled", of)
	}
	return of
}

// where names a place.
func where(p shoe.Place) message.Message {
	if pile, isPile := p.Pile(); isPile {
		return message.New("place.pile", message.Values{"pile": pile})
	}
	return message.New("place."+string(p), nil)
}
