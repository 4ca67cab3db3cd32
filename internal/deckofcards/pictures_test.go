package deckofcards

import (
	"bytes"
	"image/png"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Every address of a picture in an answer has a picture, and so do the other names that clients
// use.
func TestPictures(t *testing.T) {
	s := newSite(t)
	drawn := map[string]string{}
	for _, name := range slices.Concat(sorted, []string{"back", "aceDiamonds", "10H", "10S", "TC", "XX"}) {
		w := s.send(t, "GET", "/static/img/"+name+".png", "", "", "Origin", "http://localhost:4200")
		decoded, err := png.Decode(bytes.NewReader(w.Body.Bytes()))
		assert.Truef(t, err == nil && decoded.Bounds().Dx() == 226 && decoded.Bounds().Dy() == 314, "%s.png: %d %v", name, w.Code, err)
		h := w.Header()
		assert.Truef(t, h.Get("Content-Type") == "image/png" && h.Get("Access-Control-Allow-Origin") == "*", "%s.png: %v", name, h)
		if len(name) == 2 && places[name] > 0 {
			assert.Equalf(t, "", drawn[w.Body.String()], "%s.png", name)
			drawn[w.Body.String()] = name
		}
		v := s.send(t, "GET", "/static/img/"+name+".svg", "", "")
		assert.Truef(t, v.Code == http.StatusOK && v.Header().Get("Content-Type") == "image/svg+xml" && strings.HasPrefix(v.Body.String(), "<svg"),
			"%s.svg: %d %s", name, v.Code, v.Body)
	}
	assert.Contains(t, s.send(t, "GET", "/static/img/aceDiamonds.svg", "", "").Body.String(), "<title>Ace of Diamonds</title>")
	assert.Contains(t, s.send(t, "GET", "/static/img/0C2.svg", "", "").Body.String(), "<title>Ten of Clubs</title>")
	assert.Contains(t, s.send(t, "GET", "/static/img/10H.svg", "", "").Body.String(), "<title>Ten of Hearts</title>")
	for _, name := range []string{"ZZ.png", "AS.gif", "AS", "", "..png", "AS.png.png", "0C2.png"} {
		w := s.send(t, "GET", "/static/img/"+name, "", "")
		assert.Equalf(t, http.StatusNotFound, w.Code, "%q", name)
	}
	w := s.send(t, "POST", "/static/img/AS.png", "", "")
	assert.Truef(t, w.Code == http.StatusMethodNotAllowed && w.Header().Get("Access-Control-Allow-Origin") == "*", "%v", w.Code)
}
