package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/shoe"
)

// A Kind says what a record records.
type Kind string

// The kinds of record.
const (
	KindShuffle    Kind = "shuffle"    // an order was made
	KindCommitment Kind = "commitment" // seed and statement of a later shuffle were fixed
	KindVoid       Kind = "void"       // a commitment was not used in time
	KindReveal     Kind = "reveal"     // the seed of an earlier record became public

	KindShoe      Kind = "shoe"      // a deck was sealed, to be dealt card by card
	KindDraw      Kind = "draw"      // cards were taken from the deck of a shoe or from a pile
	KindAdd       Kind = "add"       // cards that had been dealt were put on a pile
	KindReturn    Kind = "return"    // cards were put back into the deck
	KindReshuffle Kind = "reshuffle" // cards of a shoe were sealed in a new order
	KindClose     Kind = "close"     // a shoe was closed, and its seeds became public
	KindExpire    Kind = "expire"    // a shoe expired: nothing more is dealt from it

	KindLogEnd   Kind = "log-end"   // the last record of a log
	KindLogBegin Kind = "log-begin" // the first record of a log that follows another one
)

// ChangesShoe reports whether a record of the kind changes a shoe.
func (k Kind) ChangesShoe() bool {
	return k.moves() || k == KindReshuffle || k == KindClose || k == KindExpire
}

// moves reports whether a record of the kind moves cards.
func (k Kind) moves() bool { return k == KindDraw || k == KindAdd || k == KindReturn }

// TimeFormat is how a record writes its time: RFC 3339 in UTC with microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// A Record is the public record of an event. It has no seed and nothing that tells about an order:
// the commitment covers the seed. The bytes of [Record.Append] are stored, hashed and served; they
// are never encoded again from a parsed record.
type Record struct {
	ID         uuid.UUID  `json:"id"`
	Time       time.Time  `json:"time"`
	Kind       Kind       `json:"kind"`
	Commitment Commitment `json:"commitment"`

	// Of kinds with a statement, see [Record.States].
	Statement  Statement      `json:",embed"`     // without its seed
	Parameters map[string]int `json:"parameters"` // of the deck type, if it has any
	// ItemsDigest is the rule by which the digest in the input was taken of a caller's items; empty
	// for the plain SHA-256. A later version may have rules other than [SaltedItems].
	ItemsDigest string `json:"items_digest"`

	ClientSeed string    `json:"client_seed"` // of a shuffle, a shoe or a reshuffle; may be empty
	RevealNow  bool      `json:"reveal"`      // of a shuffle: its seed is public from the start
	Deadline   time.Time `json:"deadline"`    // of a commitment: it can be used before

	// CommitmentID is the record of the commitment that a void voids, or that a shuffle or a shoe
	// used.
	CommitmentID uuid.UUID `json:"commitment_id"`

	// AuditID is the record whose seed a reveal makes public, the first record of the shoe that a
	// record changes, or the first record of the shoe that a shoe replaces.
	AuditID uuid.UUID `json:"audit_id"`

	// Of a change of a shoe.
	Version uint64     `json:"version"` // the version of the shoe that it made, from 2
	From    shoe.Place `json:"from"`    // where moved or reshuffled cards lay
	Taken   shoe.End   `json:"taken"`   // how moved cards were chosen
	Cards   shoe.Cards `json:"cards"`   // the moved cards, in the order in which they were taken
	To      shoe.Place `json:"to"`      // where they were put
	Put     shoe.End   `json:"put"`     // at which end; empty for dealt cards

	// Expires is when the shoe expires, unless a later record says otherwise. It may be zero.
	Expires time.Time `json:"expires"`

	// Cut is where the cut card of a shoe or a reshuffle lies; nil for none.
	Cut *shoe.Cut `json:"cut"`

	// Root is the root over the sealed cards of a shoe or a reshuffle.
	Root *tlog.Hash `json:"root"`

	// Successor and Predecessor are verifier keys: of the log that follows the one that ends, which may
	// be empty, and of the one that a log follows. Checkpoint is the last one of that log, a signed note.
	Successor   string `json:"successor"`
	Predecessor string `json:"predecessor"`
	Checkpoint  string `json:"checkpoint"`
}

// States reports whether the record has a statement.
func (r *Record) States() bool { return r.Kind == KindCommitment || r.Deals() }

// Deals reports whether the record and its seed determine an order.
func (r *Record) Deals() bool {
	return r.Kind == KindShuffle || r.Kind == KindShoe || r.Kind == KindReshuffle || r.Kind == KindDraw && r.Taken == shoe.Random
}

