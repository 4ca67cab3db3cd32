package api

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/httpjson"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// pileInPath is replaced by the pile in the path.
const pileInPath shoe.Place = "path"

// The changes of shoes: each completes a change with the members of the body that it names.
var (
	drawFromShoe = change(liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, To: shoe.Dealt},
		"count", "from", "to", "put")
	drawFromPile = change(liveshoes.Change{Kind: audit.KindDraw, From: pileInPath, Taken: shoe.Top, To: shoe.Dealt},
		"count", "cards", "from", "to", "put")
	addToPile = change(liveshoes.Change{Kind: audit.KindAdd, From: shoe.Out, Taken: shoe.Named, To: pileInPath, Put: shoe.Top},
		"cards", "put")
	returnToShoe = change(liveshoes.Change{Kind: audit.KindReturn, From: shoe.Dealt, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom},
		"cards", "put")
	returnFromPile = change(liveshoes.Change{Kind: audit.KindReturn, From: pileInPath, Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom},
		"cards", "put")
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
	return withQuery(func(a *API, x *exchange) error {
		c := kind
		if err := readChange(a, x, &c, members); err != nil {
			return err
		}
		if err := x.lease.Grow(changeBytes(&c, x.openings)); err != nil {
			return err
		}
		var opening *opening
		if x.openings {
			opening = a.opening(x)
			defer opening.Done()
			c.Admit = opening.Admit
		}
		result, err := a.Shoes.Apply(x.committing(), x.id, &c)
		if err != nil {
			return err
		}
		if x.openings {
			err = opening.open(&result.Shoe, result.Cards)
		}
		return sendShoe(x, &result.Shoe, err, func(out *stream) { out.change(result) })
	}, parameters...)
}

// Memory of a card in an answer, and of its opening.
const (
	cardBytes    = 192
	openingBytes = 512
)

// changeBytes returns the memory of the cards that the answer to a change may list.
func changeBytes(c *liveshoes.Change, openings bool) int64 {
	cards := len(c.Cards)
	switch {
	case c.Count != nil:
		cards = int(min(*c.Count, shoe.MaxCards))
	case c.Kind == audit.KindDraw && c.Cards == nil:
		cards = 1
	case c.Taken == shoe.Named && c.Cards == nil:
		cards = shoe.MaxCards
	}
	return cardsBytes(cards, openings)
}

func cardsBytes(cards int, openings bool) int64 {
	if openings {
		return int64(cards) * (cardBytes + openingBytes)
	}
	return int64(cards) * cardBytes
}

// readChange completes a change with the pile in the path and the members of the body. A DELETE has no body.
func readChange(a *API, x *exchange, c *liveshoes.Change, members []member[*liveshoes.Change]) (err error) {
	for _, place := range []*shoe.Place{&c.From, &c.To} {
		if *place == pileInPath {
			*place = x.pile
		}
	}
	var body []byte
	if x.r.Method != http.MethodDelete {
		var given []string
		if body, given, err = readMembers(a, x, members, c); err != nil {
			return err
		}
		if err := complete(c, given); err != nil {
			return err
		}
	}
	if c.IfVersion, err = ifVersion(x.r); err != nil {
		return err
	}
	c.Key, err = idempotencyKey(x, body)
	return err
}

var errPileName = fmt.Errorf(`the name of a pile must be 1 to %d letters, digits, hyphens and underscores, such as "discard"`, shoe.MaxName)

// ifVersion reads the version of the shoe to change; 0 for any.
func ifVersion(r *http.Request) (uint64, error) {
	values := r.Header.Values("If-Match")
	if len(values) == 0 {
		return 0, nil
	}
	text := strings.Trim(values[0], " \t")
	if len(values) == 1 && text == "*" {
		return 0, nil
	}
	digits := strings.Trim(text, `"`)
	version, err := strconv.ParseUint(digits, 10, 64)
	if len(values) > 1 || err != nil || version == 0 || text != versionTag(version) {
		return 0, badRequest(`If-Match must be the ETag of an answer about the shoe, copied with its quotes, such as "3", or * for any version; got %s.`, suggest.Quote(text))
	}
	return version, nil
}

