package plan

import (
	"slices"

	"riffle/internal/audit"
)

// fillIn returns a copy of the request in which the members it left out are as committed to.
func fillIn(request *Request, committed *audit.Record) (*Request, error) {
	r, s := *request, &committed.Statement
	if r.ClientSeed == "" {
		return nil, Refuse("/client_seed", "a commitment is used with a client seed that was not known when it was made")
	}
	name, copies, isDeck := audit.DeckOf(s.Input)
	if r.Items == nil && r.Deck == "" && r.Size == nil {
		switch {
		case isDeck:
			r.Deck = name
		case s.Input == audit.RangeInput:
			r.Size = &s.Size
		default:
			return nil, Refuse("/items", "send the items again: the service stores only their digest")
		}
	}
	if isDeck && r.Deck == name && r.Decks == nil {
		r.Decks = &copies
	}
	if isDeck && r.Deck == name && r.Parameters == nil {
		r.Parameters = committed.Parameters
	}
	if r.Algorithm == "" {
		r.Algorithm = string(s.Algorithm)
	}
	if r.Draw == nil {
		r.Draw = &s.Draw
	}
	if r.Repeat == nil {
		r.Repeat = &s.Repeat
	}
	if r.Hands == nil && r.Preset == "" {
		r.Hands = s.Hands
	}
	if r.Reference == "" {
		r.Reference = s.Reference
	}
	if r.UniqueReference && r.Reference == "" {
		return nil, Refuse("/unique_reference", "the commitment has no reference that could be unique")
	}
	return &r, nil
}

// compareInput returns an error that names the member by which the input differs from the one
// committed to.
func compareInput(p *Plan, record *audit.Record) error {
	r, got, committed := p.Request, &p.Statement, &record.Statement
	if got.Input == committed.Input && got.Size == committed.Size {
		return nil
	}
	pointer := "/size"
	switch {
	case r.Items != nil && p.ItemsDigest != record.ItemsDigest && record.ItemsDigest != "":
		return Refuse("/items_salt", "the items committed to are salted: send the same items_salt again, as only their digest is stored")
	case r.Items != nil && p.ItemsDigest != record.ItemsDigest:
		return Refuse("/items_salt", "the items committed to are not salted; leave items_salt out")
	case r.Items != nil:
		pointer = "/items"
	case r.Deck != "":
		pointer = "/deck"
		if name, copies, _ := audit.DeckOf(committed.Input); name == r.Deck && copies != *r.Decks {
			pointer = "/decks"
		} else if name == r.Deck && len(r.Parameters) > 0 {
			pointer = "/parameters"
		}
	}
	return Refuse(pointer, "the commitment is to %s, of %d; leave out what was committed to, but for items, or make another commitment", committed.Input, committed.Size)
}

// compare returns an error that names the first member that differs from the commitment.
func compare(got, committed *audit.Statement) error {
	differs := func(pointer string, got, committed any) error {
		return Refuse(pointer, "the commitment is to %v, and this is %v; leave out what was committed to, or make another commitment", committed, got)
	}
	switch {
	case got.Algorithm != committed.Algorithm:
		return differs("/algorithm", got.Algorithm, committed.Algorithm)
	case got.Draw != committed.Draw:
		return differs("/draw", got.Draw, committed.Draw)
	case got.Repeat != committed.Repeat:
		return differs("/repeat", got.Repeat, committed.Repeat)
	case !slices.Equal(got.Hands, committed.Hands):
		return differs("/hands", got.Hands, committed.Hands)
	case got.Reference != committed.Reference:
		return differs("/reference", got.Reference, committed.Reference)
	}
	return nil
}
