package api

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/deck"
	"riffle/internal/picture"
	"riffle/internal/suggest"
)

// A deckType is a deck type in the answer to GET /decks.
type deckType struct {
	*deck.Type
	Size int `json:"size"`
}

// listDecks answers GET /decks.
func (a *logAPI) listDecks(x *exchange) error {
	var list struct {
		Decks []deckType `json:"decks"`
	}
	for _, t := range a.Rules.Decks.Types() {
		list.Decks = append(list.Decks, deckType{Type: t, Size: t.Size()})
	}
	return x.sendStatic(list)
}

// ofDeck returns a handler that calls answer with the deck type in the path. The deck type may have
// parameters, so answer checks their names.
func ofDeck(answer func(*logAPI, *exchange, *deck.Type) error) handler {
	return withLog(func(a *logAPI, x *exchange) error {
		name := chi.URLParam(x.r, "type")
		kind, ok := a.Rules.Decks.Type(name)
		if !ok {
			return notFound("%s", sentence("", "there is no deck type "+suggest.Quote(name)+"; "+a.Rules.Decks.Hint(name)))
		}
		if err := x.readQuery(); err != nil {
			return err
		}
		return answer(a, x, kind)
	})
}

// listCards answers GET /decks/{type}/cards.
func (a *logAPI) listCards(x *exchange, kind *deck.Type) error {
	query := x.query
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
	return x.sendStatic(answer)
}

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
