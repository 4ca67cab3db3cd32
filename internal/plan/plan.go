// Package plan checks what a caller asks for before anything is drawn or recorded.
//
// A [Request] is what the caller sent. [Rules] check it against the deck types and the limits and
// return a [Plan]: the statement that the record will carry, without its seed, and the deck
// behind it. Nothing here reads a store, a clock or randomness, so a request that cannot be done
// costs nothing but its check.
package plan

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shuffle"
)

// A Request asks for a shuffle of one of three inputs: Items, Deck or Size.
type Request struct {
	Items     *Items // the caller's own items
	ItemsSalt string // hides the items from who guesses their digest; empty for none

	Deck       string         // a deck type; empty for none
	Decks      *uint64        // copies of the deck; one if nil
	MaxCards   uint64         // of all copies; 0 for what the rules allow
	Parameters map[string]int // of the deck type

	Size *uint64 // the numbers from 0 to Size-1

	Algorithm  string   // empty for the default, fisher-yates
	Draw       *uint64  // how many items to answer; all if nil
	DrawText   string   // as the caller wrote a draw that is out of any range; Draw is larger than any size then
	Hands      []uint64 // hand sizes; nil for none
	Preset     string   // name of hand sizes that the deck type defines; empty for none
	Repeat     *uint64  // number of independent shuffles; one if nil
	ClientSeed string
	Reference  string
	RevealNow  bool

	CommitmentID    uuid.UUID // the commitment to use, which fills omitted members; or Nil
	UniqueReference bool      // refuse if there is another attempt at the reference
}

// Items describes the caller's items by count and digest. Their values never leave the API.
type Items struct {
	Count  uint64
	Digest [sha256.Size]byte // of the JSON array without insignificant white space
}

// A Plan is a request that passed all checks.
type Plan struct {
	Request   *Request        // with the members that its commitment filled in
	Statement audit.Statement // without its seed
	Deck      *deck.Deck      // nil unless a deck is shuffled
	Copies    uint64          // of the deck

	ItemsDigest string // the rule by which the digest of items was taken; empty for the plain one
}

// Parameters returns those of the deck type, or nil.
func (p *Plan) Parameters() map[string]int {
	if p.Deck == nil {
		return nil
	}
	return p.Deck.Parameters()
}

// Elements returns how many elements a shuffle by the statement holds in memory at once.
func Elements(s *audit.Statement) uint64 {
	if s.Input == audit.RangeInput && shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		return s.Draw
	}
	return s.Size
}

// A FieldError says what is wrong with one member of a request.
type FieldError struct {
	Pointer string // JSON pointer (RFC 6901) into the request
	Detail  string // what is wrong and what is accepted
}

// An Invalid is the error for a well-formed request that cannot be done.
type Invalid struct{ Fields []FieldError }

func (e *Invalid) Error() string {
	var list []string
	for _, f := range e.Fields {
		list = append(list, f.Pointer+": "+f.Detail)
	}
	return strings.Join(list, "; ")
}

// Refuse returns an [Invalid] for the member at a JSON pointer.
func Refuse(pointer, format string, args ...any) error {
	return &Invalid{Fields: []FieldError{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}}}
}
