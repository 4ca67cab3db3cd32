package api

import (
	"encoding/json"
	"errors"
	"net/http"

	"riffle/internal/budget"
	"riffle/internal/deck"
)

// A deckType is a deck type in the answer to GET /decks.
type deckType struct {
	*deck.Type
	Size int `json:"size"`
}

// listDecks answers GET /decks.
func (a *logAPI) listDecks(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	if err := noParameters(r); err != nil {
		return err
	}
	var list struct {
		Decks []deckType `json:"decks"`
	}
	for _, t := range a.Rules.Decks.Types() {
		list.Decks = append(list.Decks, deckType{Type: t, Size: t.Size()})
	}
	return a.static(w, lease, list)
}

// listCards answers GET /decks/{type}/cards.
func (a *logAPI) listCards(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	code, wantsOne := query["code"]
	delete(query, "code")
	cards := shuffleRequest{}
	for _, name := range names(query) {
		if len(kind.Parameters) == 0 {
			return unknownParameter(name, []string{"code"})
		}
		if err := cards.deckParameter(name, query[name]); err != nil {
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
			return notFound("There is no card of this code in the deck; ask without code for all of them.").in("code")
		}
		answer.Cards = []deck.Card{card}
	}
	return a.static(w, lease, answer)
}

// static sends a value that changes only with the program or the operator's decks.
func (a *logAPI) static(w http.ResponseWriter, lease *budget.Lease, v any) error {
	text, err := json.Marshal(v)
	if err != nil {
		return err
	}
	Cache(w, "max-age=300")
	return writeJSON(w, lease, append(text, '\n'))
}
