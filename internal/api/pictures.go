package api

import (
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/picture"
)

// backName is what the back of a deck's cards is called, unless a card has that code.
const backName = "back"

// drawCard answers GET /cards/{type}/{name}.svg.
func (a *logAPI) drawCard(w http.ResponseWriter, r *http.Request) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query); err != nil {
		return err
	}
	name, isPicture := strings.CutSuffix(chi.URLParam(r, "file"), ".svg")
	card, found := kind.Face(name)
	var drawn []byte
	switch {
	case isPicture && found && card.Code == name: // and by no other name: a picture has one address, so that caches keep it once
		drawn = picture.Card(kind.Family, &card)
	case isPicture && name == backName:
		drawn = picture.Back(kind.Family)
	default:
		return notFound("There is no such picture. Cards are named by the codes that GET /decks/{type}/cards lists, as in AS.svg; %s.svg is the back.", backName)
	}
	sendPicture(w, drawn)
	return nil
}

// drawDeck answers GET /cards/{type}.
func (a *logAPI) drawDeck(w http.ResponseWriter, r *http.Request) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query); err != nil {
		return err
	}
	if err := leaseOf(w).Grow(int64(picture.MaxDeckSize(kind))); err != nil {
		return err
	}
	sendPicture(w, picture.Deck(kind))
	return nil
}

// sendPicture sends an SVG document that never changes.
func sendPicture(w http.ResponseWriter, drawn []byte) {
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	// A picture that is opened by itself is a document of this service, and needs nothing but
	// itself.
	h.Set("Content-Security-Policy", "default-src 'none'")
	sendBody(w, http.StatusOK, drawn)
}
