package deckofcards

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	mathrand "math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// A site is the API as one of several processes over a store serves it.
type site struct {
	*API
	http.Handler
	store *journaltest.Store
	log   *ledger.Log
	shoes *liveshoes.Service
}

func newSite(t *testing.T) *site { return newSiteOn(t, journaltest.New(t)) }

func newSiteOn(t *testing.T, store *journaltest.Store) *site {
	t.Helper()
	j, rules := store.Journal(t), journaltest.Rules(t)
	s := &site{store: store, log: j.Log, shoes: liveshoes.New(j, dealer.New(j, rules, dealer.Options{}), rules, liveshoes.Options{})}
	s.API = &API{Budget: budget.New(512 << 20), Logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
	log := services.Call{Services: &services.Services{Shoes: s.shoes, Rules: rules}, Cache: func(string) {}}
	router := chi.NewRouter()
	for _, routes := range []map[string]Handler{s.Routes(), s.Pictures()} {
		for pattern, answer := range routes {
			router.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
				if err := answer(w, r, log); err != nil {
					s.Fail(w, r, err)
				}
			})
		}
	}
	s.Handler = router
	return s
}

// send sends a request to the host deckofcardsapi.com over HTTPS. Headers are names and values in
// turn.
func (s *site) send(t *testing.T, method, path, contentType, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, path, strings.NewReader(body))
	r.Host = "deckofcardsapi.com"
	r.Header.Set("X-Forwarded-Proto", "https")
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

// A reply is a parsed answer.
type reply struct {
	Success   bool
	DeckID    string `json:"deck_id"`
	Remaining int
	Shuffled  bool
	Cards     []struct{ Code string }
	Piles     map[string]struct {
		Remaining int
		Cards     []struct{ Code string }
	}
	Error   string
	AuditID string `json:"audit_id"`
}

func (r *reply) codes() (codes []string) {
	for _, c := range r.Cards {
		codes = append(codes, c.Code)
	}
	return codes
}

// get sends a GET request, which must succeed.
func (s *site) get(t *testing.T, format string, args ...any) *reply {
	t.Helper()
	path := fmt.Sprintf(format, args...)
	w := s.send(t, http.MethodGet, path, "", "")
	var r reply
	err := json.Unmarshal(w.Body.Bytes(), &r)
	assert.Truef(t, err == nil && w.Code == http.StatusOK, "%s: %d %s %v", path, w.Code, w.Body, err)
	return &r
}

// cardsIn expands lists of codes such as <AS 0S> to the JSON of the cards.
func cardsIn(text string) string {
	values := map[string]string{"A": "ACE", "0": "10", "J": "JACK", "Q": "QUEEN", "K": "KING", "X": "JOKER"}
	ends := map[string]string{"S": "SPADES", "D": "DIAMONDS", "C": "CLUBS", "H": "HEARTS", "1": "BLACK", "2": "RED"}
	return regexp.MustCompile(`<[^>]*>`).ReplaceAllStringFunc(text, func(list string) string {
		var out []string
		for _, code := range strings.Fields(strings.Trim(list, "<>")) {
			value := values[code[:1]]
			if value == "" {
				value = code[:1]
			}
			out = append(out, fmt.Sprintf(`{"code": %q, "image": "https://deckofcardsapi.com/static/img/%s.png", "images": {"svg": "https://deckofcardsapi.com/static/img/%[2]s.svg", "png": "https://deckofcardsapi.com/static/img/%[2]s.png"}, "value": %q, "suit": %q}`,
				code, strings.Replace(code, "AD", "aceDiamonds", 1), value, ends[code[1:]]))
		}
		return "[" + strings.Join(out, ", ") + "]"
	})
}

var (
	idOfDeck   = regexp.MustCompile(`"deck_id": "([0-9a-f]{32})"`)
	idOfRecord = regexp.MustCompile(`, "audit_id": "([0-9a-f-]{36})"}$`)
)

