// Package plan checks requests before anything is drawn or recorded.
//
// [Rules] check a [Request] against deck types and limits and return a [Plan]: the record's
// statement without its seed, and the deck. The package reads no store, clock or randomness, so
// rejecting a request costs nothing else.
package plan

import (
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/deck"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
	"riffle/internal/suggest"
)

// A Request asks for a shuffle of exactly one of Items, Deck and Size.
type Request struct {
	Items     *Items // the caller's own items
	ItemsSalt string // hides the items from anyone who guesses their digest; empty for none

	Deck       string         // a deck type; empty for none
	Decks      *uint64        // copies of the deck; one if nil
	MaxCards   uint64         // limit for all copies together; 0 for the limit of the rules
	Parameters map[string]int // of the deck type

	Size *uint64 // the numbers from 0 to Size-1

	Algorithm  string   // empty for the default, fisher-yates
	Draw       *uint64  // number of items to return; all if nil
	Hands      []uint64 // hand sizes; nil for none
	Preset     string   // name of the deck type's hand sizes; empty for none
	Repeat     *uint64  // number of independent shuffles; one if nil
	ClientSeed string
	Reference  string
	RevealNow  bool

	CommitmentID    uuid.UUID // the commitment to use, or Nil; it fills in omitted members
	Count           *uint64   // of the rounds of a book of commitments; nil for none
	UniqueReference bool      // reject if another record already has the reference

	// Beacon is the round whose signature the client seed will be, for a commitment; 0 for none, or
	// for the first one BeaconAfter from now, if that is not zero. BeaconSignature is the signature
	// of the round that the commitment to use names; empty for none.
	Beacon          beacon.Round
	BeaconAfter     time.Duration
	BeaconSignature string

	// Players are those whose seeds the client seed will join, for a commitment; nil for none.
	// PlayerSeeds are their seeds, for the commitment to use; nil for none. Joined is their text,
	// if the client seed is its digest.
	Players     audit.Players
	PlayerSeeds map[string]string
	Joined      string

	// Sent has the digits of integers that are no uint64, by the name of their member. The member
	// is beyond all bounds then.
	Sent map[string]string
}

// sent returns the digits of an integer.
func (q *Request) sent(name string, n uint64) string {
	return cmp.Or(q.Sent[name], strconv.FormatUint(n, 10))
}

// Items describes the caller's items by count and digest. The API keeps the values.
type Items struct {
	Count  uint64
	Digest [sha256.Size]byte // of the JSON array without insignificant whitespace
}

// A Plan is a request that passed all checks.
type Plan struct {
	Request   *Request        // with the members filled in by its commitment
	Statement audit.Statement // without its seed
	Deck      *deck.Deck      // nil unless a deck is shuffled
	Copies    uint64          // of the deck

	Parameters  map[string]int // of the deck, or nil
	ItemsDigest string         // name of the digest rule for items; empty for the unsalted one
}

// Elements returns the number of elements that a shuffle holds in memory.
func Elements(s *audit.Statement) uint64 {
	if s.Input == audit.RangeInput && shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		return s.Draw
	}
	return s.Size
}

// An Invalid is the error for a request that the rules reject. It says what is wrong with the first
// member that is.
type Invalid struct {
	Malformed bool   // the member is not in its form; otherwise it asks for what cannot be
	Pointer   string // JSON pointer (RFC 6901) into the request
	// Detail says what is wrong and what is accepted, without a final full stop. If it blames a
	// value it begins with the member's name: "draw must be from 0 to 52; got 60".
	Detail string
}

func (e *Invalid) Error() string { return e.Pointer + ": " + e.Detail }

