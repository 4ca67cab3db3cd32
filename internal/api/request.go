package api

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
)

// maxDepth is how deep values may be nested in a body.
const maxDepth = 100

// A span is where an item stands in the body. A body is never as long as 2³² bytes.
type span struct{ from, to uint32 }

// A shuffleRequest is a decoded request: what the dealer needs, and what the answer needs besides.
type shuffleRequest struct {
	dealer.Request
	items     []span   // into the body
	copied    []span   // room for an order of them, where they are shuffled more than once
	positions []uint64 // room for an order
	repeats   bool     // the answer is a list of shuffles, even if of one
	details   bool     // deck cards are answered whole
	expires   time.Duration
	body      *body   // which it was read from; nil if it was read from a query
	budget    *budget // of memory
	reserved  int64   // bytes of the budget
}

// A form says what a request has of all that a shuffle can be asked for.
type form struct {
	leftOut []string // members that the request does not have
	why     string
	expires bool // it has expires_in
}

// The forms of requests.
var (
	ofShuffle    = &form{}
	ofCommitment = &form{
		leftOut: []string{"client_seed", "commitment_id", "reveal"},
		why:     "A commitment is made without this. It belongs to the shuffle that uses the commitment.",
	}
	ofShoe = &form{
		leftOut: []string{"draw", "hands", "repeat", "reveal"}, expires: true,
		why: "A shoe is made without this: a whole deck is shuffled once, dealt from later, and shown when the shoe is closed.",
	}
)

// requests keeps the room that small requests need.
var requests = sync.Pool{New: func() any { return new(shuffleRequest) }}

// commonSize is how many items a request may have whose room is kept.
const commonSize = 1024

// newRequest returns an empty request, which reserves memory for its orders from the budget. Release
// it after use.
func (a *API) newRequest() *shuffleRequest {
	q := requests.Get().(*shuffleRequest)
	q.budget, q.Reserve = &a.memory, q.reserve
	return q
}

// elementBytes is the memory of an element that is shuffled: its position, twice where the algorithm
// copies it, its notes, and the place of an item in the body.
const elementBytes = 40

// reserve takes memory for elements that are shuffled from the budget, unless they are few.
func (q *shuffleRequest) reserve(elements uint64) error {
	n := int64(elements) * elementBytes
	if n <= freeBody {
		return nil
	}
	if !q.budget.take(n) {
		return problemMemory()
	}
	q.reserved += n
	return nil
}

// readRequest reads a request of a form, and returns its body as well. It is to be released.
func (a *API) readRequest(w http.ResponseWriter, r *http.Request, f *form) (q *shuffleRequest, text []byte, err error) {
	b, err := a.readBody(w, r)
	if err != nil {
		return nil, nil, err
	}
	q = a.newRequest()
	q.body = b
	if err := q.decode(b.bytes, a.Rules.Limits.Items, f); err != nil {
		q.release()
		return nil, nil, err
	}
	return q, b.bytes, nil
}

// release lets others have the room of a request, and its body, that nothing refers to any more.
func (q *shuffleRequest) release() {
	if q.body != nil {
		q.body.release()
		q.body = nil
	}
	q.budget.give(q.reserved)
	if cap(q.items) > commonSize {
		longItems.leave(q.items)
		return
	}
	if cap(q.copied) <= commonSize && cap(q.positions) <= commonSize {
		*q = shuffleRequest{items: q.items[:0], copied: q.copied[:0], positions: q.positions}
		requests.Put(q)
	}
}

// A reader reads the strict JSON of a body: RFC 8259 in UTF-8, no member twice, no lone surrogates, nothing behind it. It is to be
// released.
type reader struct {
	jsontext.Decoder
	buffer bytes.Buffer // over the body
	body   []byte
}

var readers = sync.Pool{New: func() any { return new(reader) }}

func newReader(body []byte) *reader {
	d := readers.Get().(*reader)
	d.body, d.buffer = body, *bytes.NewBuffer(body)
	d.Reset(&d.buffer)
	return d
}

// release lets others have the reader, which does not keep the body.
func (d *reader) release() {
	d.body, d.buffer = nil, bytes.Buffer{}
	d.Reset(&d.buffer)
	readers.Put(d)
}

// object reads an object whose members are read by read, which is called at the value of each.
func (d *reader) object(read func(name string) error) error {
	if d.PeekKind() != '{' {
		if err := d.skip(); err != nil {
			return err
		}
		return newProblem(400, "The body has to be a JSON object.")
	}
	if _, err := d.ReadToken(); err != nil {
		return d.syntax(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return d.syntax(err)
		}
		if err := read(name.String()); err != nil {
			return err
		}
	}
	return d.end('}')
}

