package deckofcards

import (
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/httperror"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/suggest"
)

// answer is a response, with its fields in the order of the JSON.
type answer struct {
	Success   bool
	DeckID    string          // empty for none
	Cards     []card          // nil for none
	Remaining *uint64         // nil for none
	Shuffled  *bool           // nil for none
	Piles     map[string]pile // nil for none
	Error     string          // empty for none
	AuditID   uuid.UUID       // Nil for none
}

// card is a card in an answer.
type card struct {
	code string
	base string // of the picture URL: see request
}

type pile struct {
	Remaining uint64
	Cards     []card // nil for none
}

// newAnswer returns an answer with the fields that all answers about a deck have.
func newAnswer(r *liveshoes.Result) *answer {
	return &answer{Success: true, DeckID: deckID(r.Shoe.ID), AuditID: r.AuditID}
}

// remaining adds the number of cards in the deck.
func (a *answer) remaining(s *liveshoes.Shoe) *answer {
	a.Remaining = &s.Remaining
	return a
}

// shuffled adds remaining, and whether the deck was shuffled.
func (a *answer) shuffled(s *liveshoes.Shoe) *answer {
	a.remaining(s).Shuffled = &s.Shuffled
	return a
}

// piles adds the size of each pile.
func (a *answer) piles(s *liveshoes.Shoe) *answer {
	a.Piles = map[string]pile{}
	for _, p := range s.Piles {
		a.Piles[p.Name] = pile{Remaining: p.Cards}
	}
	return a
}

func (a *answer) cards(q *request, cards []liveshoes.Card) *answer {
	a.Cards = q.show(cards)
	return a
}

// show converts cards for an answer.
func (q *request) show(cards []liveshoes.Card) []card {
	list := make([]card, len(cards))
	for i := range cards {
		list[i] = card{nameOf(&cards[i]), q.base}
	}
	return list
}

// valueNames and suitNames name the first and second character of a code.
var (
	valueNames = map[byte]string{'A': "ACE", '0': "10", 'J': "JACK", 'Q': "QUEEN", 'K': "KING", 'X': "JOKER"}
	suitNames  = map[byte]string{'S': "SPADES", 'D': "DIAMONDS", 'C': "CLUBS", 'H': "HEARTS", '1': "BLACK", '2': "RED"}
)

// append appends the answer's JSON in the original service's format: a space after each comma and
// colon.
func (a *answer) append(b []byte) []byte {
	b = append(b, `{"success": `...)
	b = strconv.AppendBool(b, a.Success)
	if a.DeckID != "" {
		b = appendText(append(b, `, "deck_id": `...), a.DeckID)
	}
	if a.Cards != nil {
		b = appendCards(append(b, `, "cards": `...), a.Cards)
	}
	if a.Remaining != nil {
		b = strconv.AppendUint(append(b, `, "remaining": `...), *a.Remaining, 10)
	}
	if a.Shuffled != nil {
		b = strconv.AppendBool(append(b, `, "shuffled": `...), *a.Shuffled)
	}
	if a.Piles != nil {
		b = appendPiles(append(b, `, "piles": `...), a.Piles)
	}
	if a.Error != "" {
		b = appendText(append(b, `, "error": `...), a.Error)
	}
	if a.AuditID != uuid.Nil {
		b = appendText(append(b, `, "audit_id": `...), a.AuditID.String())
	}
	return append(b, '}')
}

func appendPiles(b []byte, piles map[string]pile) []byte {
	b = append(b, '{')
	for i, name := range slices.Sorted(maps.Keys(piles)) {
		if i > 0 {
			b = append(b, ", "...)
		}
		p := piles[name]
		b = append(appendText(b, name), `: {"remaining": `...)
		b = strconv.AppendUint(b, p.Remaining, 10)
		if p.Cards != nil {
			b = appendCards(append(b, `, "cards": `...), p.Cards)
		}
		b = append(b, '}')
	}
	return append(b, '}')
}

func appendCards(b []byte, cards []card) []byte {
	b = append(b, '[')
	for i := range cards {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = cards[i].append(b)
	}
	return append(b, ']')
}

// append appends the card with its names and picture URLs.
func (c *card) append(b []byte) []byte {
	value, suit, name := "", "", backName
	if _, known := places[c.code]; known {
		value, suit, name = valueNames[c.code[0]], suitNames[c.code[1]], c.code
		if value == "" {
			value = c.code[:1]
		}
	}
	if name == "AD" {
		name = aceOfDiamonds
	}
	url := c.base + picturePath + name
	b = appendText(append(b, `{"code": `...), c.code)
	b = appendText(append(b, `, "image": `...), url+".png")
	b = appendText(append(b, `, "images": {"svg": `...), url+".svg")
	b = appendText(append(b, `, "png": `...), url+".png")
	b = appendText(append(b, `}, "value": `...), value)
	return append(appendText(append(b, `, "suit": `...), suit), '}')
}

// appendText appends a JSON string. Invalid UTF-8 becomes U+FFFD.
func appendText(b []byte, text string) []byte {
	b, _ = jsontext.AppendQuote(b, text) // it also appends text with invalid UTF-8
	return b
}

// write sends an answer.
func write(w http.ResponseWriter, status int, text []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store") // even a GET draws cards
	send(w, status, text)
}

func send(w http.ResponseWriter, status int, body []byte) {
	h := w.Header()
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		panic(http.ErrAbortHandler) // the caller left
	}
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

// Error texts of the original service.
const (
	noDeck      = "Deck ID does not exist."
	notEnough   = "Not enough cards remaining to draw %s additional"
	noPile      = "The pile, %s does not exist."
	notInPile   = "The pile, %s does not contain the requested cards."
	noCardNamed = "You must specify cards to add to the pile."
)

// fail answers with an error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	e := refusalOf(err)
	if e.status == http.StatusInternalServerError && r.Context().Err() == nil {
		// Not the path: it contains the deck_id, which is a secret.
		a.Logger.Error("request failed", "method", r.Method, "route", chi.RouteContext(r.Context()).RoutePattern(), "error", err)
	}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
		if a.Reject != nil {
			a.Reject(w, err)
		}
	}
	refused := &answer{Error: suggest.Mask(e.text), AuditID: e.auditID}
	write(w, e.status, refused.append(make([]byte, 0, 512)))
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
	case errors.As(err, &body):
		return bodyError(body)
	case errors.Is(err, journal.ErrNoShoe) || errors.As(err, &closed):
		return refuse(http.StatusNotFound, noDeck)
	case errors.As(err, &invalid):
		return refuse(http.StatusBadRequest, "This cannot be done: %s.", invalid.Fields[0].Detail)
	}
	if shared, ok := httperror.Find(err); ok {
		return &refusal{status: shared.Status, text: shared.Text, retryAfter: shared.RetryAfter}
	}
	return refuse(http.StatusInternalServerError, "Internal error; details are in the server log. Retry, or contact the operator.")
}
