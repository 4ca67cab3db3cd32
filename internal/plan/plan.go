// Package plan checks requests before anything is drawn or recorded.
//
// [Rules] check a [Request] against deck types and limits and return a [Plan]: the record's
// statement without its seed, and the deck. The package reads no store, clock or randomness, so
// rejecting a request costs nothing else.
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
	DrawText   string   // the draw as sent, if it does not fit in Draw; Draw then exceeds every size
	Hands      []uint64 // hand sizes; nil for none
	Preset     string   // name of the deck type's hand sizes; empty for none
	Repeat     *uint64  // number of independent shuffles; one if nil
	ClientSeed string
	Reference  string
	RevealNow  bool

	CommitmentID    uuid.UUID // the commitment to use, or Nil; it fills in omitted members
	UniqueReference bool      // reject if another record already has the reference
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

	ItemsDigest string // name of the digest rule for items; empty for the unsalted one
}

// Parameters returns the deck's parameters, or nil.
func (p *Plan) Parameters() map[string]int {
	if p.Deck == nil {
		return nil
	}
	return p.Deck.Parameters()
}

// Elements returns the number of elements that a shuffle holds in memory.
func Elements(s *audit.Statement) uint64 {
	if s.Input == audit.RangeInput && shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		return s.Draw
	}
	return s.Size
}

// A FieldError says what is wrong with one member of a request.
type FieldError struct {
	Pointer string // JSON pointer (RFC 6901) into the request
	// Detail says what is wrong and what is accepted, without a final full stop. If it blames a
	// value it begins with the member's name: "draw must be from 0 to 52; got 60".
	Detail string
}

// An Invalid is the error for a well-formed request that the rules reject.
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
