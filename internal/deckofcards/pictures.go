package deckofcards

import (
	"embed"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/deck"
	"riffle/internal/httpserver"
	"riffle/internal/picture"
	"riffle/internal/services"
)

//go:generate bash render.sh

// raster holds the PNG pictures, named by card code.
//
//go:embed img/*.png
var raster embed.FS

// picturePath is the URL path of the pictures.
const picturePath = "/static/img/"

// Picture names that are not card codes.
const (
	backName = "back"
	// The original service renames AD, because ad blockers hide AD.png.
	aceOfDiamonds = "aceDiamonds"
	tenOfClubs    = "0C2" // a second picture of 0C, only as SVG
)

// otherNames maps these names to the picture that each shows. XX is a joker in colours.
var otherNames = map[string]string{backName: backName, aceOfDiamonds: "AD", tenOfClubs: "0C", "XX": "X2"}

// family is how the cards are drawn.
const family = "french"

// servePicture handles /static/img/{file}.
func servePicture(w http.ResponseWriter, r *http.Request, log services.Call) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD, OPTIONS")
		return refuse(http.StatusMethodNotAllowed, "A picture can only be read. Use GET.")
	}
	drawn, media := draws(log.Rules.Decks, chi.URLParam(r, "file"))
	if drawn == nil {
		return refuse(http.StatusNotFound, "There is no such picture. Cards are named by their codes, as in 0H.png or 0H.svg; the back is back.png.")
	}
	h := w.Header()
	h.Set("Content-Type", media)
	log.Cache("max-age=86400")
	// An SVG opened as a page must not load or run anything.
	h.Set("Content-Security-Policy", "default-src 'none'")
	httpserver.Send(w, http.StatusOK, drawn)
	return nil
}

// draws returns a picture and its media type, or nil if the name is unknown.
func draws(decks *deck.Catalogue, file string) (drawn []byte, media string) {
	name, kind, _ := strings.Cut(file, ".")
	shown, known := otherNames[name]
	if !known {
		shown, known = codeOf(name)
	}
	switch {
	case known && kind == "svg":
		return vector(decks, shown), "image/svg+xml"
	case known && kind == "png" && name != tenOfClubs:
		drawn, _ := raster.ReadFile("img/" + shown + ".png") // every code has a picture
		return drawn, "image/png"
	}
	return nil, ""
}

// vector draws a picture as SVG.
func vector(decks *deck.Catalogue, name string) []byte {
	if name == backName {
		return picture.Back(family)
	}
	kind, _ := decks.Type(type54) // a built-in one, which has all codes
	face, _ := kind.Face(name)
	return picture.Card(family, &face)
}
