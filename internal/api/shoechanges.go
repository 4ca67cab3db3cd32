package api

import (
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/shoe"
	"riffle/internal/shoes"
)

// drawFromShoe answers POST /shoes/{id}/draw.
func (a *API) drawFromShoe(w http.ResponseWriter, r *http.Request) error {
	openings, err := proofParameter(r)
	if err != nil {
		return err
	}
	c := &shoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.Dealt, Openings: openings}
	return a.changeShoe(w, r, c, "count", "from", "to", "put")
}

// returnToShoe answers POST /shoes/{id}/return.
func (a *API) returnToShoe(w http.ResponseWriter, r *http.Request) error {
	c := &shoes.Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom}
	return a.changeWithoutQuery(w, r, c, "cards", "put")
}

// reshuffleShoe answers POST /shoes/{id}/reshuffle.
func (a *API) reshuffleShoe(w http.ResponseWriter, r *http.Request) error {
	c := &shoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck}
	return a.changeWithoutQuery(w, r, c, "cards", "algorithm", "client_seed")
}

// closeShoe answers POST /shoes/{id}/close.
func (a *API) closeShoe(w http.ResponseWriter, r *http.Request) error {
	return a.changeWithoutQuery(w, r, &shoes.Change{Kind: audit.KindClose})
}

// endShoe answers DELETE /shoes/{id}.
func (a *API) endShoe(w http.ResponseWriter, r *http.Request) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	if err := noParameters(r); err != nil {
		return err
	}
	return a.carryOut(w, r, id, &shoes.Change{Kind: audit.KindExpire}, nil)
}

// addToPile answers POST /shoes/{id}/piles/{pile}/add.
func (a *API) addToPile(w http.ResponseWriter, r *http.Request) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	c := &shoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, To: place, Put: shoe.Top}
	return a.changeWithoutQuery(w, r, c, "cards", "put")
}

// drawFromPile answers POST /shoes/{id}/piles/{pile}/draw.
func (a *API) drawFromPile(w http.ResponseWriter, r *http.Request) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	openings, err := proofParameter(r)
	if err != nil {
		return err
	}
	c := &shoes.Change{Kind: audit.KindDraw, From: place, Taken: shoe.Top, To: shoe.Dealt, Openings: openings}
	return a.changeShoe(w, r, c, "count", "cards", "from", "to", "put")
}

// shufflePile answers POST /shoes/{id}/piles/{pile}/shuffle.
func (a *API) shufflePile(w http.ResponseWriter, r *http.Request) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	return a.changeWithoutQuery(w, r, &shoes.Change{Kind: audit.KindReshuffle, From: place}, "algorithm", "client_seed")
}

// returnFromPile answers POST /shoes/{id}/piles/{pile}/return.
func (a *API) returnFromPile(w http.ResponseWriter, r *http.Request) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	c := &shoes.Change{Kind: audit.KindReturn, From: place, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom}
	return a.changeWithoutQuery(w, r, c, "cards", "put")
}

func (a *API) changeWithoutQuery(w http.ResponseWriter, r *http.Request, c *shoes.Change, members ...string) error {
	if err := noParameters(r); err != nil {
		return err
	}
	return a.changeShoe(w, r, c, members...)
}

// changeShoe changes the shoe of the path, as the members of the body say that there may be.
func (a *API) changeShoe(w http.ResponseWriter, r *http.Request, c *shoes.Change, members ...string) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	b, err := a.receive(w, r)
	if err != nil {
		return err
	}
	defer b.release()
	if err := decodeChange(b.bytes, c, members); err != nil {
		return err
	}
	return a.carryOut(w, r, id, c, b.bytes)
}

// carryOut makes a change and answers with what has become of the shoe.
func (a *API) carryOut(w http.ResponseWriter, r *http.Request, id uuid.UUID, c *shoes.Change, body []byte) error {
	var err error
	if c.IfVersion, err = ifVersion(r); err != nil {
		return err
	}
	if c.Key, err = idempotencyKey(r, body); err != nil {
		return err
	}
	result, err := a.Shoes.Apply(r.Context(), id, c)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, &result.Shoe)
	out.buf = appendIDs(out.buf, result.AuditID, result.LogIndex, &result.Shoe)
	out.buf = appendTable(out.buf, &result.Shoe)
	switch record := result.Record; {
	case record.Root != nil:
		out.buf = append(out.buf, `,"size":`...)
		out.buf = strconv.AppendUint(out.buf, record.Statement.Size, 10)
		out.buf = append(append(out.buf, `,"algorithm":"`...), record.Statement.Algorithm...)
		out.buf = appendSealed(append(out.buf, '"'), record)
	case len(result.Cards) > 0:
		out.cards(result.Cards)
	}
	out.buf = append(out.buf, "}\n"...)
	return out.finish()
}

// cards writes the member that lists cards.
func (s *stream) cards(list []shoes.Card) {
	s.buf = append(s.buf, `,"cards":[`...)
	for i := range list {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = appendCard(s.buf, &list[i])
		s.flush()
	}
	s.buf = append(s.buf, ']')
}