// Malformed returns an [Invalid] for the member at a JSON pointer, which is not in its form.
func Malformed(pointer, format string, args ...any) error {
	return &Invalid{Malformed: true, Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

// Refuse returns an [Invalid] for the member at a JSON pointer, which asks for what cannot be.
func Refuse(pointer, format string, args ...any) error {
	return &Invalid{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}
}

// refuseText returns [Refuse] for a text that is in its form, and [Malformed] for any other.
func refuseText(isForm bool) func(pointer, format string, args ...any) error {
	if isForm {
		return Refuse
	}
	return Malformed
}

// Limits bound what one request may ask for.
type Limits struct {
	Items   uint64 // most items to shuffle, and most items to draw
	Results uint64 // most results: repeat times draw
}

const maxHands = 1000 // the record lists all hands

// Rules check requests. They may be used concurrently.
type Rules struct {
	Decks  *deck.Catalogue
	Limits Limits

	// The input lines of single decks. Hashing the cards costs more than most of a shuffle.
	inputs deck.Cache[string]
}

// Check returns the plan of a request. If the request uses a commitment, committed is its record:
// omitted members are filled in from it, and the others must agree with it. The error is an
// [*Invalid].
func (r *Rules) Check(request *Request, committed *audit.Record) (*Plan, error) {
	request, err := fillIn(request, committed)
	if err != nil {
		return nil, err
	}
	p := &Plan{Request: request}
	if err := r.check(p, committed); err != nil {
		return nil, err
	}
	return p, nil
}

func (r *Rules) check(p *Plan, committed *audit.Record) (err error) {
	s := &p.Statement
	s.Reference = p.Request.Reference
	if s.Algorithm, err = Algorithm(p.Request.Algorithm); err != nil {
		return err
	}
	if err := r.checkInput(p); err != nil {
		return err
	}
	if committed != nil {
		if err := compareInput(p, committed); err != nil {
			return err
		}
	}
	if err := r.checkDraw(s, p.Request); err != nil {
		return err
	}
	if err := checkHands(p); err != nil {
		return err
	}
	if n := p.Request.Count; n != nil {
		most := min(audit.MaxRounds, maxBlocks/uint64(rng.Blocks(s.Size, s.Draw)))
		if *n < 2 || *n > most {
			return Refuse("/count", "count must be from 2 to %d rounds of %d of %d; got %s", most, s.Draw, s.Size, p.Request.sent("count", *n))
		}
	}
	if err := CheckMovable(s.Algorithm, s.Size); err != nil || committed == nil {
		return err
	}
	return compare(s, &committed.Statement)
}

// maxBlocks bounds the blocks of all seeds of a book.
const maxBlocks = 1 << 14

// Algorithm returns the algorithm with a name; fisher-yates if the name is empty. The error is an
// [*Invalid].
func Algorithm(name string) (shuffle.Algorithm, error) {
	if name == "" {
		return shuffle.AlgorithmFisherYates, nil
	}
	algorithm := shuffle.Algorithm(name)
	if !algorithm.Known() {
		var list []string
		for _, a := range shuffle.Algorithms() {
			list = append(list, string(a))
		}
		return "", Malformed("/algorithm", "there is no algorithm %s; %s", suggest.Quote(name), suggest.Or(name, list, "there are "+strings.Join(list, ", ")))
	}
	return algorithm, nil
}

// CheckMovable rejects Sattolo's algorithm for a single item, which it cannot move.
func CheckMovable(algorithm shuffle.Algorithm, size uint64) error {
	if !algorithm.Orders(size) {
		return Refuse("/algorithm", "algorithm sattolo moves every item, so it needs at least two items; use another algorithm for one")
	}
	return nil
}

// checkInput sets the statement's input and size.
func (r *Rules) checkInput(p *Plan) error {
	q, s := p.Request, &p.Statement
	inputs := 0
	for _, given := range []bool{q.Items != nil, q.Deck != "", q.Size != nil} {
		if given {
			inputs++
		}
	}
	switch {
	case inputs != 1:
		return Refuse("", "give exactly one of items, deck and size")
	case q.Deck == "" && q.Decks != nil:
		return Refuse("/decks", "decks counts copies of a deck; name one in deck")
	case q.Deck == "" && q.Parameters != nil:
		return Refuse("/parameters", "parameters requires a deck type; name one in deck")
	case q.Deck == "" && q.Preset != "":
		return Refuse("/hands", "hands can be a preset name only with deck; give an array of sizes such as [13,13,13,13]")
	case q.Items == nil && q.ItemsSalt != "":
		return Refuse("/items_salt", "items_salt requires items; give both, or omit items_salt")
	case q.Items != nil:
		digest := q.Items.Digest
		if q.ItemsSalt != "" {
			digest, p.ItemsDigest = audit.SaltItems(digest, q.ItemsSalt), audit.SaltedDigest
		}
		s.Size, s.Input = q.Items.Count, audit.ItemsInput(digest)
		if s.Size > r.Limits.Items {
			return Refuse("/items", "items has %d elements, and at most %d can be shuffled; to draw a few of many, send size and draw instead", s.Size, r.Limits.Items)
		}
	case q.Size != nil:
		s.Size, s.Input = *q.Size, audit.RangeInput
		if s.Size > audit.MaxSize {
			return Refuse("/size", "size must be from 0 to %d; got %d", uint64(audit.MaxSize), s.Size)
		}
	default:
		return r.checkDeck(p)
	}
	return nil
}

// checkDraw sets the statement's draw and repeat, before any memory is reserved for them.
func (r *Rules) checkDraw(s *audit.Statement, q *Request) error {
	s.Draw, s.Repeat = *cmp.Or(q.Draw, &s.Size), *cmp.Or(q.Repeat, new(uint64(1)))
	overflow, results := bits.Mul64(s.Repeat, s.Draw)
	limits := r.Limits
	switch {
	case s.Draw > s.Size:
		return Refuse("/draw", "draw must be from 0 to %d; got %s", s.Size, q.sent("draw", s.Draw))
	case s.Draw > limits.Items && q.Draw == nil:
		return Refuse("/size", "size is %d, but at most %d can be drawn; set draw to the number you need", s.Size, limits.Items)
	case s.Draw > limits.Items:
		return Refuse("/draw", "draw must be at most %d; got %d", limits.Items, s.Draw)
	case s.Size > limits.Items && s.Algorithm != shuffle.AlgorithmFisherYates:
		return Refuse("/algorithm", "algorithm %s shuffles all %d items, and at most %d can be shuffled; use fisher-yates, which can stop early", s.Algorithm, s.Size, limits.Items)
	case s.Repeat < 1:
		return Refuse("/repeat", "repeat must be from 1 to %d; got 0", uint64(audit.MaxSize))
	case s.Draw == 0 && s.Repeat > 1:
		return Refuse("/repeat", "repeat must be 1 if nothing is drawn; got %d", s.Repeat)
	case overflow > 0 || results > limits.Results:
		return Refuse("/repeat", "repeat times draw must be at most %d; split the request", limits.Results)
	}
	return checkCost(s, q)
}

// checkCost rejects a shuffle that verifiers need not replay, because it takes too many steps.
func checkCost(s *audit.Statement, q *Request) error {
	cost := s.Cost()
	if cost <= audit.MaxCost {
		return nil
	}
	one := *s
	one.Repeat = 1
	if most := audit.MaxCost / one.Cost(); most > 0 {
		return Refuse("/repeat", "repeat must be at most %d here; got %d, which takes %d steps to replay, and verifiers replay at most %d", most, s.Repeat, cost, audit.MaxCost)
	}
	pointer := "/size"
	switch {
	case q.Items != nil:
		pointer = "/items"
	case q.Deck != "":
		pointer = "/decks"
	}
	return Refuse(pointer, "replaying a shuffle of %d takes %d steps, and verifiers replay at most %d; shuffle fewer, or draw less than a sixteenth with fisher-yates", s.Size, cost, audit.MaxCost)
}

// checkHands sets the statement's hands.
func checkHands(p *Plan) error {
	s := &p.Statement
	s.Hands = p.Request.Hands
	if p.Request.Preset != "" {
		refuse := refuseText(deck.IsPreset(p.Request.Preset))
		sizes, err := p.Deck.Hands(int(p.Copies), p.Request.Preset)
		if err != nil {
			return refuse("/hands", "%s", err)
		}
		s.Hands = make([]uint64, len(sizes))
		for i, n := range sizes {
			s.Hands[i] = uint64(n)
		}
	}
	if len(s.Hands) > maxHands {
		return Refuse("/hands", "hands has %d sizes, and at most %d can be dealt", len(s.Hands), maxHands)
	}
	dealt := uint64(0)
	for i, n := range s.Hands {
		switch {
		case n < 1:
			return Refuse(fmt.Sprintf("/hands/%d", i), "hands must be from 1 to %d; got 0", uint64(audit.MaxSize))
		case n > s.Draw-dealt:
			return Refuse("/hands", "hands hold more than the %d drawn items: hand %d, from 1, is to have %d, and %d are left", s.Draw, i+1, n, s.Draw-dealt)
		}
		dealt += n
	}
	return nil
}

// checkDeck sets the plan's deck, with the statement's input and size.
func (r *Rules) checkDeck(p *Plan) error {
	q := p.Request
	kind, ok := r.Decks.Type(q.Deck)
	if !ok {
		return refuseText(deck.IsWord(q.Deck))("/deck", "there is no deck type %s; %s", suggest.Quote(q.Deck), r.Decks.Hint(q.Deck))
	}
	var err error
	p.Deck, err = kind.Deck(q.Parameters)
	if parameter := (*deck.ParameterError)(nil); errors.As(err, &parameter) {
		return refuseText(!parameter.Unknown)("/parameters/"+escape(parameter.Name), "%s", parameter.Error())
	} else if err != nil {
		return err
	}
	p.Copies = *cmp.Or(q.Decks, new(uint64(1)))
	most := min(r.Limits.Items, audit.MaxCheckedDeck) / uint64(p.Deck.Size())
	if q.MaxCards > 0 {
		most = min(most, q.MaxCards/uint64(p.Deck.Size()))
	}
	if p.Copies < 1 || p.Copies > most {
		return Refuse("/decks", "decks must be from 1 to %d for a deck of %d; got %s", most, p.Deck.Size(), q.sent("decks", p.Copies))
	}
	p.Statement.Size = p.Copies * uint64(p.Deck.Size())
	p.Statement.Input, p.Parameters = r.inputLine(p.Deck, p.Copies), p.Deck.Parameters()
	return nil
}

// A DeckChangedError reports that a deck type's cards have changed since a record was made.
type DeckChangedError struct {
	AuditID uuid.UUID
	Type    string
}

func (e *DeckChangedError) Error() string {
	return fmt.Sprintf("the deck type %s has changed since the record %s", e.Type, e.AuditID)
}

// DeckOf returns the deck of a record; nil if the record is not of a deck. The error is a
// [*DeckChangedError].
func (r *Rules) DeckOf(record *audit.Record) (*deck.Deck, error) {
	name, copies, ok := audit.DeckOf(record.Statement.Input)
	if !ok {
		return nil, nil
	}
	changed := &DeckChangedError{record.ID, name}
	kind, ok := r.Decks.Type(name)
	if !ok {
		return nil, changed
	}
	cards, err := kind.Deck(record.Parameters)
	if err != nil || r.inputLine(cards, copies) != record.Statement.Input {
		return nil, changed
	}
	return cards, nil
}

// inputLine returns a statement's input line for copies of a deck.
func (r *Rules) inputLine(cards *deck.Deck, copies uint64) string {
	line := func(d *deck.Deck) string { return audit.DeckInput(d.Type().Name, copies, d.Codes()) }
	if copies == 1 {
		return r.inputs.Of(cards, line)
	}
	return line(cards)
}

// escape returns a name as a token of a JSON pointer (RFC 6901).
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
