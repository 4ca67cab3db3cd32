package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/budget"
	"riffle/internal/picture"
)

// backName names the picture of a deck's back, unless a card has that code.
const backName = "back"

// drawCard answers GET /cards/{type}/{name}.svg.
func (a *logAPI) drawCard(w http.ResponseWriter, r *http.Request, _ *budget.Lease) error {
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
	case isPicture && found && card.Code == name: // by no other name, so that caches hold each picture once
		drawn = picture.Card(kind.Family, &card)
	case isPicture && name == backName:
		drawn = picture.Back(kind.Family)
	default:
		return notFound("There is no such picture. Cards are named by the codes that GET /decks/{type}/cards lists, as in AS.svg; %s.svg is the back.", backName)
	}
	sendPicture(w, r, drawn)
	return nil
}

// drawDeck answers GET /cards/{type}.
func (a *logAPI) drawDeck(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query); err != nil {
		return err
	}
	if err := lease.Grow(int64(picture.MaxDeckSize(kind))); err != nil {
		return err
	}
	sendPicture(w, r, picture.Deck(kind))
	return nil
}

// sendPicture sends an SVG document, or 304 if the client's copy is current.
func sendPicture(w http.ResponseWriter, r *http.Request, drawn []byte) {
	digest := sha256.Sum256(drawn)
	tag := fmt.Sprintf(`"%.16x"`, digest[:])
	Cache(w, "max-age=86400") // a new version of the service may draw it differently
	h := w.Header()
	h.Set("ETag", tag)
	if namesTag(r.Header.Values("If-None-Match"), tag) {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h.Set("Content-Type", "image/svg+xml")
	// A picture opened by itself is a document of this origin, and loads nothing.
	h.Set("Content-Security-Policy", "default-src 'none'")
	sendBody(w, http.StatusOK, drawn)
}

// namesTag reports whether If-None-Match names a tag. A proxy that compresses pictures weakens it.
func namesTag(values []string, tag string) bool {
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		if part = strings.TrimSpace(part); part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}
