package api

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/disclosure"
	"riffle/internal/picture"
	"riffle/internal/plan"
)

// backName names the picture of a deck's back, unless a card has that code.
const backName = "back"

// pagePolicy allows the page of a deck its own style.
const pagePolicy = "default-src 'none'; style-src 'sha256-Pv+ARboDwQj5VI1E3Yjky0IJrLvtd3jGzx6VWt1xkSc='"

// drawCard answers GET /cards/{type}/{name}.svg.
func (a *API) drawCard(x *exchange, kind *deck.Type) error {
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
	return sendDrawn(x, typePicture, "default-src 'none'", pictureLifetime, drawn)
}

// drawDeck answers GET /cards/{type}: browsers get a page, programs and images a picture.
func (a *API) drawDeck(x *exchange, kind *deck.Type) error {
	if err := x.lease.Grow(int64(picture.MaxDeckSize(kind))); err != nil {
		return err
	}
	x.Header().Add("Vary", "Accept")
	if acceptsHTML(x.r) {
		return sendDrawn(x, typeHTML, pagePolicy, pictureLifetime, picture.Page(kind))
	}
	return sendDrawn(x, typePicture, "default-src 'none'", pictureLifetime, picture.Deck(kind))
}

// drawDeal answers GET /audits/{id}/picture.png: the cards once the seed is public, and their backs
// before. A record that deals nothing has a table without cards.
func (a *API) drawDeal(x *exchange) error {
	found, err := a.Disclosure.Audit(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	record, err := audit.ParseRecord(found.Record)
	if err != nil {
		return err
	}
	long := a.long.Read(x, x.r, x.lease)
	defer long.Done()
	if err := long.Begin(long.Context, false, int64(picture.MaxTableSize+plan.Elements(&record.Statement)*elementBytes)); err != nil {
		return long.Cause(err)
	}
	drawn, err := tableOf(a.Rules, record, found).PNG(func() error { return long.Wait(long.Context) })
	if err != nil {
		return long.Cause(err)
	}
	long.Release()
	lifetime := pictureLifetime
	if found.Seed == nil {
		lifetime = "max-age=60"
	}
	return sendDrawn(x, typePNG, "default-src 'none'", lifetime, drawn)
}

// tableOf returns the table of a record, face down while its seed is secret. What is no card is a
// number: in the range, or in the list from 1, since items are not stored. So is a card of a type that
// has changed since.
func tableOf(rules *plan.Rules, record *audit.Record, shown *disclosure.PublicRecord) *picture.Table {
	s := &record.Statement
	if !record.Deals() {
		note := record.Time.Format("Written on 2006-01-02. Open the link to check it yourself.")
		return &picture.Table{Family: "list", Title: "A record of Riffle: " + string(record.Kind), Note: note}
	}
	t := &picture.Table{
		Family: "list", Title: fmt.Sprintf("%d of %d", s.Draw, s.Size), Hands: s.Hands, Size: s.Draw,
		Note: record.Time.Format("Dealt by Riffle on 2006-01-02. Open the link to check it yourself."),
	}
	card := func(position uint64) *deck.Card {
		if s.Input != audit.RangeInput {
			position++
		}
		return &deck.Card{Code: strconv.FormatUint(position, 10), Name: deck.Text{English: fmt.Sprintf("of %d", s.Size)}}
	}
	if cards, err := rules.DeckOf(record); err == nil && cards != nil {
		t.Family, t.Title = cards.Type().Family, cards.Type().Title.English
		card = func(position uint64) *deck.Card { return &cards.Cards()[position%uint64(cards.Size())] }
	}
	if s.Repeat > 1 {
		t.Title = fmt.Sprintf("The first of %d shuffles: %s", s.Repeat, t.Title)
	}
	if shown.Seed == nil {
		t.Title = "Face down until the seed is public: " + t.Title // first, since a long title is cut off
		t.Card = func(uint64) *deck.Card { return nil }
		return t
	}
	order := dealer.FirstOrder(record, shown.Seed)
	t.Card = func(place uint64) *deck.Card { return card(order[place]) }
	return t
}

// pictureLifetime is the time for which caches keep a picture: a new version may draw it differently.
const pictureLifetime = "max-age=86400"

// sendDrawn sends a document with its policy and lifetime, or 304 if the client's copy is current.
func sendDrawn(x *exchange, media []string, policy, lifetime string, drawn []byte) error {
	digest := sha256.Sum256(drawn)
	tag := fmt.Sprintf(`"%.16x"`, digest[:])
	x.cache(lifetime)
	h := x.Header()
	h.Set("ETag", tag)
	if namesTag(x.r.Header.Values("If-None-Match"), tag) {
		h.Add("Vary", "Accept-Encoding") // as in the answer that is current
		x.WriteHeader(http.StatusNotModified)
		return nil
	}
	// A picture opened by itself is a document of this origin, and loads nothing.
	h.Set("Content-Security-Policy", policy)
	return sendCompressed(x, media, drawn)
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