// changeMembers are the members of all changes.
var changeMembers = []member[*liveshoes.Change]{
	value("count", func(c *liveshoes.Change) **uint64 { return &c.Count }, count(1)),
	{name: "cards", read: readCards},
	value("from", func(c *liveshoes.Change) *shoe.End { return &c.Taken }, oneOf(shoe.Top, shoe.Bottom, shoe.Random)),
	{name: "to", read: func(d *httpjson.Reader, c *liveshoes.Change) error {
		pile, err := readText(d, func(text string) error { return audit.Rule(shoe.IsName(text), "%w", errPileName) })
		c.To = shoe.OnPile(pile)
		return err
	}},
	value("put", func(c *liveshoes.Change) *shoe.End { return &c.Put }, oneOf(shoe.Top, shoe.Bottom)),
	value("cut", func(c *liveshoes.Change) **shoe.Cut { return &c.Cut }, readCut),
	value("algorithm", func(c *liveshoes.Change) *string { return &c.Algorithm }, readAlgorithm),
	text("client_seed", func(c *liveshoes.Change) *string { return &c.ClientSeed }, audit.CheckClientSeed),
}

// complete sets the defaults of omitted members, and rejects members that contradict each other.
func complete(c *liveshoes.Change, given []string) error {
	has := func(name string) bool { return slices.Contains(given, name) }
	switch {
	case c.Kind == audit.KindAdd && !has("cards"):
		return badRequest(`cards is missing. Name the cards to add, by number or by code, as in [0,"AS"].`).at("/cards")
	case c.Kind == audit.KindReturn && !has("cards"):
		return badRequest(`cards is missing. Send "all", or name the cards to return, by number or by code, as in [0,"AS"].`).at("/cards")
	case c.Kind == audit.KindReturn && c.Cards != nil && c.From == shoe.Dealt:
		c.From = shoe.Out
	case c.Kind != audit.KindDraw:
	case has("cards") && (has("count") || has("from")):
		return unprocessable("cards cannot be combined with count or from: name the cards, or say how many to take from which end.").at("/cards")
	case has("put") && !has("to"):
		return unprocessable("put is the end of a pile, and needs to: the name of the pile.").at("/put")
	case has("to") && !has("put"):
		c.Put = shoe.Top
	}
	if c.Kind == audit.KindDraw && has("cards") {
		c.Taken = shoe.Named
	}
	return nil
}

// readCards reads cards by their numbers and codes, all cards to return, or which cards of a deck to
// reshuffle.
func readCards(d *httpjson.Reader, c *liveshoes.Change) error {
	switch {
	case c.Kind == audit.KindReshuffle:
		which, err := oneOf("remaining", "all")(d)
		if which == "all" {
			c.From = shoe.All
		}
		return err
	case c.Kind == audit.KindReturn && d.Kind() == '"':
		text, err := d.String()
		if err == nil && text != "all" {
			err = badRequest(`cards must be "all" or an array of card numbers and codes such as [0,"AS"]; got %s.`, suggest.Quote(text)).at("/cards")
		}
		return err
	}
	c.Cards = []liveshoes.CardName{}
	wrongNumber := unprocessable(`cards must name 1 to %d cards, by number or by code, as in [0,"AS"].`, shoe.MaxCards).at("/cards")
	err := d.Array(`an array of card numbers and codes such as [0,"AS"]`, func(i int) error {
		if i == shoe.MaxCards {
			return wrongNumber
		}
		var name liveshoes.CardName
		var err error
		switch d.Kind() {
		case '0':
			name.Number, err = count(0)(d)
		case '"':
			name.Code, err = d.String()
		default:
			err = d.WrongKind(`a card's number or code, such as 0 or "AS"`)
		}
		c.Cards = append(c.Cards, name)
		return err
	})
	if err == nil && len(c.Cards) == 0 {
		err = wrongNumber
	}
	return err
}