// seals reports whether the record may seal the cards of a shoe in an order.
func (r *Record) seals() bool { return r.Kind == KindShoe || r.Kind == KindReshuffle }

func (r *Record) takesClientSeed() bool { return r.Kind == KindShuffle || r.seals() }

// takesItems reports whether a record of the kind may be of a caller's items.
func (r *Record) takesItems() bool {
	return r.Kind == KindShuffle || r.Kind == KindCommitment || r.Kind == KindShoe
}

// IsOfShoe reports whether the record is the first of a shoe, by its id, or a change of that shoe.
func (r *Record) IsOfShoe(first uuid.UUID) bool {
	return r.Kind == KindShoe && r.ID == first || r.Kind.ChangesShoe() && r.AuditID == first
}

// ReplacesShoe reports whether the record begins a shoe that takes over the id of the one with the
// first record.
func (r *Record) ReplacesShoe(first uuid.UUID) bool { return r.Kind == KindShoe && r.AuditID == first }

// UsesCommitment reports whether the record used an earlier commitment.
func (r *Record) UsesCommitment() bool {
	return (r.Kind == KindShuffle || r.Kind == KindShoe) && r.CommitmentID != uuid.Nil
}

// PredecessorSize returns the number of records of the log that a log-begin follows.
func (r *Record) PredecessorSize() uint64 {
	size, _ := strconv.ParseUint(strings.Split(r.Checkpoint, "\n")[1], 10, 64) // which check found
	return size
}

// A member is one of the JSON of a record.
type member struct {
	name  string
	has   func(r *Record) bool
	value func(r *Record) any // a pointer, except for a map
}

// members are all members, in their order.
var members = []member{
	{"id", always, func(r *Record) any { return &r.ID }},
	{"time", always, func(r *Record) any { return &r.Time }},
	{"kind", always, func(r *Record) any { return (*string)(&r.Kind) }},
	{"spec", always, func(*Record) any { return &spec }},
	{"audit_id", (*Record).namesAnother, func(r *Record) any { return &r.AuditID }},
	{"version", func(r *Record) bool { return r.Kind.ChangesShoe() }, func(r *Record) any { return &r.Version }},
	{"from", func(r *Record) bool { return (r.Kind.moves() || r.Kind == KindReshuffle) && r.From != "" }, func(r *Record) any { return (*string)(&r.From) }},
	{"taken", func(r *Record) bool { return r.Kind.moves() && r.Taken != "" }, func(r *Record) any { return (*string)(&r.Taken) }},
	{"cards", func(r *Record) bool { return r.Kind.moves() && r.Cards.Len() > 0 }, func(r *Record) any { return &r.Cards }},
	{"to", func(r *Record) bool { return r.Kind.moves() && r.To != "" }, func(r *Record) any { return (*string)(&r.To) }},
	{"put", func(r *Record) bool { return r.Kind.moves() && r.Put != "" }, func(r *Record) any { return (*string)(&r.Put) }},
	{"algorithm", (*Record).States, func(r *Record) any { return (*string)(&r.Statement.Algorithm) }},
	{"size", (*Record).States, func(r *Record) any { return &r.Statement.Size }},
	{"draw", (*Record).States, func(r *Record) any { return &r.Statement.Draw }},
	{"repeat", (*Record).States, func(r *Record) any { return &r.Statement.Repeat }},
	{"hands", func(r *Record) bool {
		return (r.Kind == KindShuffle || r.Kind == KindCommitment) && len(r.Statement.Hands) > 0
	}, func(r *Record) any { return &r.Statement.Hands }},
	{"input", (*Record).States, func(r *Record) any { return &r.Statement.Input }},
	{"items_digest", func(r *Record) bool { return r.takesItems() && r.ItemsDigest != "" }, func(r *Record) any { return &r.ItemsDigest }},
	{"parameters", func(r *Record) bool { return r.takesItems() && len(r.Parameters) > 0 }, func(r *Record) any { return r.Parameters }},
	{"reference", func(r *Record) bool { return r.States() && r.Statement.Reference != "" }, func(r *Record) any { return &r.Statement.Reference }},
	{"client_seed", func(r *Record) bool { return r.takesClientSeed() && r.ClientSeed != "" }, func(r *Record) any { return &r.ClientSeed }},
	{"reveal", func(r *Record) bool { return r.Kind == KindShuffle && r.RevealNow }, func(*Record) any { return &now }},
	{"deadline", func(r *Record) bool { return r.Kind == KindCommitment }, func(r *Record) any { return &r.Deadline }},
	{"commitment_id", func(r *Record) bool { return r.Kind == KindVoid || r.UsesCommitment() }, func(r *Record) any { return &r.CommitmentID }},
	{"cut", func(r *Record) bool { return r.seals() && r.Cut != nil }, func(r *Record) any { return &r.Cut.At }},
	{"cut_range", func(r *Record) bool { return r.seals() && r.Cut != nil && r.Cut.IsDrawn() }, func(r *Record) any { return &[]uint64{r.Cut.From, r.Cut.To} }},
	{"expires", func(r *Record) bool { return (r.Kind == KindShoe || r.Kind.ChangesShoe()) && !r.Expires.IsZero() }, func(r *Record) any { return &r.Expires }},
	{"root", func(r *Record) bool { return r.seals() && r.Root != nil }, func(r *Record) any { return (*[sha256.Size]byte)(r.Root) }},
	{"successor", func(r *Record) bool { return r.Kind == KindLogEnd && r.Successor != "" }, func(r *Record) any { return &r.Successor }},
	{"predecessor", func(r *Record) bool { return r.Kind == KindLogBegin }, func(r *Record) any { return &r.Predecessor }},
	{"checkpoint", func(r *Record) bool { return r.Kind == KindLogBegin }, func(r *Record) any { return &r.Checkpoint }},
	{"commitment", func(r *Record) bool { return r.Kind != KindLogBegin && r.Kind != KindLogEnd }, func(r *Record) any { return (*[sha256.Size]byte)(&r.Commitment) }},
}

