package deckofcards

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/budget"
	"riffle/internal/httpjson"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/services"
	"riffle/internal/shoe"
)

// maxBody is the size limit of a body, in bytes.
const maxBody = 64 << 10

// request is a parsed request.
type request struct {
	ctx    context.Context
	log    services.Call
	id     uuid.UUID               // of the deck; Nil if the path has no valid deck_id
	pile   string                  // name of the pile in the path; empty for none
	place  shoe.Place              // of the pile
	end    shoe.End                // where cards are drawn
	values map[string]string       // parameters of query and body
	cards  []string                // the known codes in the parameter cards
	named  bool                    // cards was given
	base   string                  // of picture URLs: scheme and host
	key    *journal.IdempotencyKey // identifies retries; nil without an Idempotency-Key
	keyFor func(part string) *journal.IdempotencyKey
}

// read reads a request with its body. It charges the lease for both, and for the cards that the
// request names or draws.
func read(w http.ResponseWriter, r *http.Request, log services.Call, lease *budget.Lease) (*request, error) {
	var body []byte
	var err error
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if body, err = httpjson.ReadAny(w, r, maxBody, lease); err != nil {
			return nil, err
		}
	}
	q := &request{
		ctx: r.Context(), log: log, id: parseID(chi.URLParam(r, "deck_id")), pile: chi.URLParam(r, "pile"), end: shoe.Top,
		values: map[string]string{}, base: httpserver.Address(r),
	}
	if end := shoe.End(strings.ToLower(chi.URLParam(r, "location"))); end == shoe.Bottom || end == shoe.Random {
		q.end = end
	}
	if q.place = shoe.OnPile(q.pile); q.pile != "" && !shoe.IsName(q.pile) {
		return nil, refuse(http.StatusNotFound, "A pile is named by 1 to %d letters, digits, hyphens and underscores.", shoe.MaxName)
	}
	q.addPairs(r.URL.RawQuery)
	if err := q.addBody(r.Header.Get("Content-Type"), body); err != nil {
		return nil, err
	}
	if err := lease.Grow(q.answerBytes()); err != nil {
		return nil, err
	}
	if err := q.readCards(); err != nil {
		return nil, err
	}
	q.keyFor = func(part string) *journal.IdempotencyKey {
		key, ok := journal.ParseKey(r.Header.Values("Idempotency-Key"))
		if !ok { // or malformed: clients of the original service do not know the header
			return nil
		}
		return journal.NewIdempotencyKey(key+part, []byte(r.Method+" "+r.RequestURI+"\n"), body).By(log.Caller)
	}
	q.key = q.keyFor("")
	return q, nil
}

// newDeckKey makes the key for the deck that newDraw creates before it draws. Keys have no spaces,
// so no other request has it.
const newDeckKey = " deck"

// answerBytes estimates the memory of an answer, from the number of cards that the request names or
// draws.
func (q *request) answerBytes() int64 {
	const card = 512 // with its names and paths, without the base of its picture URLs: three in the JSON, two before
	drawn, _ := q.count(0)
	cards := min(max(drawn, uint64(strings.Count(q.values["cards"], ",")+1)), shoe.MaxCards)
	return int64(cards) * int64(card+5*len(q.base))
}

// parameters are the names that queries and bodies give. Values of others are not decoded, so that
// a request of thousands of names holds no more than its bytes.
var parameters = []string{"cards", "count", "deck_count", "jokers_enabled", "remaining"}

// addPairs adds the parameters of a query or form as [url.ParseQuery] reads it: malformed pairs are
// ignored, and the last value of a name counts.
func (q *request) addPairs(text string) {
	for pair := range strings.SplitSeq(text, "&") {
		key, value, _ := strings.Cut(pair, "=")
		name, badName := url.QueryUnescape(key)
		if badName != nil || !slices.Contains(parameters, name) || strings.Contains(pair, ";") {
			continue
		}
		if value, err := url.QueryUnescape(value); err == nil {
			q.values[name] = value
		}
	}
}

// addBody adds a body's parameters, which override the query's. It ignores other media types.
func (q *request) addBody(contentType string, body []byte) error {
	media, options, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil //nolint:nilerr // an invalid media type has no parameters
	}
	switch media {
	case "application/x-www-form-urlencoded":
		q.addPairs(string(body))
	case "multipart/form-data":
		form, err := multipart.NewReader(bytes.NewReader(body), options["boundary"]).ReadForm(maxBody) // in memory, since it is no longer
		if err != nil {
			return refuse(http.StatusBadRequest, "The body is not the multipart form that its Content-Type says. Send it again.")
		}
		for _, name := range parameters {
			if values := form.Value[name]; len(values) > 0 {
				q.values[name] = values[len(values)-1]
			}
		}
	case "application/json":
		if q.addJSON(body) != nil {
			return refuse(http.StatusBadRequest, `The body has to be a JSON object, such as {"cards": "AS,KH"}.`)
		}
	}
	return nil
}

