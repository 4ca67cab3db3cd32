package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/deck"
	"riffle/internal/picture"
)

// backName names the picture of a deck's back, unless a card has that code.
const backName = "back"

// pagePolicy allows the page of a deck its own style.
const pagePolicy = "default-src 'none'; style-src 'sha256-Pv+ARboDwQj5VI1E3Yjky0IJrLvtd3jGzx6VWt1xkSc='"

// drawCard answers GET /cards/{type}/{name}.svg.
func (a *logAPI) drawCard(x *exchange, kind *deck.Type) error {
	if err := x.onlyParameters(); err != nil {
		return err
	}
	name, isPicture := strings.CutSuffix(chi.URLParam(x.r, "file"), ".svg")
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
	sendDrawn(x, typePicture, "default-src 'none'", drawn)
	return nil
}

// drawDeck answers GET /cards/{type}: browsers get a page, programs and images a picture.
func (a *logAPI) drawDeck(x *exchange, kind *deck.Type) error {
	if err := x.onlyParameters(); err != nil {
		return err
	}
	if err := x.lease.Grow(int64(picture.MaxDeckSize(kind))); err != nil {
		return err
	}
	x.Header().Add("Vary", "Accept")
	if acceptsHTML(x.r) {
		sendDrawn(x, typeHTML, pagePolicy, picture.Page(kind))
	} else {
		sendDrawn(x, typePicture, "default-src 'none'", picture.Deck(kind))
	}
	return nil
}

// sendDrawn sends a document with its policy, or 304 if the client's copy is current.
func sendDrawn(x *exchange, media []string, policy string, drawn []byte) {
	digest := sha256.Sum256(drawn)
	tag := fmt.Sprintf(`"%.16x"`, digest[:])
	Cache(x, "max-age=86400") // a new version of the service may draw it differently
	h := x.Header()
	h.Set("ETag", tag)
	if namesTag(x.r.Header.Values("If-None-Match"), tag) {
		x.WriteHeader(http.StatusNotModified)
		return
	}
	// A picture opened by itself is a document of this origin, and loads nothing.
	h.Set("Content-Security-Policy", policy)
	sendCompressed(x, media, drawn)
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