var spec, now = Spec, "now"

func always(*Record) bool { return true }

// namesAnother reports whether AuditID is of another record than the first of a log or a shoe.
func (r *Record) namesAnother() bool {
	return r.Kind == KindReveal || r.Kind.ChangesShoe() || r.Kind == KindShoe && r.AuditID != uuid.Nil
}

// Append appends the record as a JSON object without white space. Empty members are omitted.
func (r *Record) Append(b []byte) []byte {
	separator := byte('{')
	for i := range members {
		if m := &members[i]; m.has(r) {
			b = append(append(append(b, separator, '"'), m.name...), `":`...)
			b = appendValue(b, m.value(r))
			separator = ','
		}
	}
	return append(b, '}')
}

// appendUUID appends an id. By itself it needs no allocation with every profile of the compiler.
func appendUUID(b []byte, id uuid.UUID) []byte {
	text, _ := id.MarshalText() // never fails
	return append(b, text...)
}

// appendValue appends a value of a record.
func appendValue(b []byte, value any) []byte {
	var err error
	switch v := value.(type) {
	case *uint64:
		return strconv.AppendUint(b, *v, 10)
	case *[]uint64:
		return append(appendUints(append(b, '['), *v), ']')
	case *uuid.UUID:
		return append(appendUUID(append(b, '"'), *v), '"')
	case *time.Time:
		return append(v.UTC().AppendFormat(append(b, '"'), TimeFormat), '"')
	case *[sha256.Size]byte:
		return append(hex.AppendEncode(append(b, '"'), v[:]), '"')
	case *shoe.Cards:
		return append(v.Append(append(b, '"')), '"')
	case *string:
		b, err = jsontext.AppendQuote(b, *v)
	case map[string]int:
		var text []byte
		text, err = json.Marshal(v, json.Deterministic(true))
		b = append(b, text...)
	}
	if err != nil {
		panic("audit: unchecked text in a record: " + err.Error())
	}
	return b
}

// CheckCommitted checks that the record used the commitment c: it has the same statement and seed,
// and is before the deadline. The caller must check that c is earlier in the log.
func (r *Record) CheckCommitted(c *Record) error {
	return cmp.Or(
		Rule(c.Kind == KindCommitment, "the record %s is no commitment", c.ID),
		Rule(r.UsesCommitment() && r.CommitmentID == c.ID, "the record does not say that it used the commitment %s", c.ID),
		Rule(r.Commitment == c.Commitment, "the record has the commitment %s, and %s was committed to", r.Commitment, c.Commitment),
		Rule(bytes.Equal(r.Statement.Append(nil), c.Statement.Append(nil)), "the record states something other than the commitment"),
		Rule(r.Time.Before(c.Deadline), "the record is of %s, and the deadline was %s", r.Time.Format(TimeFormat), c.Deadline.Format(TimeFormat)),
	)
}
