package api

import (
	"slices"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
)

// pileInPath is replaced by the pile in the path.
const pileInPath shoe.Place = "path"

// The changes of shoes: each completes a change with the members of the body that it names.
var (
	drawFromShoe = change(liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.Dealt},
		"count", "from", "to", "put")
	drawFromPile = change(liveshoes.Change{Kind: audit.KindDraw, From: pileInPath, Taken: shoe.Top, To: shoe.Dealt},
		"count", "cards", "from", "to", "put")
	addToPile = change(liveshoes.Change{
		Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, To: pileInPath, Put: shoe.Top,
	}, "cards", "put")
	returnToShoe = change(liveshoes.Change{
		Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom,
	}, "cards", "put")
	returnFromPile = change(liveshoes.Change{
		Kind: audit.KindReturn, From: pileInPath, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom,
	}, "cards", "put")
	reshuffleShoe = change(liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck},
		"cards", "cut", "algorithm", "client_seed")
	shufflePile = change(liveshoes.Change{Kind: audit.KindReshuffle, From: pileInPath}, "algorithm", "client_seed")
	closeShoe   = change(liveshoes.Change{Kind: audit.KindClose})
	endShoe     = change(liveshoes.Change{Kind: audit.KindExpire})
)

// change returns the handler of a change. It completes the change, applies it to the shoe in the path, and
// answers with the new state.
func change(kind liveshoes.Change, names ...string) handler {
	members := slices.DeleteFunc(slices.Clone(changeMembers), func(m member[*liveshoes.Change]) bool {
		return !slices.Contains(names, m.name)
	})
	var parameters []string
	if kind.Kind == audit.KindDraw {
		parameters = []string{"proof"}
	}
	return ofLog(func(a *logAPI, x *exchange) error {
		c := kind
		if err := a.readChange(x, &c, members); err != nil {
			return err
		}
		if err := x.lease.Grow(changeBytes(&c)); err != nil {
			return err
		}
		result, err := a.Shoes.Apply(x.committing(), x.id, &c)
		if err != nil {
			return err
		}
		out := shoeStream(x, &result.Shoe)
		out.change(result)
		return out.end()
	}, parameters...)
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