// end reads the closing bracket.
func (d *reader) end(kind jsontext.Kind) error {
	token, err := d.ReadToken()
	if err != nil {
		return d.syntax(err)
	}
	if token.Kind() != kind {
		return newProblem(400, "The body is not JSON at byte %d.", d.InputOffset())
	}
	return nil
}

// finish makes sure that nothing stands behind the value.
func (d *reader) finish() error {
	_, err := d.ReadToken()
	if errors.Is(err, io.EOF) {
		return nil
	}
	return newProblem(400, "Something stands behind the JSON object, at byte %d. Send one object.", d.InputOffset())
}

func (d *reader) skip() error {
	if err := d.SkipValue(); err != nil {
		return d.syntax(err)
	}
	return nil
}

// syntax says what is wrong with the JSON, in our words: the decoder's may change.
func (d *reader) syntax(err error) error {
	var p *jsontext.SyntacticError
	if !errors.As(err, &p) {
		return newProblem(400, "The body is not JSON.")
	}
	if errors.Is(err, jsontext.ErrDuplicateName) {
		return newProblem(400, "A member stands twice in an object, which readers take in different ways. Send it once.").at(string(p.JSONPointer))
	}
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return newProblem(400, "The JSON ends before it is complete.")
	}
	return newProblem(400, "The body is not strict JSON (RFC 8259, UTF-8, no lone surrogates) at byte %d.", p.ByteOffset)
}

// value reads any value and returns where it stands in the body.
func (d *reader) value() (jsontext.Value, span, error) {
	value, err := d.ReadValue()
	if err != nil {
		return nil, span{}, d.syntax(err)
	}
	end := d.InputOffset()
	return value, span{from: uint32(end) - uint32(len(value)), to: uint32(end)}, nil
}

func (d *reader) text(pointer string) (string, error) {
	value, _, err := d.value()
	if err != nil {
		return "", err
	}
	if value.Kind() != '"' {
		return "", newProblem(400, "This has to be a string.").at(pointer)
	}
	text, err := jsontext.AppendUnquote(nil, value)
	if err != nil {
		return "", newProblem(400, "This is not a string.").at(pointer)
	}
	return string(text), nil
}

func (d *reader) truth(pointer string) (bool, error) {
	value, _, err := d.value()
	if err != nil {
		return false, err
	}
	if kind := value.Kind(); kind != 't' && kind != 'f' {
		return false, newProblem(400, "This has to be true or false.").at(pointer)
	}
	return value.Kind() == 't', nil
}

func (d *reader) count(pointer string) (*uint64, error) {
	value, _, err := d.value()
	if err != nil {
		return nil, err
	}
	if value.Kind() != '0' {
		return nil, newProblem(400, "This has to be an integer.").at(pointer)
	}
	n, wrong := parseCount(string(value))
	if wrong != nil {
		return nil, wrong.at(pointer)
	}
	return &n, nil
}

// parseCount reads an integer that counts something. What has the form of one but cannot be a count is 422.
func parseCount(s string) (uint64, *problem) {
	n, err := strconv.ParseUint(s, 10, 64)
	if err == nil {
		return n, nil
	}
	digits := s
	if len(s) > 1 && s[0] == '-' {
		digits = s[1:]
	}
	if len(bytes.Trim([]byte(digits), "0123456789")) > 0 || digits == "" {
		return 0, newProblem(400, "This has to be an integer, written with digits alone.")
	}
	return 0, newProblem(422, "This has to be from 0 to %d.", uint64(audit.MaxSize))
}

// isArray returns an error unless an array is next.
func (d *reader) isArray(pointer string) error {
	if d.PeekKind() == '[' {
		return nil
	}
	if err := d.skip(); err != nil {
		return err
	}
	return newProblem(400, "This has to be an array.").at(pointer)
}

// list reads an array whose elements are read by read.
func (d *reader) list(pointer string, read func(i int) error) error {
	if err := d.isArray(pointer); err != nil {
		return err
	}
	if _, err := d.ReadToken(); err != nil {
		return d.syntax(err)
	}
	for i := 0; ; i++ {
		if kind := d.PeekKind(); kind == ']' || kind == 0 {
			return d.end(']')
		}
		if err := read(i); err != nil {
			return err
		}
	}
}

