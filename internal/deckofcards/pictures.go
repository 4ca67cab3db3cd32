package deckofcards

import (
	"embed"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/deck"
	"riffle/internal/picture"
)

//go:generate go run render.go

// raster has the pictures as PNG, by the codes of the cards.
//
//go:embed img/*.png
var raster embed.FS

// picturePath is where pictures are.
const picturePath = "/static/img/"

// Names of pictures that are no codes.
const (
	backName = "back"
	// The other service has this name for AD, because ad blockers hide AD.png.
	aceOfDiamonds = "aceDiamonds"
	anyJoker      = "XX"  // a joker in colours, which no card has as its code
	tenOfClubs    = "0C2" // a second picture of 0C, only as SVG
	family        = "french"
)

// picture answers /static/img/{file}.
func (a *API) picture(w http.ResponseWriter, r *http.Request) {
	allowAll(w)
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodOptions:
		preflight(w)
		return
	default:
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		a.fail(w, r, refuse(http.StatusMethodNotAllowed, "A picture can only be read. Use GET."))
		return
	}
	drawn, media := draws(a.Log(w).Decks, chi.URLParam(r, "file"))
	if drawn == nil {
		a.fail(w, r, refuse(http.StatusNotFound, "There is no such picture. Cards are named by their codes, as in 0H.png or 0H.svg; the back is back.png."))
		return
	}
	h := w.Header()
	h.Set("Content-Type", media)
	a.Cache(w, "max-age=86400")
	// A picture that is opened by itself is a document of this service, and needs nothing but
	// itself.
	h.Set("Content-Security-Policy", "default-src 'none'")
	send(w, http.StatusOK, drawn)
}

// draws returns a picture and its media type; nil if there is none of that name.
func draws(decks *deck.Catalogue, file string) (drawn []byte, media string) {
	name, kind, _ := strings.Cut(file, ".")
	switch name {
	case backName:
	case aceOfDiamonds:
		name = "AD"
	case anyJoker:
		name = "X2"
	case tenOfClubs:
		if kind != "svg" {
			return nil, ""
		}
		name = "0C"
	default:
		code, known := codeOf(name)
		if !known {
			return nil, ""
		}
		name = code
	}
	switch kind {
	case "png":
		drawn, err := raster.ReadFile("img/" + name + ".png")
		if err != nil {
			panic(err) // there is one of each code
		}
		return drawn, "image/png"
	case "svg":
		return vector(decks, name), "image/svg+xml"
	}
	return nil, ""
}

// vector draws a picture as SVG; nil if the catalogue has no such card.
func vector(decks *deck.Catalogue, name string) []byte {
	if name == backName {
		return picture.Back(family)
	}
	kind, found := decks.Type(type54)
	if !found {
		return nil
	}
	face, found := kind.Face(name)
	if !found {
		return nil
	}
	return picture.Card(family, &face)
}