// appendCard appends a card of a shoe: its code and which of its copies it is, or the caller's item to the byte.
func appendCard(b []byte, c *shoes.Card) []byte {
	b = append(b, `{"card":`...)
	b = strconv.AppendUint(b, c.Number, 10)
	if c.Card != nil {
		b = append(append(b, `,"code":"`...), c.Card.Code...)
		b = append(b, `","instance":`...)
		b = strconv.AppendInt(b, int64(c.Card.Instance), 10)
	} else {
		b = append(append(b, `,"item":`...), c.Item...)
	}
	b = append(b, `,"position":`...)
	b = strconv.AppendUint(b, c.Position, 10)
	b = append(append(b, `,"sealed_by":"`...), c.SealedBy.String()...)
	b = append(b, '"')
	if c.Opening == nil {
		return append(b, '}')
	}
	b = append(b, `,"salt":"`...)
	b = hex.AppendEncode(b, c.Opening.Salt[:])
	b = append(b, `","path":[`...)
	for i := range c.Opening.Path {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(hex.AppendEncode(b, c.Opening.Path[i][:]), '"')
	}
	return append(b, "]}"...)
}

// decodeChange reads the body of a change that takes some members.
func decodeChange(body []byte, c *shoes.Change, members []string) error {
	d := newReader(body)
	defer d.release()
	given := map[string]bool{}
	err := d.object(func(name string) error {
		if !slices.Contains(members, name) {
			return newProblem(http.StatusBadRequest, "This change of a shoe has no such member; openapi.yaml lists them.").at(string(d.StackPointer()))
		}
		given[name] = true
		return changeMember(d, name, c)
	})
	if err != nil {
		return err
	}
	if err := d.finish(); err != nil {
		return err
	}
	return complete(c, given)
}

// changeMember reads one member of a change.
func changeMember(d *reader, name string, c *shoes.Change) (err error) {
	switch name {
	case "count":
		c.Count, err = d.count("/count")
	case "cards":
		if c.Kind != audit.KindReshuffle {
			c.Cards, err = readCards(d)
			return err
		}
		var which string
		if which, err = d.oneOf("/cards", "remaining", "all"); which == "all" {
			c.From = shoe.All
		}
	case "from":
		var end string
		end, err = d.oneOf("/from", string(shoe.Top), string(shoe.Bottom), string(shoe.Random))
		c.Taken = shoe.End(end)
	case "to":
		var pile string
		if pile, err = d.text("/to"); err == nil && !shoe.IsName(pile) {
			err = problemPileName().at("/to")
		}
		c.To = shoe.OnPile(pile)
	case "put":
		var end string
		end, err = d.oneOf("/put", string(shoe.Top), string(shoe.Bottom))
		c.Put = shoe.End(end)
	case "algorithm":
		c.Algorithm, err = d.algorithm()
	case "client_seed":
		c.ClientSeed, err = d.clientSeed()
	}
	return err
}

// complete adds to a change what its body has left out, and refuses what does not go together.
func complete(c *shoes.Change, given map[string]bool) error {
	switch {
	case c.Kind == audit.KindAdd && !given["cards"]:
		return newProblem(http.StatusUnprocessableEntity, "Name the cards to add, by number or by code.").at("/cards")
	case c.Kind == audit.KindReturn && given["cards"] && c.From == shoe.Dealt:
		c.From = shoe.Out
	case c.Kind != audit.KindDraw:
	case given["cards"] && (given["count"] || given["from"]):
		return newProblem(http.StatusUnprocessableEntity, "Name the cards, or say how many to take from which end, but not both.").at("/cards")
	case given["put"] && !given["to"]:
		return newProblem(http.StatusUnprocessableEntity, "put is the end of a pile; name the pile in to.").at("/put")
	case given["to"] && !given["put"]:
		c.Put = shoe.Top
	}
	if c.Kind == audit.KindDraw && given["cards"] {
		c.Taken = shoe.Named
	}
	return nil
}

// readCards reads cards by their numbers and codes.
func readCards(d *reader) ([]shoes.CardName, error) {
	cards := []shoes.CardName{}
	err := d.list("/cards", func(i int) error {
		if i == shoe.MaxCards {
			return newProblem(http.StatusUnprocessableEntity, "A shoe has at most %d cards; name each of them once.", shoe.MaxCards).at("/cards")
		}
		var name shoes.CardName
		var err error
		pointer := "/cards/" + strconv.Itoa(i)
		switch d.PeekKind() {
		case '0':
			name.Number, err = d.count(pointer)
		case '"':
			name.Code, err = d.text(pointer)
		default:
			if err := d.skip(); err != nil {
				return err
			}
			return newProblem(http.StatusBadRequest, "A card is named by its number or by its code.").at(pointer)
		}
		cards = append(cards, name)
		return err
	})
	return cards, err
}

// oneOf reads a string that is one of two or three words.
func (d *reader) oneOf(pointer string, words ...string) (string, error) {
	text, err := d.text(pointer)
	if err == nil && !slices.Contains(words, text) {
		list := strconv.Quote(words[0])
		for _, word := range words[1:] {
			list += " or " + strconv.Quote(word)
		}
		err = newProblem(http.StatusUnprocessableEntity, "This is %s.", list).at(pointer)
	}
	return text, err
}
