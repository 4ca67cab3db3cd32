package api

import (
	"net/http"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
)

// drawFromShoe answers POST /shoes/{id}/draw.
func (a *logAPI) drawFromShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	c := &liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.Dealt}
	return a.changeShoe(w, r, lease, c, "count", "from", "to", "put")
}

// returnToShoe answers POST /shoes/{id}/return.
func (a *logAPI) returnToShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	c := &liveshoes.Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom}
	return a.changeShoe(w, r, lease, c, "cards", "put")
}

// reshuffleShoe answers POST /shoes/{id}/reshuffle.
func (a *logAPI) reshuffleShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	c := &liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck}
	return a.changeShoe(w, r, lease, c, "cards", "cut", "algorithm", "client_seed")
}

// closeShoe answers POST /shoes/{id}/close.
func (a *logAPI) closeShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	return a.changeShoe(w, r, lease, &liveshoes.Change{Kind: audit.KindClose})
}

// endShoe answers DELETE /shoes/{id}.
func (a *logAPI) endShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	return a.changeShoe(w, r, lease, &liveshoes.Change{Kind: audit.KindExpire})
}

// addToPile answers POST /shoes/{id}/piles/{pile}/add.
func (a *logAPI) addToPile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	c := &liveshoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, To: place, Put: shoe.Top}
	return a.changeShoe(w, r, lease, c, "cards", "put")
}

// drawFromPile answers POST /shoes/{id}/piles/{pile}/draw.
func (a *logAPI) drawFromPile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	c := &liveshoes.Change{Kind: audit.KindDraw, From: place, Taken: shoe.Top, To: shoe.Dealt}
	return a.changeShoe(w, r, lease, c, "count", "cards", "from", "to", "put")
}

// shufflePile answers POST /shoes/{id}/piles/{pile}/shuffle.
func (a *logAPI) shufflePile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	return a.changeShoe(w, r, lease, &liveshoes.Change{Kind: audit.KindReshuffle, From: place}, "algorithm", "client_seed")
}

// returnFromPile answers POST /shoes/{id}/piles/{pile}/return.
func (a *logAPI) returnFromPile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	c := &liveshoes.Change{Kind: audit.KindReturn, From: place, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom}
	return a.changeShoe(w, r, lease, c, "cards", "put")
}

// changeShoe completes a change with the members of the body, applies it to the shoe in the path, and
// answers with the new state.
func (a *logAPI) changeShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease, c *liveshoes.Change, members ...string) error {
	id, err := a.readChange(w, r, lease, c, members)
	if err != nil {
		return err
	}
	if err := lease.Grow(changeBytes(c)); err != nil {
		return err
	}
	result, err := a.Shoes.Apply(committing(w, r), id, c)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, lease, &result.Shoe)
	out.change(result)
	return out.finish()
}

// Memory of a card in an answer, and of its opening.
const (
	cardBytes    = 192
	openingBytes = 512
)

// changeBytes returns the memory of the cards that the answer to a change may list.
func changeBytes(c *liveshoes.Change) int64 {
	cards := len(c.Cards)
	switch {
	case c.Count != nil:
		cards = int(min(*c.Count, shoe.MaxCards))
	case c.Kind == audit.KindDraw && c.Cards == nil:
		cards = 1
	case c.Taken == shoe.Named && c.Cards == nil:
		cards = shoe.MaxCards
	}
	return cardsBytes(cards, c.Openings)
}

func cardsBytes(cards int, openings bool) int64 {
	if openings {
		return int64(cards) * (cardBytes + openingBytes)
	}
	return int64(cards) * cardBytes
}
