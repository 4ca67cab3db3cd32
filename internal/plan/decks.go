package plan

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/suggest"
)

// checkDeck sets the plan's deck, with the statement's input and size.
func (r *Rules) checkDeck(p *Plan) error {
	q := p.Request
	kind, ok := r.Decks.Type(q.Deck)
	if !ok {
		return Refuse("/deck", "there is no deck type %s; %s", suggest.Quote(q.Deck), r.Decks.Hint(q.Deck))
	}
	var err error
	p.Deck, err = kind.Deck(q.Parameters)
	if parameter := (*deck.ParameterError)(nil); errors.As(err, &parameter) {
		return Refuse("/parameters/"+escape(parameter.Name), "%s", parameter.Error())
	} else if err != nil {
		return err
	}
	p.Copies = *cmp.Or(q.Decks, new(uint64(1)))
	most := min(r.Limits.Items, audit.MaxDeck) / uint64(p.Deck.Size())
	if q.MaxCards > 0 {
		most = min(most, q.MaxCards/uint64(p.Deck.Size()))
	}
	if p.Copies < 1 || p.Copies > most {
		return Refuse("/decks", "decks must be from 1 to %d for a deck of %d; got %d", most, p.Deck.Size(), p.Copies)
	}
	p.Statement.Size = p.Copies * uint64(p.Deck.Size())
	p.Statement.Input, p.Parameters = r.inputLine(p.Deck, p.Copies), p.Deck.Parameters()
	return nil
}

// A DeckChangedError reports that a deck type's cards have changed since a record was made.
type DeckChangedError struct {
	AuditID uuid.UUID
	Type    string
}

func (e *DeckChangedError) Error() string {
	return fmt.Sprintf("the deck type %s has changed since the record %s", e.Type, e.AuditID)
}

// DeckOf returns the deck of a record; nil if the record is not of a deck. The error is a
// [*DeckChangedError].
func (r *Rules) DeckOf(record *audit.Record) (*deck.Deck, error) {
	name, copies, ok := audit.DeckOf(record.Statement.Input)
	if !ok {
		return nil, nil
	}
	changed := &DeckChangedError{record.ID, name}
	kind, ok := r.Decks.Type(name)
	if !ok {
		return nil, changed
	}
	cards, err := kind.Deck(record.Parameters)
	if err != nil || r.inputLine(cards, copies) != record.Statement.Input {
		return nil, changed
	}
	return cards, nil
}

// inputLine returns a statement's input line for copies of a deck. It caches the lines of single
// decks without parameters.
func (r *Rules) inputLine(cards *deck.Deck, copies uint64) string {
	kind := cards.Type()
	if shared, _ := kind.Deck(nil); copies != 1 || cards != shared {
		return audit.DeckInput(kind.Name, copies, cards.Codes())
	}
	if line, found := r.inputs.Load(cards); found {
		return line.(string)
	}
	line := audit.DeckInput(kind.Name, copies, cards.Codes())
	r.inputs.Store(cards, line)
	return line
}

// escape returns a name as a token of a JSON pointer (RFC 6901).
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
