package deckofcards

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
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
	"riffle/internal/journal"
	"riffle/internal/shoe"
)

// maxBody is the size limit of a body, in bytes.
const maxBody = 64 << 10

// request is a parsed request.
type request struct {
	ctx    context.Context
	log    Log
	id     uuid.UUID // of the deck; Nil if the path has no valid deck_id
	pile   string
	end    shoe.End          // where cards are drawn
	values map[string]string // known parameters of query and body
	base   string            // of picture URLs: scheme, host and log prefix
	key    *journal.Key      // identifies retries; nil without an Idempotency-Key
	keyFor func(part string) *journal.Key
}

// read reads a request with its body. It charges the lease for both, and for the cards that the
// request names or draws.
func (a *API) read(w http.ResponseWriter, r *http.Request, lease *budget.Lease) (*request, error) {
	var body []byte
	var err error
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		if body, err = httpjson.ReadAny(w, r, maxBody, lease); err != nil {
			return nil, err
		}
	}
	log := a.Log(w)
	q := &request{
		ctx: r.Context(), log: log, id: parseID(chi.URLParam(r, "deck_id")), pile: chi.URLParam(r, "pile"), end: shoe.Top,
		values: map[string]string{}, base: hostOf(r) + log.Prefix,
	}
	switch strings.ToLower(chi.URLParam(r, "location")) {
	case "bottom":
		q.end = shoe.Bottom
	case "random":
		q.end = shoe.Random
	}
	q.addPairs(r.URL.RawQuery)
	if err := q.addBody(r.Header.Get("Content-Type"), body); err != nil {
		return nil, err
	}
	if err := lease.Grow(q.answerBytes()); err != nil {
		return nil, err
	}
	q.keyFor = func(part string) *journal.Key {
		key := keyOf(r.Header)
		if key == "" {
			return nil
		}
		return journal.NewKey(key+part, []byte(r.Method+" "+r.RequestURI+"\n"), body).By(log.Caller)
	}
	q.key = q.keyFor("")
	return q, nil
}

// newDeckKey makes the key for the deck that newDraw creates before it draws. Keys have no spaces,
// so no other request has it.
const newDeckKey = " deck"

// bodyError returns the refusal for a body that cannot be read.
func bodyError(err *httpjson.Error) *refusal {
	if err.Status == http.StatusRequestEntityTooLarge {
		return refuse(err.Status, "The body is longer than %d bytes. Send fewer cards at once.", maxBody)
	}
	return refuse(http.StatusBadRequest, "The body did not arrive whole. Send it again.")
}

// answerBytes estimates the memory of an answer, from the number of cards that the request names or
// draws.
func (q *request) answerBytes() int64 {
	const card = 256 // with its names and paths, without the base of its three picture URLs
	drawn, _ := q.count(0)
	cards := min(max(drawn, uint64(strings.Count(q.values["cards"], ",")+1)), shoe.MaxCards)
	return int64(cards) * int64(card+3*len(q.base))
}

// known are the supported parameters; others are ignored.
var known = []string{"cards", "count", "deck_count", "jokers_enabled", "remaining"}

// add sets a parameter. The last value counts.
func (q *request) add(name, value string) {
	if slices.Contains(known, name) {
		q.values[name] = value
	}
}

// addPairs adds the well-formed pairs of a query or form.
func (q *request) addPairs(text string) {
	for pair := range strings.SplitSeq(text, "&") {
		name, value, _ := strings.Cut(pair, "=")
		name, err := url.QueryUnescape(name)
		if err != nil || strings.Contains(pair, ";") || !slices.Contains(known, name) {
			continue
		}
		if value, err = url.QueryUnescape(value); err == nil {
			q.add(name, value)
		}
	}
}

// addBody adds a body's parameters, which override the query's. It ignores other media types.
func (q *request) addBody(contentType string, body []byte) error {
	media, parameters, err := mime.ParseMediaType(contentType)
	if err != nil {
		return nil //nolint:nilerr // an invalid media type has no parameters
	}
	switch media {
	case "application/x-www-form-urlencoded":
		q.addPairs(string(body))
	case "multipart/form-data":
		if q.addParts(multipart.NewReader(bytes.NewReader(body), parameters["boundary"])) != nil {
			return refuse(http.StatusBadRequest, "The body is not the multipart form that its Content-Type says. Send it again.")
		}
	case "application/json":
		if q.addJSON(body) != nil {
			return refuse(http.StatusBadRequest, `The body has to be a JSON object, such as {"cards": "AS,KH"}.`)
		}
	}
	return nil
}

// addParts adds the values of a multipart form, without files.
func (q *request) addParts(form *multipart.Reader) error {
	for {
		part, err := form.NextPart()
		if err == io.EOF { // a truncated form has a wrapped EOF
			return nil
		} else if err != nil {
			return err
		}
		if name := part.FormName(); part.FileName() == "" && slices.Contains(known, name) {
			value, err := io.ReadAll(part)
			if err != nil {
				return err
			}
			q.add(name, string(value))
		}
	}
}

