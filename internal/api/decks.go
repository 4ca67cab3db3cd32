package api

import (
	"cmp"
	"errors"
	"slices"

	"github.com/go-chi/chi/v5"

	"riffle/internal/deck"
	"riffle/internal/suggest"
)

// A deckType is a deck type in the answer to GET /decks.
type deckType struct {
	*deck.Type
	Size int `json:"size"`
}

// listDecks answers GET /decks.
func (a *API) listDecks(x *exchange) error {
	var list struct {
		Decks []deckType `json:"decks"`
	}
	for _, t := range a.Rules.Decks.Types() {
		list.Decks = append(list.Decks, deckType{Type: t, Size: t.Size()})
	}
	return x.sendStatic(list)
}

// ofDeck returns a handler that calls answer with the deck type in the path. Its parameters may be in the
// query, too.
func ofDeck(answer func(*API, *exchange, *deck.Type) error, parameters ...string) handler {
	return func(a *API, x *exchange) error {
		name := chi.URLParam(x.r, "type")
		kind, ok := a.Rules.Decks.Type(name)
		if !ok {
			return notFound("%s", sentence("", "there is no deck type "+suggest.Quote(name)+"; "+a.Rules.Decks.Hint(name)))
		}
		allowed := slices.Concat(kind.ParameterNames(), parameters)
		if err := cmp.Or(x.readQuery(), x.onlyParameters(allowed...)); err != nil {
			return err
		}
		return answer(a, x, kind)
	}
}

// listCards answers GET /decks/{type}/cards.
func (a *API) listCards(x *exchange, kind *deck.Type) error {
	query := x.query
	code, wantsOne := query.Get("code"), query.Has("code")
	if wantsOne {
		if err := x.readParameter("code", code); err != nil {
			return err
		}
	}
	query.Del("code")
	cards := shuffleRequest{}
	for _, name := range names(query) {
		if err := cards.deckParameter(name, query.Get(name)); err != nil {
			return err
		}
	}
	d, err := kind.Deck(cards.Parameters)
	if parameter := (*deck.ParameterError)(nil); errors.As(err, &parameter) {
		return unprocessable("%s", sentence("", parameter.Error())).in(parameter.Name)
	} else if err != nil {
		return err
	}
	answer := struct {
		Type  string      `json:"type"`
		Name  deck.Text   `json:"name"`
		Size  int         `json:"size"`
		Cards []deck.Card `json:"cards"`
	}{kind.Name, kind.Title, d.Size(), d.Cards()}
	if wantsOne {
		card, ok := d.Find(code)
		if !ok {
			return unprocessable("There is no card of this code in the deck; ask without code for all of them.").in("code")
		}
		answer.Cards = []deck.Card{card}
	}
	return x.sendStatic(answer)
}
