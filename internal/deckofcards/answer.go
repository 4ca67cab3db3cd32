package deckofcards

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/httperror"
	"riffle/internal/httpjson"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/suggest"
)

// answer is a response, with its fields in the order of the JSON.
type answer struct {
	Success   bool            `json:"success"`
	DeckID    string          `json:"deck_id,omitzero"`
	Cards     []card          `json:"cards,omitzero"` // an empty list is shown
	Remaining *uint64         `json:"remaining,omitzero"`
	Shuffled  *bool           `json:"shuffled,omitzero"`
	Piles     map[string]pile `json:"piles,omitzero"`
	Error     string          `json:"error,omitzero"`
	AuditID   uuid.UUID       `json:"audit_id,omitzero"`
}

// card is a card in an answer.
type card struct {
	Code   string `json:"code"`
	Image  string `json:"image"`
	Images images `json:"images"`
	Value  string `json:"value"`
	Suit   string `json:"suit"`
}

// images are the picture URLs of a card.
type images struct {
	SVG string `json:"svg"`
	PNG string `json:"png"`
}

type pile struct {
	Remaining uint64 `json:"remaining"`
	Cards     []card `json:"cards,omitzero"`
}

// answer returns the answer about a deck: how many cards are left, and, to a request about a pile,
// how many are on each.
func (q *request) answer(r *liveshoes.Result, err error) (*answer, error) {
	if err != nil {
		return nil, err
	}
	a := &answer{Success: true, DeckID: deckID(r.Shoe.ID), AuditID: r.AuditID, Remaining: new(r.Shoe.Deck.Len())}
	if q.pile != "" {
		a.Piles = map[string]pile{}
		for _, p := range r.Shoe.Piles {
			a.Piles[p.Name] = pile{Remaining: p.Cards.Len()}
		}
	}
	return a, nil
}

// deckState is answer with whether the deck was shuffled.
func (q *request) deckState(r *liveshoes.Result, err error) (*answer, error) {
	state, err := q.answer(r, err)
	if err == nil {
		state.Shuffled = &r.Shoe.Shuffled
	}
	return state, err
}

// show converts cards for an answer.
func (q *request) show(cards []liveshoes.Card) []card {
	list := make([]card, len(cards))
	for i := range cards {
		list[i] = q.card(nameOf(&cards[i]))
	}
	return list
}

// valueNames and suitNames name the first and second character of a code.
var (
	valueNames = map[byte]string{'A': "ACE", '0': "10", 'J': "JACK", 'Q': "QUEEN", 'K': "KING", 'X': "JOKER"}
	suitNames  = map[byte]string{'S': "SPADES", 'D': "DIAMONDS", 'C': "CLUBS", 'H': "HEARTS", '1': "BLACK", '2': "RED"}
)

// card returns the card of a code with its names and picture URLs.
func (q *request) card(code string) card {
	shown, name := card{Code: code}, backName
	if _, known := places[code]; known {
		shown.Value, shown.Suit, name = cmp.Or(valueNames[code[0]], code[:1]), suitNames[code[1]], code
	}
	if name == "AD" {
		name = aceOfDiamonds
	}
	shown.Images = images{SVG: q.base + picturePath + name + ".svg", PNG: q.base + picturePath + name + ".png"}
	shown.Image = shown.Images.PNG
	return shown
}

// format is the original service's: a space after each comma and colon. Piles are sorted, and
// invalid UTF-8 becomes U+FFFD.
var format = json.JoinOptions(
	jsontext.SpaceAfterComma(true), jsontext.SpaceAfterColon(true), jsontext.AllowInvalidUTF8(true), json.Deterministic(true),
)

// text returns the answer's JSON.
func (a *answer) text() []byte {
	text, _ := json.Marshal(a, format) // no field can fail
	return text
}

// write sends an answer.
func write(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store") // even a GET draws cards
	httpserver.Send(w, status, text)
}

// refusal is an error with its status and text.
type refusal struct {
	status     int
	text       string
	auditID    uuid.UUID // of the record that last changed the deck; Nil for none
	retryAfter int       // seconds; 0 for none
}

func (e *refusal) Error() string { return e.text }

func refuse(status int, format string, args ...any) *refusal {
	return &refusal{status: status, text: fmt.Sprintf(format, args...)}
}

// at adds the deck's audit id.
func (e *refusal) at(s *liveshoes.Shoe) *refusal {
	e.auditID = s.ChangedBy
	return e
}

// Fail answers with an error.
func (a *API) Fail(w http.ResponseWriter, r *http.Request, err error) {
	e := refusalOf(err)
	if e.status == http.StatusInternalServerError && r.Context().Err() == nil {
		// Not the path: it contains the deck_id, which is a secret.
		a.Logger.Error("request failed", "method", r.Method, "route", chi.RouteContext(r.Context()).RoutePattern(), "error", err)
	}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	refused := &answer{Error: suggest.Mask(e.text), AuditID: e.auditID}
	write(w, e.status, refused.text())
}

// refusalOf returns the status and text for an error of the inner packages.
func refusalOf(err error) *refusal {
	var own *refusal
	var closed *liveshoes.ClosedError
	var invalid *plan.Invalid
	var body *httpjson.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.As(err, &body) && body.Status == http.StatusRequestEntityTooLarge:
		return refuse(body.Status, "The body is longer than %d bytes. Send fewer cards at once.", maxBody)
	case errors.As(err, &body):
		return refuse(http.StatusBadRequest, "The body did not arrive whole. Send it again.")
	case errors.Is(err, journal.ErrNoShoe) || errors.As(err, &closed):
		return refuse(http.StatusNotFound, "Deck ID does not exist.") // the original service's text
	case errors.As(err, &invalid):
		return refuse(http.StatusBadRequest, "This cannot be done: %s.", invalid.Detail)
	}
	shared, _ := httperror.Find(err)
	return &refusal{status: shared.Status, text: shared.Text, retryAfter: shared.RetryAfter}
}