// TestAnswers tests every route, parameter and error text. Each row is a request and its whole
// answer. D is the id of the latest deck; at the end of an answer, + means any audit_id and - none.
// The body of a POST follows its path.
func TestAnswers(t *testing.T) {
	s := newSite(t)
	id := ""
	seen := map[string]bool{}
	for _, row := range []struct {
		request string
		status  int
		want    string
	}{
		// New decks.
		{"GET /api/deck/new/", 200, `{"success": true, "deck_id": "D", "remaining": 52, "shuffled": false+`},
		{"GET /api/deck/D/", 200, `{"success": true, "deck_id": "D", "remaining": 52, "shuffled": false+`},
		{"GET /api/deck/D", 200, `{"success": true, "deck_id": "D", "remaining": 52, "shuffled": false+`},
		{"GET /api/deck/D/draw/?count=2", 200, `{"success": true, "deck_id": "D", "cards": [` +
			`{"code": "AS", "image": "https://deckofcardsapi.com/static/img/AS.png", "images": {"svg": "https://deckofcardsapi.com/static/img/AS.svg", "png": "https://deckofcardsapi.com/static/img/AS.png"}, "value": "ACE", "suit": "SPADES"}, ` +
			`{"code": "2S", "image": "https://deckofcardsapi.com/static/img/2S.png", "images": {"svg": "https://deckofcardsapi.com/static/img/2S.svg", "png": "https://deckofcardsapi.com/static/img/2S.png"}, "value": "2", "suit": "SPADES"}], "remaining": 50+`},
		{"GET /api/draw/D/", 200, `{"success": true, "deck_id": "D", "cards": <3S>, "remaining": 49+`},
		{"GET /api/draw/D?count=9", 200, `{"success": true, "deck_id": "D", "cards": <4S 5S 6S 7S 8S 9S 0S JS QS>, "remaining": 40+`},
		{"POST /api/deck/D/draw/ count=2", 200, `{"success": true, "deck_id": "D", "cards": <KS AD>, "remaining": 38+`},
		{"POST /api/deck/D/draw?count=2", 200, `{"success": true, "deck_id": "D", "cards": <2D 3D>, "remaining": 36+`},
		{"PUT /api/deck/D/draw/?count=%201_0", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"PUT /api/deck/D/draw/?count=%20%2B1%20", 200, `{"success": true, "deck_id": "D", "cards": <4D>, "remaining": 35+`},
		{"DELETE /api/deck/D/draw/", 200, `{"success": true, "deck_id": "D", "cards": <5D>, "remaining": 34+`},
		{"PATCH /api/deck/D/draw/?count=3&count=1", 200, `{"success": true, "deck_id": "D", "cards": <6D>, "remaining": 33+`},
		{"GET /api/deck/D/draw/?count=0", 200, `{"success": true, "deck_id": "D", "cards": [], "remaining": 33+`},
		{"GET /api/deck/D/draw/?count=-1", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/draw/?count=undefined", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/draw/?count=", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/nope/draw/?count=x", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/draw/bottom/?count=2", 200, `{"success": true, "deck_id": "D", "cards": <KH QH>, "remaining": 31+`},
		{"GET /api/deck/D/draw/top?count=1", 200, `{"success": true, "deck_id": "D", "cards": <7D>, "remaining": 30+`},
		{"GET /api/deck/D/draw/?count=30", 200, `{"success": true, "deck_id": "D", "cards": <8D 9D 0D JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C 0C JC QC KC AH 2H 3H 4H 5H 6H 7H 8H 9H 0H JH>, "remaining": 0+`},
		{"GET /api/deck/D/draw/", 200, `{"success": false, "deck_id": "D", "cards": [], "remaining": 0, "error": "Not enough cards remaining to draw 1 additional"+`},
		{"GET /api/deck/D/return/", 200, `{"success": true, "deck_id": "D", "remaining": 52+`},
		{"GET /api/deck/D/draw/?count=60", 200, `{"success": false, "deck_id": "D", "cards": <AS 2S 3S 4S 5S 6S 7S 8S 9S 0S JS QS KS AD 2D 3D 4D 5D 6D 7D 8D 9D 0D JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C 0C JC QC KC AH 2H 3H 4H 5H 6H 7H 8H 9H 0H JH QH KH>, "remaining": 0, "error": "Not enough cards remaining to draw 60 additional"+`},
		{"GET /api/deck/new?jokers_enabled=TRUE&deck_count=2", 200, `{"success": true, "deck_id": "D", "remaining": 108, "shuffled": false+`},
		{"GET /api/deck/D/draw/?count=54", 200, `{"success": true, "deck_id": "D", "cards": <AS 2S 3S 4S 5S 6S 7S 8S 9S 0S JS QS KS AD 2D 3D 4D 5D 6D 7D 8D 9D 0D JD QD KD AC 2C 3C 4C 5C 6C 7C 8C 9C 0C JC QC KC AH 2H 3H 4H 5H 6H 7H 8H 9H 0H JH QH KH X1 X2>, "remaining": 54+`},
		{"GET /api/deck/D/draw/", 200, `{"success": true, "deck_id": "D", "cards": <AS>, "remaining": 53+`},
		{"POST /api/deck/new/ jokers_enabled=true", 200, `{"success": true, "deck_id": "D", "remaining": 54, "shuffled": false+`},
		{"GET /api/deck/new/?jokers_enabled=1", 200, `{"success": true, "deck_id": "D", "remaining": 52, "shuffled": false+`},
		{"GET /api/new/", 200, `{"success": true, "deck_id": "D", "remaining": 52, "shuffled": false+`},
		{"GET /api/shuffle/?deck_count=6", 200, `{"success": true, "deck_id": "D", "remaining": 312, "shuffled": true+`},
		{"GET /api/deck/new/shuffle/?deck_count=20", 200, `{"success": true, "deck_id": "D", "remaining": 1040, "shuffled": true+`},
		{"GET /api/deck/new/shuffle/?deck_count=21", 200, `{"success": false, "error": "The max number of Decks is 20."-`},
		{"GET /api/deck/new/?deck_count=0", 200, `{"success": false, "error": "The min number of Decks is 1."-`},
		{"GET /api/deck/new/?deck_count=-99999999999999999999", 200, `{"success": false, "error": "The min number of Decks is 1."-`},
		{"GET /api/deck/new/?deck_count=1.5", 400, `{"success": false, "error": "deck_count must be a whole number, such as deck_count=2."-`},
		{"GET /api/deck/nope/shuffle/?deck_count=21", 200, `{"success": false, "error": "The max number of Decks is 20."-`},
		{"GET /api/deck/nope/shuffle/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/new/draw/?count=0", 200, `{"success": true, "deck_id": "D", "cards": [], "remaining": 52+`},
		{"GET /api/deck/new/draw/?count=0&jokers_enabled=true&deck_count=30", 200, `{"success": true, "deck_id": "D", "cards": [], "remaining": 1620+`},
		{"GET /api/deck/new/draw/?deck_count=79", 200, `{"success": false, "error": "The max number of Decks is 78."-`},
		{"GET /api/deck/new/draw/?deck_count=0", 200, `{"success": false, "error": "The min number of Decks is 1."-`},
		{"GET /api/deck/new/draw/?count=x", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		// Unknown decks, and paths that are no routes.
		{"GET /api/deck/0123456789ab/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/shuffle/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/new/return/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/new/pile/x/add/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/00000000000000000000000000000000/pile/x/list/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/7d444840-9dc0-4ed1-b245-5ffdce74fad2/draw/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/draw/", 404, `{"success": false, "error": "There is nothing at this path. A deck begins at /api/deck/new/shuffle/."-`},
		// Partial decks.
		{"GET /api/deck/new/?cards=as,2s,%203S,0h,10D,tC,X1,,ZZ,AD,KH", 200, `{"success": true, "deck_id": "D", "remaining": 7, "shuffled": false+`},
		{"GET /api/deck/D/draw/?count=4", 200, `{"success": true, "deck_id": "D", "cards": <AS 2S 0H 0D>, "remaining": 3+`},
		{"GET /api/deck/D/return/?cards=0D,KH,AS,AS,ZZ", 200, `{"success": true, "deck_id": "D", "remaining": 5+`},
		{"GET /api/deck/D/draw/?count=5", 200, `{"success": true, "deck_id": "D", "cards": <0C AD KH 0D AS>, "remaining": 0+`},
		{"GET /api/deck/D/return/?cards=", 200, `{"success": true, "deck_id": "D", "remaining": 0+`},
		{"GET /api/deck/D/return/", 200, `{"success": true, "deck_id": "D", "remaining": 7+`},
		{"GET /api/deck/D/draw/?count=7", 200, `{"success": true, "deck_id": "D", "cards": <AS 2S 0H 0D 0C AD KH>, "remaining": 0+`},
		{"GET /api/deck/D/shuffle/?jokers_enabled=true&deck_count=3", 200, `{"success": true, "deck_id": "D", "remaining": 7, "shuffled": true+`},
		{"GET /api/deck/new/?cards=AS,AS,X2&jokers_enabled=true&deck_count=2", 200, `{"success": true, "deck_id": "D", "remaining": 6, "shuffled": false+`},
		{"GET /api/deck/D/draw/?count=6", 200, `{"success": true, "deck_id": "D", "cards": <AS AS X2 AS AS X2>, "remaining": 0+`},
		{"POST /api/deck/new/shuffle/ cards=AS,KS", 200, `{"success": true, "deck_id": "D", "remaining": 2, "shuffled": true+`},
		{"GET /api/deck/new/shuffle/?cards=", 400, `{"success": false, "error": "A deck has at least one card. Name its cards as in cards=AS,0S,KH; jokers, X1 and X2, need jokers_enabled=true."-`},
		{"GET /api/deck/new/?cards=X1", 400, `{"success": false, "error": "A deck has at least one card. Name its cards as in cards=AS,0S,KH; jokers, X1 and X2, need jokers_enabled=true."-`},
		{"POST /api/deck/new/ deck_count=20&cards=" + strings.Repeat("AS,", 205), 400, `{"success": false, "error": "A deck has at most 4096 cards, and this would have 4100. Name fewer, or lower deck_count."-`},
		{"POST /api/deck/new/ cards=" + strings.Repeat("AS,", 4097), 400, `{"success": false, "error": "cards names more than 4096 cards, which no deck has. Name fewer."-`},
		{"POST /api/deck/new/ cards=" + strings.Repeat("AS,", 30000), 413, `{"success": false, "error": "The body is longer than 65536 bytes. Send fewer cards at once."-`},
		// Shuffling a deck again.
		{"GET /api/deck/new/?deck_count=2", 200, `{"success": true, "deck_id": "D", "remaining": 104, "shuffled": false+`},
		{"GET /api/deck/D/draw/?count=4", 200, `{"success": true, "deck_id": "D", "cards": <AS 2S 3S 4S>, "remaining": 100+`},
		{"GET /api/deck/D/pile/p/add/?cards=AS", 200, `{"success": true, "deck_id": "D", "remaining": 100, "piles": {"p": {"remaining": 1}}+`},
		{"GET /api/deck/D/shuffle/?remaining=True&deck_count=99", 200, `{"success": true, "deck_id": "D", "remaining": 100, "shuffled": true+`},
		{"GET /api/deck/D/pile/p/list", 200, `{"success": true, "deck_id": "D", "remaining": 100, "piles": {"p": {"remaining": 1, "cards": <AS>}}+`},
		{"GET /api/shuffle/D/?deck_count=5", 200, `{"success": true, "deck_id": "D", "remaining": 104, "shuffled": true+`},
		{"GET /api/deck/D/pile/p/list/", 200, `{"success": true, "deck_id": "D", "remaining": 104, "piles": {}+`},
		{"GET /api/deck/D/shuffle/?jokers_enabled=true", 200, `{"success": true, "deck_id": "D", "remaining": 108, "shuffled": true+`},
		{"GET /api/deck/D/shuffle/", 200, `{"success": true, "deck_id": "D", "remaining": 108, "shuffled": true+`},
		{"GET /api/deck/D/shuffle/?jokers_enabled=false", 200, `{"success": true, "deck_id": "D", "remaining": 104, "shuffled": true+`},
		{"POST /api/deck/D/shuffle/ cards=AS,X1,ZZ", 200, `{"success": true, "deck_id": "D", "remaining": 2, "shuffled": true+`},
		{"GET /api/deck/D/draw/?count=2", 200, `{"success": true, "deck_id": "D", "cards": <AS AS>, "remaining": 0+`},
		{"GET /api/deck/D/shuffle/?cards=ZZ", 400, `{"success": false, "error": "A deck has at least one card. Name its cards as in cards=AS,0S,KH; jokers, X1 and X2, need jokers_enabled=true."-`},
		// Piles.
		{"GET /api/deck/new/?jokers_enabled=true&cards=3S,4S,5S,6S,7S,8S,9S,0S,JS,QS,KS,X1,X2", 200, `{"success": true, "deck_id": "D", "remaining": 13, "shuffled": false+`},
		{"GET /api/deck/D/pile/a/list/", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {}+`},
		{"GET /api/deck/D/pile/a/add/", 404, `{"success": false, "error": "You must specify cards to add to the pile."+`},
		{"POST /api/deck/D/pile/a/add/ count=1", 404, `{"success": false, "error": "You must specify cards to add to the pile."+`},
		{"GET /api/deck/nope/pile/a/add/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/D/pile/a/add/?cards=", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {"a": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/add/?cards=3S,AH,ZZ", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {"a": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/list/", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {"a": {"remaining": 0, "cards": []}}+`},
		{"GET /api/deck/D/pile/a/shuffle/", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {"a": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/return/", 200, `{"success": true, "deck_id": "D", "remaining": 13, "piles": {"a": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/draw/", 404, `{"success": false, "error": "Not enough cards remaining to draw 1 additional"+`},
		{"GET /api/deck/D/pile/a/draw/?cards=3S", 404, `{"success": false, "error": "The pile, a does not contain the requested cards."+`},
		{"GET /api/deck/D/pile/a/draw/top/?count=99999999999999999999999", 404, `{"success": false, "error": "Not enough cards remaining to draw 99999999999999999999999 additional"+`},
		{"GET /api/deck/D/draw/?count=12", 200, `{"success": true, "deck_id": "D", "cards": <3S 4S 5S 6S 7S 8S 9S 0S JS QS KS X1>, "remaining": 1+`},
		{"POST /api/deck/D/pile/a/add/ cards=3s,4s,5s,6s,7s,8s,9s,10s,js,qs,ks,x1,x2,3s", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 12}}+`},
		{"GET /api/deck/D/pile/a/draw/bottom/?count=5", 200, `{"success": true, "deck_id": "D", "cards": <3S 4S 5S 6S 7S>, "piles": {"a": {"remaining": 7}}+`},
		{"GET /api/deck/D/pile/a/draw/?count=5", 200, `{"success": true, "deck_id": "D", "cards": <0S JS QS KS X1>, "piles": {"a": {"remaining": 2}}+`},
		{"GET /api/deck/D/pile/b/add/?cards=JS,QS,9S", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/add?cards=JS", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/list/", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 3, "cards": <QS 9S JS>}}+`},
		{"GET /api/deck/D/pile/b/draw/?cards=TS", 200, `{"success": true, "deck_id": "D", "cards": [], "piles": {"a": {"remaining": 1}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/draw/?cards=0S", 404, `{"success": false, "error": "The pile, b does not contain the requested cards."+`},
		{"GET /api/deck/D/pile/b/draw/?cards=9S,9s", 404, `{"success": false, "error": "The pile, b does not contain the requested cards."+`},
		{"GET /api/deck/D/pile/c/list/", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/draw/?cards=AS,9S", 404, `{"success": false, "error": "The pile, b does not contain the requested cards."+`},
		{"GET /api/deck/D/pile/b/draw/?count=4", 404, `{"success": false, "error": "Not enough cards remaining to draw 4 additional"+`},
		{"GET /api/deck/D/pile/b/draw/bottom/?count=4", 404, `{"success": false, "error": "Not enough cards remaining to draw 4 additional"+`},
		{"GET /api/deck/D/pile/b/draw/random/?count=4", 404, `{"success": false, "error": "Not enough cards remaining to draw 4 additional"+`},
		{"GET /api/deck/D/pile/b/draw/?count=0", 400, `{"success": false, "error": "count must be a whole number of 1 or more, such as count=2."-`},
		{"GET /api/deck/D/pile/b/draw/?count=x", 400, `{"success": false, "error": "count must be a whole number of 1 or more, such as count=2."-`},
		{"GET /api/deck/D/pile/c/draw/?count=x", 404, `{"success": false, "error": "The pile, c does not exist."+`},
		{"GET /api/deck/D/pile/c/shuffle/", 404, `{"success": false, "error": "The pile, c does not exist."+`},
		{"GET /api/deck/D/pile/c/return/", 404, `{"success": false, "error": "The pile, c does not exist."+`},
		{"GET /api/deck/nope/pile/c/return/", 404, `{"success": false, "error": "Deck ID does not exist."-`},
		{"GET /api/deck/D/pile/c.d/add/?cards=3S", 404, `{"success": false, "error": "A pile is named by 1 to 255 letters, digits, hyphens and underscores."-`},
		{"GET /api/deck/D/pile/b/draw/?cards=ZZ", 200, `{"success": true, "deck_id": "D", "cards": [], "piles": {"a": {"remaining": 1}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/draw/?cards=js,qs&count=1", 200, `{"success": true, "deck_id": "D", "cards": <JS QS>, "piles": {"a": {"remaining": 1}, "b": {"remaining": 1}}+`},
		{"GET /api/deck/D/pile/b/draw/?cards=", 200, `{"success": true, "deck_id": "D", "cards": <9S>, "piles": {"a": {"remaining": 1}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/b/draw/", 404, `{"success": false, "error": "Not enough cards remaining to draw 1 additional"+`},
		{"GET /api/deck/D/pile/b/shuffle/", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/b/return/", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/return/?cards=3S", 200, `{"success": true, "deck_id": "D", "remaining": 1, "piles": {"a": {"remaining": 1}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/a/return/", 200, `{"success": true, "deck_id": "D", "remaining": 2, "piles": {"a": {"remaining": 0}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/b/add/?cards=5S,4S,3S", 200, `{"success": true, "deck_id": "D", "remaining": 2, "piles": {"a": {"remaining": 0}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/return/?cards=5S,6S", 200, `{"success": true, "deck_id": "D", "remaining": 3+`},
		{"GET /api/deck/D/pile/b/return/?cards=3S,6S,5S", 200, `{"success": true, "deck_id": "D", "remaining": 5, "piles": {"a": {"remaining": 0}, "b": {"remaining": 1}}+`},
		{"GET /api/deck/D/draw/?count=5", 200, `{"success": true, "deck_id": "D", "cards": <X2 8S 6S 3S 5S>, "remaining": 0+`},
		{"GET /api/deck/D/draw/?count=%2B018446744073709551617", 200, `{"success": false, "deck_id": "D", "cards": [], "remaining": 0, "error": "Not enough cards remaining to draw 18446744073709551617 additional"+`},
		{"GET /api/deck/D/draw/?count=" + strings.Repeat("9", 4300), 200, `{"success": false, "deck_id": "D", "cards": [], "remaining": 0, "error": "Not enough cards remaining to draw ` + strings.Repeat("9", 4300) + ` additional"+`},
		{"GET /api/deck/D/draw/?count=" + strings.Repeat("9", 4301), 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/draw/?count=18446744073709551617x", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/draw/?count=-18446744073709551617", 400, `{"success": false, "error": "count must be a whole number of 0 or more, such as count=2."-`},
		{"GET /api/deck/D/pile/b/draw/Random/", 200, `{"success": true, "deck_id": "D", "cards": <4S>, "piles": {"a": {"remaining": 0}, "b": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/b/add/?cards=3S,4S,5S", 200, `{"success": true, "deck_id": "D", "remaining": 0, "piles": {"a": {"remaining": 0}, "b": {"remaining": 3}}+`},
		{"GET /api/deck/D/pile/b/draw/top/?count=2", 200, `{"success": true, "deck_id": "D", "cards": <4S 5S>, "piles": {"a": {"remaining": 0}, "b": {"remaining": 1}}+`},
		{"GET /api/deck/D/pile/" + strings.Repeat("x", 255) + "/add/?cards=", 200, `{"success": true, "deck_id": "D", "remaining": 0, "piles": {"a": {"remaining": 0}, "b": {"remaining": 1}, "` + strings.Repeat("x", 255) + `": {"remaining": 0}}+`},
		{"GET /api/deck/D/pile/" + strings.Repeat("x", 256) + "/add/?cards=", 404, `{"success": false, "error": "A pile is named by 1 to 255 letters, digits, hyphens and underscores."-`},
	} {
		method, path, _ := strings.Cut(row.request, " ")
		path, body, _ := strings.Cut(path, " ")
		contentType := ""
		if body != "" {
			contentType = "application/x-www-form-urlencoded"
		}
		path = strings.Replace(path, "/D", "/"+id, 1)
		before := s.store.Size(t)
		w := s.send(t, method, path, contentType, body)
		got := w.Body.String()
		if found := idOfDeck.FindStringSubmatch(got); found != nil {
			assert.Truef(t, !strings.Contains(row.request, "/D") || found[1] == id, "%s: the deck has another id", row.request)
			id = found[1]
			got = strings.Replace(got, id, "D", 1)
		}
		if found := idOfRecord.FindStringSubmatch(got); found != nil {
			got = strings.Replace(got, found[0], "+", 1)
			_, err := ledger.FirstOrNotFound(s.store.Select(t.Context(), ledger.ByID(uuid.MustParse(found[1]))))
			assert.NoErrorf(t, err, "%s: the audit_id %s", row.request, found[1])
			assert.NotEqualf(t, seen[found[1]], s.store.Size(t) > before,
				"%s: %d records were made, and the audit_id was seen before", row.request, s.store.Size(t)-before)
			seen[found[1]] = true
		} else if s.store.Size(t) > before {
			t.Errorf("%s: there is a record that is not answered", row.request)
		} else {
			got = strings.TrimSuffix(got, "}") + "-"
		}
		assert.Equal(t, row.status, w.Code, row.request)
		assert.Equal(t, cardsIn(row.want), got, row.request)
		h := w.Header()
		assert.Truef(t, h.Get("Content-Type") == "application/json" && h.Get("Access-Control-Allow-Origin") == "*", "%s: %v", row.request, h)
	}
}

// Parameters may be in the query, in a form of either media type, or in a JSON object.
func TestParameters(t *testing.T) {
	s := newSite(t)
	for name, v := range map[string][4]string{ // method, query, type, body
		"query":       {"GET", "?cards=AS,0S&deck_count=2", "", ""},
		"form":        {"POST", "", "application/x-www-form-urlencoded; charset=UTF-8", "cards=AS%2C0S&deck_count=2"},
		"form over":   {"POST", "?cards=2D", "application/x-www-form-urlencoded", "cards=AS%2C0S&deck_count=2"},
		"form, query": {"POST", "?deck_count=2", "application/x-www-form-urlencoded", "cards=AS,0S"},
		"multipart": {"POST", "", "multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"cards\"\r\n\r\nKH\r\n--x\r\nContent-Disposition: form-data; name=\"cards\"\r\n\r\nAS,0S\r\n" +
			"--x\r\nContent-Disposition: form-data; name=\"cards\"; filename=\"cards.txt\"\r\n\r\nKD\r\n--x\r\nContent-Disposition: form-data; name=\"deck_count\"\r\n\r\n2\r\n--x--\r\n"},
		"JSON":         {"POST", "", "application/json", `{"cards": "AS,10S", "deck_count": 2, "jokers_enabled": null}`},
		"JSON nested":  {"POST", "", "application/json", `{"cards": ["AS", {"cards": "2D"}, ["2D"], null, "0S"], "x": {"cards": "2D"}, "deck_count": 1, "deck_count": 2}`},
		"JSON list":    {"POST", "", "application/json", `{"cards": ["AS", "TS"], "deck_count": "2", "jokers_enabled": false}`},
		"unknown type": {"POST", "?cards=AS,0S&deck_count=2", "text/plain", "{}"},
		"no JSON":      {"POST", "?cards=AS,0S&deck_count=2", "application/json", ""},
	} {
		w := s.send(t, v[0], "/api/deck/new/"+v[1], v[2], v[3])
		id := idOfDeck.FindStringSubmatch(w.Body.String())
		if id == nil {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
			continue
		}
		drawn := s.get(t, "/api/deck/%s/draw/?count=4", id[1])
		assert.Truef(t, slices.Equal(drawn.codes(), []string{"AS", "0S", "AS", "0S"}) && drawn.Remaining == 0, "%s: %+v", name, drawn)
	}
	for body, contentType := range map[string]string{
		"[1]": "application/json", "{": "application/json", `{"cards":"AS",}`: "application/json", `{"x":[}`: "application/json", "x": "multipart/form-data; boundary=x", "": "multipart/form-data",
	} {
		w := s.send(t, "POST", "/api/deck/new/", contentType, body)
		assert.Equalf(t, http.StatusBadRequest, w.Code, "%s: %d %s", body, w.Code, w.Body)
	}
}

// Of random texts, the pairs of the known names are those that net/url finds.
func TestParametersAreThoseOfAForm(t *testing.T) {
	parts := []string{"cards", "count", "%63ount", "deck+count", "x", "=", "=", "=", "&", "&", ";", "%", "%zz", "AS", "0%53", "+", "%2B"}
	random := mathrand.New(mathrand.NewPCG(1, 1))
	for range 20_000 {
		var text strings.Builder
		for range random.IntN(12) {
			text.WriteString(parts[random.IntN(len(parts))])
		}
		pairs, _ := url.ParseQuery(text.String())
		want := map[string]string{}
		for _, name := range parameters {
			if all := pairs[name]; len(all) > 0 {
				want[name] = all[len(all)-1]
			}
		}
		q := request{values: map[string]string{}}
		q.addPairs(text.String())
		assert.Equal(t, want, q.values, text.String())
	}
}

// A body of thousands of unknown names takes no more memory than is charged for its bytes.
func TestUnknownParametersTakeNoMemory(t *testing.T) {
	const charged = 3 // bytes for each, as httpjson charges them
	var members, pairs strings.Builder
	for i := 0; members.Len() < maxBody-20; i++ {
		fmt.Fprintf(&members, `"%x":1,`, i)
		fmt.Fprintf(&pairs, "%x=1&", i)
	}
	for media, body := range map[string]string{
		"application/json":                  "{" + members.String() + `"count":1}`,
		"application/x-www-form-urlencoded": pairs.String() + "count=1",
	} {
		q, text := request{values: map[string]string{}}, []byte(body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, q.addBody(media, text))
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64((charged-1)*len(body)), "%s", media)
		assert.Equal(t, map[string]string{"count": "1"}, q.values, "%s", media)
	}
}

// HEAD draws nothing, and preflight requests are answered with the allowed methods and headers.
func TestMethods(t *testing.T) {
	s := newSite(t)
	made := s.get(t, "/api/deck/new/")
	before := s.store.Size(t)
	for path, status := range map[string]int{"/": 200, "/draw/": 405, "/shuffle": 405, "/return/": 405, "/pile/x/add/": 405, "/pile/x/list/": 200, "/draw/bottom/": 405} {
		w := s.send(t, "HEAD", "/api/deck/"+made.DeckID+path, "", "")
		if w.Code != status || status == 405 && w.Header().Get("Allow") == "" {
			t.Errorf("HEAD %s: %d %v", path, w.Code, w.Header())
		}
	}
	for _, path := range []string{"/api/deck/new/shuffle/", "/api/deck/" + made.DeckID + "/draw", "/static/img/AS.png", "/api/nothing"} {
		w := s.send(t, "OPTIONS", path, "", "", "Origin", "http://localhost:4200", "Access-Control-Request-Method", "POST")
		h := w.Header()
		if w.Code != 200 || w.Body.Len() > 0 || h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Max-Age") != "86400" ||
			h.Get("Access-Control-Allow-Methods") != "DELETE, GET, OPTIONS, PATCH, POST, PUT" || !strings.Contains(h.Get("Access-Control-Allow-Headers"), "content-type") {
			t.Errorf("OPTIONS %s: %d %v", path, w.Code, h)
		}
	}
	assert.Equal(t, before, s.store.Size(t), "something was drawn")
}

// The addresses of pictures have the host that the client used.
func TestPictureAddressesHaveTheHost(t *testing.T) {
	s := newSite(t)
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/deck/new/draw/?deck_count=1", nil)
	r.Host = "localhost:8080"
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	if !strings.Contains(w.Body.String(), `"image": "http://localhost:8080/static/img/`) {
		t.Error(w.Body)
	}
}

// A deck expires 14 days after its last change, or up to a hundredth later. Its id may have
// hyphens.
func TestDecksExpire(t *testing.T) {
	s := newSite(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.store.Now = func() time.Time { return now }
	made := s.get(t, "/api/deck/new/")
	now = now.Add(lifetime - time.Second)
	s.get(t, "/api/deck/%s/draw/", uuid.MustParse(made.DeckID))
	now = now.Add(lifetime - time.Second)
	s.get(t, "/api/deck/%s/", made.DeckID)
	if w := s.send(t, "GET", "/api/deck/"+strings.ToUpper(made.DeckID)+"/", "", ""); w.Code != 404 {
		t.Error(w.Code, w.Body)
	}
	now = now.Add(time.Second + lifetime/100)
	for _, path := range []string{"/", "/draw/", "/shuffle/", "/return/", "/pile/a/list/", "/pile/a/add/?cards=AS"} {
		if w := s.send(t, "GET", "/api/deck/"+made.DeckID+path, "", ""); w.Code != 404 || w.Body.String() != `{"success": false, "error": "Deck ID does not exist."}` {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

// Shoes made through POST /shoes are decks if they have standard cards. Others do not exist here.
func TestShoesOfTheServiceAreDecks(t *testing.T) {
	s := newSite(t)
	five := uint64(5)
	for r, want := range map[*liveshoes.Request]int{
		shoeOf(plan.Request{Deck: "standard54"}):                   200,
		shoeOf(plan.Request{Deck: "mahjong136"}):                   404,
		withExpiry(shoeOf(plan.Request{Size: &five}), lifetime):    404,
		shoeOf(plan.Request{Items: &plan.Items{Count: 1}}, `"AS"`): 404,
	} {
		made, err := s.shoes.Create(t.Context(), r)
		require.NoError(t, err)
		w := s.send(t, "GET", "/api/deck/"+deckID(made.Shoe.ID)+"/draw/", "", "")
		assert.Equalf(t, want, w.Code, "%+v: %d %s", r, w.Code, w.Body)
	}
}

func withExpiry(r *liveshoes.Request, expires time.Duration) *liveshoes.Request {
	r.Expires = expires
	return r
}

func shoeOf(r plan.Request, items ...string) *liveshoes.Request {
	return &liveshoes.Request{Request: dealer.Request{Request: r}, Items: items}
}

// A retry with the same key gets the same cards and draws no others.
func TestRetries(t *testing.T) {
	s := newSite(t)
	key := []string{"Idempotency-Key", `"` + uuid.NewString() + `"`}
	first := s.send(t, "GET", "/api/deck/new/draw/?count=5", "", "", key...)
	before := s.store.Size(t)
	if again := s.send(t, "GET", "/api/deck/new/draw/?count=5", "", "", key...); again.Body.String() != first.Body.String() || again.Code != 200 {
		t.Errorf("%s is not %s", again.Body, first.Body)
	}
	if w := s.send(t, "GET", "/api/deck/new/draw/?count=6", "", "", key...); w.Code != 422 {
		t.Error(w.Code, w.Body)
	}
	id := idOfDeck.FindStringSubmatch(first.Body.String())[1]
	var drawn reply
	require.NoError(t, json.Unmarshal(first.Body.Bytes(), &drawn))
	assert.Truef(t, s.store.Size(t) == before && len(drawn.Cards) == 5 && drawn.Remaining == 47, "%d records are %d, for %+v", before, s.store.Size(t), drawn)
	for i, path := range []string{
		"/draw/?count=3", "/draw/?count=50", "/pile/empty/add/?cards=", "/pile/a/add/?cards=" + strings.Join(drawn.codes(), ","), "/pile/a/draw/?count=2", "/pile/a/shuffle/",
		"/return/", "/shuffle/?jokers_enabled=true", "/shuffle/",
	} {
		path = "/api/deck/" + id + path
		key := []string{"Idempotency-Key", fmt.Sprint("key-", i)}
		first := s.send(t, "POST", path, "", "", key...)
		before := s.store.Size(t)
		again := s.send(t, "POST", path, "", "", key...)
		if again.Body.String() != first.Body.String() || again.Code != first.Code || s.store.Size(t) != before {
			t.Errorf("%s: %s is not %s", path, again.Body, first.Body)
		}
	}
	for _, key := range []string{"a b", strings.Repeat("x", 256), `"`, "ä"} { // none that could be used
		w := s.send(t, "GET", "/api/deck/new/", "", "", "Idempotency-Key", key)
		assert.Equalf(t, 200, w.Code, "%q: %d %s", key, w.Code, w.Body)
	}
}

// Failures of the service have the same form as errors of the client.
func TestFailuresOfTheService(t *testing.T) {
	s := newSite(t)
	for err, want := range map[error]int{
		ledger.ErrBusy: 503, ledger.ErrNoSpace: 503, ledger.ErrUnavailable: 503, ledger.ErrOverloaded: 503, ledger.ErrClosed: 503, ledger.ErrBroken: 500, io.ErrUnexpectedEOF: 500,
		journal.ErrInFlight: 409, &liveshoes.VersionError{}: 500, &liveshoes.CardsError{}: 500,
	} {
		w := httptest.NewRecorder()
		s.Fail(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), fmt.Errorf("within: %w", err))
		if w.Code != want || (w.Header().Get("Retry-After") == "1") != (want == 503 || want == 409) || !strings.HasPrefix(w.Body.String(), `{"success": false, "error": "`) || strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("%v: %d %v %s", err, w.Code, w.Header(), w.Body)
		}
	}
	require.NoError(t, s.log.Close())
	if w := s.send(t, "GET", "/api/deck/new/", "", ""); w.Code != 503 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error(w.Code, w.Body)
	}
}
