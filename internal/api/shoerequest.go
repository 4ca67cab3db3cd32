package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// readChange receives the request for a change of the shoe in the path. The change is completed by
// members of the body; only a DELETE has none.
func (a *API) readChange(
	w http.ResponseWriter, r *http.Request, lease *budget.Lease, c *liveshoes.Change, members []string,
) (id uuid.UUID, err error) {
	if c.Kind == audit.KindDraw {
		c.Openings, err = proofParameter(r)
	} else {
		err = noParameters(r)
	}
	if err != nil {
		return id, err
	}
	if id, err = shoeID(r); err != nil {
		return id, err
	}
	var body []byte
	if r.Method != http.MethodDelete {
		if body, err = httpjson.Read(w, r, a.MaxBody, lease); err != nil {
			return id, err
		}
		if err := decodeChange(body, lease, c, members); err != nil {
			return id, err
		}
	}
	if c.IfVersion, err = ifVersion(r); err != nil {
		return id, err
	}
	c.Key, err = idempotencyKey(w, r, body)
	return id, err
}

// shoeID reads the id of the path. One that is malformed answers like one that is not there.
func shoeID(r *http.Request) (uuid.UUID, error) {
	id, ok := parseID(chi.URLParam(r, "id"))
	if !ok {
		return uuid.Nil, journal.ErrNoShoe
	}
	return id, nil
}

// pileInPath returns the place of the pile that the path names.
func pileInPath(r *http.Request) (shoe.Place, error) {
	name := chi.URLParam(r, "pile")
	if !shoe.IsName(name) {
		return "", problemPileName()
	}
	return shoe.OnPile(name), nil
}

func problemPileName() *problem {
	return unprocessable(`The name of a pile must be 1 to %d letters, digits, hyphens and underscores, such as "discard".`, shoe.MaxName)
}

// proofParameter reads whether cards are to come with what proves them.
func proofParameter(r *http.Request) (bool, error) {
	query, err := parseQuery(r)
	if err != nil {
		return false, err
	}
	if err := onlyParameters(query, "proof"); err != nil {
		return false, err
	}
	text, given := query["proof"]
	if given && text != "true" && text != "false" {
		return false, badRequest("proof must be true or false.").in("proof")
	}
	return text == "true", nil
}

// ifVersion reads which version of a shoe is to be changed; 0 is any.
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

// decodeChange reads the body of a change that has the members named.
func decodeChange(body []byte, lease *budget.Lease, c *liveshoes.Change, members []string) error {
	d, err := httpjson.NewReader(body, lease)
	if err != nil {
		return err
	}
	given := map[string]bool{}
	err = d.Object(func(name string) error {
		if !slices.Contains(members, name) {
			return unknownMember(d, name, members)
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
func changeMember(d *httpjson.Reader, name string, c *liveshoes.Change) (err error) {
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
	case "cut":
		c.Cut, err = readCut(d)
	case "algorithm":
		c.Algorithm, err = readAlgorithm(d)
	case "client_seed":
		c.ClientSeed, err = readClientSeed(d)
	}
	return err
}

// complete gives members that were left out their defaults, and refuses members that contradict
// each other.
func complete(c *liveshoes.Change, given map[string]bool) error {
	switch {
	case c.Kind == audit.KindAdd && len(c.Cards) == 0:
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
func readCards(d *httpjson.Reader) ([]liveshoes.CardName, error) {
	if d.Kind() != '[' {
		return nil, d.WrongKind(`an array of card numbers and codes such as [0,"AS"]`)
	}
	cards := []liveshoes.CardName{}
	err := d.Array(func(i int) error {
		if i == shoe.MaxCards {
			return unprocessable("cards must have at most %d elements, as many as a shoe has cards.", shoe.MaxCards).at("/cards")
		}
		var name liveshoes.CardName
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
		err = unprocessable("%s must be %s; got %s.", name, strings.Join(list, " or "), suggest.Quote(text)).at(d.Pointer())
	}
	return text, err
}
