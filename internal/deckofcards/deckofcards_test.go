package deckofcards

import (
	_ "embed"
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
	"strconv"
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
	"riffle/internal/quota"
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

//go:embed testdata/answers.txt
var answersFile string

// times is a text repeated, such as (AS,)*205.
var times = regexp.MustCompile(`\((\S+?)\)\*(\d+)`)

// TestAnswers tests every route, parameter and error text by testdata/answers.txt.
func TestAnswers(t *testing.T) {
	s := newSite(t)
	id, request, answers := "", "", 0
	seen := map[string]bool{}
	for line := range strings.Lines(answersFile) {
		line = times.ReplaceAllStringFunc(strings.TrimSpace(line), func(s string) string {
			parts := times.FindStringSubmatch(s)
			n, err := strconv.Atoi(parts[2])
			require.NoError(t, err)
			return strings.Repeat(parts[1], n)
		})
		if line == "" || line[0] == '#' {
			continue
		}
		if request == "" {
			request = line
			continue
		}
		number, want, _ := strings.Cut(line, " ")
		status, err := strconv.Atoi(number)
		require.NoError(t, err, line)
		answers++
		method, path, _ := strings.Cut(request, " ")
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
			assert.Truef(t, !strings.Contains(request, "/D") || found[1] == id, "%s: the deck has another id", request)
			id = found[1]
			got = strings.Replace(got, id, "D", 1)
		}
		if found := idOfRecord.FindStringSubmatch(got); found != nil {
			got = strings.Replace(got, found[0], "+", 1)
			_, err := ledger.FirstOrNotFound(s.store.Select(t.Context(), ledger.ByID(uuid.MustParse(found[1]))))
			assert.NoErrorf(t, err, "%s: the audit_id %s", request, found[1])
			assert.NotEqualf(t, seen[found[1]], s.store.Size(t) > before,
				"%s: %d records were made, and the audit_id was seen before", request, s.store.Size(t)-before)
			seen[found[1]] = true
		} else if s.store.Size(t) > before {
			t.Errorf("%s: there is a record that is not answered", request)
		} else {
			got = strings.TrimSuffix(got, "}") + "-"
		}
		assert.Equal(t, status, w.Code, request)
		assert.Equal(t, cardsIn(want), got, request)
		h := w.Header()
		assert.Truef(t, h.Get("Content-Type") == "application/json" && h.Get("Access-Control-Allow-Origin") == "*", "%s: %v", request, h)
		request = ""
	}
	assert.Equal(t, 135, answers)
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
	assert.Contains(t, w.Body.String(), `"image": "http://localhost:8080/static/img/`)
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
	for r, want := range map[*liveshoes.NewShoe]int{
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

func withExpiry(r *liveshoes.NewShoe, expires time.Duration) *liveshoes.NewShoe {
	r.Expires = expires
	return r
}

func shoeOf(r plan.Request, items ...string) *liveshoes.NewShoe {
	return &liveshoes.NewShoe{Request: dealer.Request{Request: r}, Items: items}
}

// Failures of the service have the same form as errors of the client.
func TestFailuresOfTheService(t *testing.T) {
	s := newSite(t)
	for err, want := range map[error]int{
		ledger.ErrBusy: 503, ledger.ErrNoSpace: 503, ledger.ErrUnavailable: 503, ledger.ErrOverloaded: 503, ledger.ErrClosed: 503, ledger.ErrBroken: 500, io.ErrUnexpectedEOF: 500,
		fmt.Errorf("%w: %w", budget.ErrFull, quota.ErrShare): 429, journal.ErrInFlight: 409, &liveshoes.VersionError{}: 500, &liveshoes.CardsError{}: 500,
	} {
		w := httptest.NewRecorder()
		s.Fail(w, httptest.NewRequestWithContext(t.Context(), "GET", "/", nil), fmt.Errorf("within: %w", err))
		if w.Code != want || (w.Header().Get("Retry-After") == "1") != (want == 503 || want == 429 || want == 409) || !strings.HasPrefix(w.Body.String(), `{"success": false, "error": "`) || strings.Contains(w.Body.String(), err.Error()) {
			t.Errorf("%v: %d %v %s", err, w.Code, w.Header(), w.Body)
		}
	}
	require.NoError(t, s.log.Close())
	if w := s.send(t, "GET", "/api/deck/new/", "", ""); w.Code != 503 || w.Header().Get("Access-Control-Allow-Origin") != "*" {
		t.Error(w.Code, w.Body)
	}
}
