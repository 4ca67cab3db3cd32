package prooffile

import (
	"cmp"
	"fmt"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// describe summarizes a record.
func describe(record *audit.Record) string {
	text := fmt.Sprintf("%s, of %s: ", record.ID, record.Time.Format(audit.TimeFormat))
	switch record.Kind {
	case audit.KindReveal:
		return text + fmt.Sprintf("the seed of %s was made public", record.AuditID)
	case audit.KindVoid:
		return text + fmt.Sprintf("the commitment %s was not used in time", record.CommitmentID)
	case audit.KindCommitment:
		return text + "a commitment to " + stated(record) + ", until " + record.Deadline.Format(audit.TimeFormat)
	case audit.KindShoe:
		text += "a shoe: " + stated(record) + ofCut(record.Cut)
		if record.AuditID != uuid.Nil {
			text += fmt.Sprintf("; it replaces the shoe %s", record.AuditID)
		}
		return text
	case audit.KindLogEnd:
		text += "the log ended here"
		if record.Successor != "" {
			text += "; it goes on as " + audit.LogName(record.Successor)
		}
		return text
	case audit.KindLogBegin:
		return text + fmt.Sprintf("the log follows %s after its first %d records", audit.LogName(record.Predecessor), record.PredecessorSize())
	case audit.KindShuffle:
		return text + stated(record)
	default:
		return text + fmt.Sprintf("version %d of the shoe %s: ", record.Version, record.AuditID) + changed(record)
	}
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
	return text
}