// addJSON adds the members of an object that are parameters: strings, numbers and booleans as text,
// and lists of them joined by commas. It ignores other values.
func (q *request) addJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var name string
	var list []byte // a comma and the text of each element
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	for {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		isText := strings.ContainsRune(`"0tf`, rune(token.Kind()))
		depth := d.StackDepth()
		switch in, n := d.StackIndex(depth); {
		case depth == 0 && token.Kind() == '}':
			return nil
		case depth == 0, depth == 1 && in == '[':
			return errors.New("the body is no JSON object")
		case depth == 1 && n%2 == 1:
			name, list = token.String(), nil
		case !slices.Contains(parameters, name):
		case depth == 1 && isText:
			q.values[name] = token.String()
		case depth == 2 && in == '[' && isText:
			list = append(append(list, ','), token.String()...)
		case depth == 1 && token.Kind() == ']':
			q.values[name] = string(bytes.TrimPrefix(list, []byte(",")))
		}
	}
}

// maxDigits is the limit of Python, in which the original service is written.
const maxDigits = 4300

// number returns an integer parameter, limited to an int64; 1 if it is missing. Values below least are
// errors. what describes valid values for the error.
func (q *request) number(name, what string, least int64) (int64, error) {
	text, given := q.values[name]
	if !given {
		return 1, nil
	}
	text = strings.TrimSpace(text)
	digits := strings.TrimLeft(text, "+-")
	n, err := strconv.ParseInt(text, 10, 64) // the nearest one of 64 bits if it is out of their range
	if errors.Is(err, strconv.ErrSyntax) || len(digits) > maxDigits || strings.Trim(digits, "0123456789") != "" || n < least {
		return 0, refuse(http.StatusBadRequest, "%s must be %s, such as %s=2.", name, what, name)
	}
	return n, nil
}

// notEnough rejects a draw of more cards than remain, with the original service's text. It quotes the
// requested count, which may exceed 64 bits.
func (q *request) notEnough(status int) *refusal {
	count := strings.TrimLeft(strings.TrimSpace(q.values["count"]), "+0")
	return refuse(status, "Not enough cards remaining to draw %s additional", cmp.Or(count, "1"))
}

// count returns the number of cards to draw, from least on.
func (q *request) count(least int64) (uint64, error) {
	n, err := q.number("count", fmt.Sprintf("a whole number of %d or more", least), least)
	return uint64(n), err
}

// decks returns the number of deck copies, at most most.
func (q *request) decks(most int64) (uint64, error) {
	n, err := q.number("deck_count", "a whole number", math.MinInt64)
	switch {
	case err != nil:
		return 0, err
	case n > most:
		return 0, refuse(http.StatusOK, "The max number of Decks is %d.", most)
	case n < 1:
		return 0, refuse(http.StatusOK, "The min number of Decks is 1.")
	}
	return uint64(n), nil
}

// flag returns whether a parameter is true, and whether it is a boolean.
func (q *request) flag(name string) (is, given bool) {
	text := q.values[name]
	is = strings.EqualFold(text, "true")
	return is, is || strings.EqualFold(text, "false")
}

// readCards reads the parameter cards. It ignores words that are no codes.
func (q *request) readCards() error {
	text, named := q.values["cards"]
	q.named = named
	for word := range strings.SplitSeq(text, ",") {
		code, known := codeOf(word)
		if !known {
			continue
		}
		if len(q.cards) == shoe.MaxCards {
			return refuse(http.StatusBadRequest, "cards names more than %d cards, which no deck has. Name fewer.", shoe.MaxCards)
		}
		q.cards = append(q.cards, code)
	}
	return nil
}

// parseID parses a deck_id: 32 hexadecimal digits, or a shoe id in canonical form. It returns Nil
// for others.
func parseID(text string) uuid.UUID {
	id, err := uuid.Parse(text)
	if err != nil || text != deckID(id) && text != id.String() {
		return uuid.Nil
	}
	return id
}

// deckID returns a shoe's id as a deck_id, without hyphens.
func deckID(id uuid.UUID) string { return strings.ReplaceAll(id.String(), "-", "") }