// addJSON adds an object's members: strings, numbers and booleans as text, lists joined by commas.
func (q *request) addJSON(body []byte) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(body), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	switch d.PeekKind() {
	case 'n': // null is an object without members
		return d.SkipValue()
	case '{':
	default:
		return errors.New("no object")
	}
	if _, err := d.ReadToken(); err != nil {
		return err
	}
	for d.PeekKind() == '"' {
		token, err := d.ReadToken()
		if err != nil {
			return err
		}
		name := token.String()
		if !slices.Contains(known, name) {
			if err := d.SkipValue(); err != nil {
				return err
			}
			continue
		}
		value, given, err := textsOf(d)
		if err != nil {
			return err
		}
		if given {
			q.add(name, value)
		}
	}
	_, err := d.ReadToken()
	return err
}

// textsOf reads a value as a parameter, and joins the texts of a list by commas. An empty list is
// an empty text; null and objects are no text.
func textsOf(d *jsontext.Decoder) (text string, given bool, err error) {
	isList := d.PeekKind() == '['
	if !isList {
		return textOf(d)
	}
	if _, err := d.ReadToken(); err != nil {
		return "", false, err
	}
	var joined strings.Builder
	for d.PeekKind() != ']' {
		text, has, err := textOf(d)
		if err != nil {
			return "", false, err
		}
		if has {
			if given {
				joined.WriteByte(',')
			}
			joined.WriteString(text)
			given = true
		}
	}
	_, err = d.ReadToken()
	return joined.String(), true, err
}

// textOf reads a string, number or boolean as a parameter, and skips other values.
func textOf(d *jsontext.Decoder) (text string, given bool, err error) {
	switch d.PeekKind() { //nolint:exhaustive // other kinds are no text, or no JSON
	case '"', '0', 't', 'f':
		token, err := d.ReadToken()
		return token.String(), err == nil, err
	}
	return "", false, d.SkipValue()
}

// number returns an integer parameter; 1 if it is missing. what describes valid values for the
// error.
func (q *request) number(name, what string) (int64, error) {
	text, given := q.values[name]
	if !given {
		return 1, nil
	}
	text = strings.TrimSpace(text)
	n, err := strconv.ParseInt(text, 10, 64)
	// ParseInt returns the nearest limit for a number out of range.
	if err != nil && (!errors.Is(err, strconv.ErrRange) || !isInteger(text)) {
		return 0, refuse(http.StatusBadRequest, "%s must be %s, such as %s=2.", name, what, name)
	}
	return n, nil
}

// maxDigits is the limit of Python, in which the original service is written.
const maxDigits = 4300

// isInteger reports whether text is an integer of at most maxDigits digits.
func isInteger(text string) bool {
	digits := strings.TrimLeft(text, "+-")
	return len(text)-len(digits) <= 1 && digits != "" && len(digits) <= maxDigits && strings.Trim(digits, "0123456789") == ""
}

// notEnough rejects a draw of more cards than remain. It quotes the requested count, which may
// exceed 64 bits.
func (q *request) notEnough(status int) *refusal {
	count := strings.TrimLeft(strings.TrimSpace(q.values["count"]), "+0")
	return refuse(status, notEnough, cmp.Or(count, "1"))
}

// count returns the number of cards to draw. Values below least are errors.
func (q *request) count(least int64) (uint64, error) {
	what := "a whole number of " + strconv.FormatInt(least, 10) + " or more"
	n, err := q.number("count", what)
	if err == nil && n < least {
		err = refuse(http.StatusBadRequest, "count must be %s, such as count=2.", what)
	}
	return uint64(max(n, 0)), err
}

// decks returns the number of deck copies, at most most.
func (q *request) decks(most int64) (uint64, error) {
	n, err := q.number("deck_count", "a whole number")
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

// cards returns the known codes in the parameter cards, and whether it was given.
func (q *request) cards() (codes []string, given bool, err error) {
	text, given := q.values["cards"]
	for word := range strings.SplitSeq(text, ",") {
		if code, known := codeOf(word); known {
			codes = append(codes, code)
		}
	}
	if len(codes) > shoe.MaxCards {
		return nil, given, refuse(http.StatusBadRequest, "cards names more than %d cards, which no deck has. Name fewer.", shoe.MaxCards)
	}
	return codes, given, nil
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

// hostOf returns the request's scheme and host.
func hostOf(r *http.Request) string {
	scheme := "http"
	if r.TLS != nil || strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https") {
		scheme = "https"
	}
	return scheme + "://" + r.Host
}

// maxKey is the length limit of an idempotency key.
const maxKey = 255

// keyOf returns the Idempotency-Key, bare or in double quotes. It is empty if missing or malformed:
// clients of the original service do not know the header.
func keyOf(h http.Header) string {
	key := strings.Trim(h.Get("Idempotency-Key"), " \t")
	if len(key) > 1 && key[0] == '"' && key[len(key)-1] == '"' {
		key = key[1 : len(key)-1]
	}
	isValid := strings.IndexFunc(key, func(c rune) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '\\' }) < 0
	if !isValid || len(key) > maxKey {
		return ""
	}
	return key
}
