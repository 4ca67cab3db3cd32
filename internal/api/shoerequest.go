package api

import (
	"slices"
	"strconv"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/httpjson"
	"riffle/internal/shoe"
	"riffle/internal/shoes"
)

// decodeChange reads the body of a change that has the members named.
func decodeChange(body []byte, lease *httpjson.Lease, c *shoes.Change, members []string) error {
	d := httpjson.NewReader(body, lease)
	given := map[string]bool{}
	err := d.Object(func(name string) error {
		if !slices.Contains(members, name) {
			return badRequest("%s is not a member of this request; it takes %s.", quoted(name), orNone(members)).at(d.Pointer())
		}
		given[name] = true
		return changeMember(d, name, c)
	})
	if err != nil {
		return err
	}
	if err := d.End(); err != nil {
		return err
	}
	return complete(c, given)
}

// changeMember reads one member of a change.
func changeMember(d *httpjson.Reader, name string, c *shoes.Change) (err error) {
	switch name {
	case "count":
		c.Count, err = readCount(d)
	case "cards":
		if c.Kind != audit.KindReshuffle {
			c.Cards, err = readCards(d)
			return err
		}
		var which string
		if which, err = oneOf(d, "remaining", "all"); which == "all" {
			c.From = shoe.All
		}
	case "from":
		var end string
		end, err = oneOf(d, string(shoe.Top), string(shoe.Bottom), string(shoe.Random))
		c.Taken = shoe.End(end)
	case "to":
		var pile string
		if pile, err = d.String(); err == nil && !shoe.IsName(pile) {
			err = problemPileName().at("/to")
		}
		c.To = shoe.OnPile(pile)
	case "put":
		var end string
		end, err = oneOf(d, string(shoe.Top), string(shoe.Bottom))
		c.Put = shoe.End(end)
	case "algorithm":
		c.Algorithm, err = readAlgorithm(d)
	case "client_seed":
		c.ClientSeed, err = readClientSeed(d)
	}
	return err
}

// complete gives members that were left out their defaults, and refuses members that contradict
// each other.
func complete(c *shoes.Change, given map[string]bool) error {
	switch {
	case c.Kind == audit.KindAdd && !given["cards"]:
		return unprocessable(`cards must name the cards to add, by number or by code, as in [0,"AS"].`).at("/cards")
	case c.Kind == audit.KindReturn && given["cards"] && c.From == shoe.Dealt:
		c.From = shoe.Out
	case c.Kind != audit.KindDraw:
	case given["cards"] && (given["count"] || given["from"]):
		return unprocessable("cards cannot be combined with count or from: name the cards, or say how many to take from which end.").at("/cards")
	case given["put"] && !given["to"]:
		return unprocessable("put is the end of a pile, and needs to: the name of the pile.").at("/put")
	case given["to"] && !given["put"]:
		c.Put = shoe.Top
	}
	if c.Kind == audit.KindDraw && given["cards"] {
		c.Taken = shoe.Named
	}
	return nil
}

// readCards reads cards by their numbers and codes.
func readCards(d *httpjson.Reader) ([]shoes.CardName, error) {
	if d.Kind() != '[' {
		return nil, d.WrongKind(`an array of card numbers and codes such as [0,"AS"]`)
	}
	cards := []shoes.CardName{}
	err := d.Array(func(i int) error {
		if i == shoe.MaxCards {
			return unprocessable("cards must have at most %d elements, as many as a shoe has cards.", shoe.MaxCards).at("/cards")
		}
		var name shoes.CardName
		var err error
		switch d.Kind() {
		case '0':
			name.Number, err = readCount(d)
		case '"':
			name.Code, err = d.String()
		default:
			return d.WrongKind(`a card's number or code, such as 0 or "AS"`)
		}
		cards = append(cards, name)
		return err
	})
	return cards, err
}

// oneOf reads a string that has to be one of a few words.
func oneOf(d *httpjson.Reader, words ...string) (string, error) {
	text, err := d.String()
	if err == nil && !slices.Contains(words, text) {
		var list []string
		for _, word := range words {
			list = append(list, strconv.Quote(word))
		}
		name := strings.TrimPrefix(d.Pointer(), "/")
		err = unprocessable("%s must be %s; got %s.", name, strings.Join(list, " or "), quoted(text)).at(d.Pointer())
	}
	return text, err
}

// orNone lists names for an error.
func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}