// decode reads the body of POST /shuffle, or of a request like it.
func (q *shuffleRequest) decode(body []byte, maxItems uint64, f *form) error {
	d := newReader(body)
	defer d.release()
	err := d.object(func(name string) (err error) {
		switch {
		case slices.Contains(f.leftOut, name):
			return newProblem(422, "%s", f.why).at(string(d.StackPointer()))
		case name == "expires_in" && f.expires:
			q.expires, err = d.expiresIn()
			return err
		}
		return q.member(d, name, maxItems)
	})
	if err != nil {
		return err
	}
	return d.finish()
}

// member reads one member of the request.
func (q *shuffleRequest) member(d *reader, name string, maxItems uint64) (err error) {
	switch name {
	case "items":
		return q.readItems(d, maxItems)
	case "deck":
		if q.Deck, err = d.text("/deck"); err == nil && q.Deck == "" {
			err = newProblem(422, "Name a deck type; GET /decks lists them.").at("/deck")
		}
	case "decks":
		q.Decks, err = d.count("/decks")
	case "parameters":
		return q.readParameters(d)
	case "size":
		q.Size, err = d.count("/size")
	case "algorithm":
		q.Algorithm, err = d.algorithm()
	case "draw":
		q.Draw, err = d.count("/draw")
	case "hands":
		return q.readHands(d)
	case "repeat":
		q.Repeat, err = d.count("/repeat")
		q.repeats = true
	case "client_seed":
		q.ClientSeed, err = d.clientSeed()
	case "reference":
		if q.Reference, err = d.text("/reference"); err == nil {
			err = textError(audit.CheckReference(q.Reference), "/reference")
		}
	case "reveal":
		var when string
		if when, err = d.text("/reveal"); err == nil && when != "now" {
			err = newProblem(422, `reveal is "now" or left out.`).at("/reveal")
		}
		q.RevealNow = true
	case "commitment_id":
		var text string
		if text, err = d.text("/commitment_id"); err == nil {
			var ok bool
			if q.CommitmentID, ok = parseID(text); !ok || q.CommitmentID == uuid.Nil {
				err = dealer.ErrNoCommitment
			}
		}
	case "unique_reference":
		q.UniqueReference, err = d.truth("/unique_reference")
	default:
		return newProblem(400, "A shuffle request has no such member; openapi.yaml lists them.").at(string(d.StackPointer()))
	}
	return err
}

// algorithm reads the member of that name.
func (d *reader) algorithm() (string, error) {
	name, err := d.text("/algorithm")
	if err == nil && name == "" {
		err = newProblem(422, "Name an algorithm, or leave it out for fisher-yates.").at("/algorithm")
	}
	return name, err
}

// clientSeed reads client_seed.
func (d *reader) clientSeed() (string, error) {
	text, err := d.text("/client_seed")
	if err == nil {
		err = textError(audit.CheckClientSeed(text), "/client_seed")
	}
	return text, err
}

// textError makes a problem of text that has not the form it needs.
func textError(err error, pointer string) error {
	if err == nil {
		return nil
	}
	return newProblem(400, "%s", sentence(err.Error())).at(pointer)
}

func (q *shuffleRequest) readHands(d *reader) error {
	if d.PeekKind() == '"' {
		preset, err := d.text("/hands")
		if err == nil && preset == "" {
			err = newProblem(422, "Name hand sizes that the deck type has, or give a list of them.").at("/hands")
		}
		q.Preset = preset
		return err
	}
	q.Hands = []uint64{}
	err := d.list("/hands", func(i int) error {
		n, err := d.count("/hands/" + strconv.Itoa(i))
		if err == nil {
			q.Hands = append(q.Hands, *n)
		}
		return err
	})
	if err == nil && len(q.Hands) == 0 {
		err = newProblem(422, "Give at least one hand size, or leave hands out.").at("/hands")
	}
	return err
}

func (q *shuffleRequest) readParameters(d *reader) error {
	if d.PeekKind() != '{' {
		if err := d.skip(); err != nil {
			return err
		}
		return newProblem(400, "This has to be an object of integers.").at("/parameters")
	}
	q.Parameters = map[string]int{}
	return d.object(func(name string) error {
		pointer := string(d.StackPointer())
		n, err := d.count(pointer)
		if err != nil {
			return err
		}
		return q.setParameter(name, *n, func(p *problem) error { return p.at(pointer) })
	})
}

// setParameter sets a parameter of the deck type. What is too large for any is told by the way it was given.
func (q *shuffleRequest) setParameter(name string, n uint64, place func(*problem) error) error {
	const largest = 1 << 20
	if n > largest {
		return place(newProblem(422, "A parameter of a deck type is at most %d.", largest))
	}
	if q.Parameters == nil {
		q.Parameters = map[string]int{}
	}
	q.Parameters[name] = int(n)
	return nil
}
