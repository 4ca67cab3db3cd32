package audit

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"strconv"
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

func (r *Record) takesClientSeed() bool {
	return r.Kind == KindShuffle || r.Kind == KindShoe || r.Kind == KindReshuffle
}

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

// Append appends the record as a JSON object without white space. Empty members are omitted.
func (r *Record) Append(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = appendUUID(b, r.ID)
	b = append(b, `","time":"`...)
	b = r.Time.UTC().AppendFormat(b, TimeFormat)
	b = append(b, `","kind":"`...)
	b = append(b, r.Kind...)
	b = append(b, `","spec":"`+Spec+`"`...)
	if r.Kind == KindReveal || r.Kind.ChangesShoe() || r.Kind == KindShoe && r.AuditID != uuid.Nil {
		b = appendID(b, "audit_id", r.AuditID)
	}
	b = r.appendChange(b)
	if r.States() {
		b = r.appendStatement(b)
	}
	if r.ClientSeed != "" && r.takesClientSeed() {
		b = appendString(append(b, `,"client_seed":`...), r.ClientSeed)
	}
	if r.RevealNow && r.Kind == KindShuffle {
		b = append(b, `,"reveal":"now"`...)
	}
	if r.Kind == KindCommitment {
		b = appendTime(b, "deadline", r.Deadline)
	}
	if r.Kind == KindVoid || r.UsesCommitment() {
		b = appendID(b, "commitment_id", r.CommitmentID)
	}
	if r.Cut != nil && (r.Kind == KindShoe || r.Kind == KindReshuffle) {
		b = appendCut(b, r.Cut)
	}
	if !r.Expires.IsZero() && (r.Kind == KindShoe || r.Kind.ChangesShoe()) {
		b = appendTime(b, "expires", r.Expires)
	}
	if r.Root != nil && (r.Kind == KindShoe || r.Kind == KindReshuffle) {
		b = append(b, `,"root":"`...)
		b = append(hex.AppendEncode(b, r.Root[:]), '"')
	}
	switch {
	case r.Kind == KindLogBegin:
		b = appendString(append(b, `,"predecessor":`...), r.Predecessor)
		b = appendString(append(b, `,"checkpoint":`...), r.Checkpoint)
	case r.Kind == KindLogEnd && r.Successor != "":
		b = appendString(append(b, `,"successor":`...), r.Successor)
	case r.Kind != KindLogEnd:
		b = append(b, `,"commitment":"`...)
		b = append(hex.AppendEncode(b, r.Commitment[:]), '"')
	}
	return append(b, '}')
}

// appendChange appends the members of a change of a shoe.
func (r *Record) appendChange(b []byte) []byte {
	if !r.Kind.ChangesShoe() {
		return b
	}
	b = append(b, `,"version":`...)
	b = strconv.AppendUint(b, r.Version, 10)
	moves := r.Kind.moves()
	for _, m := range [...]struct {
		name, value string
		belongs     bool
	}{
		{"from", string(r.From), moves || r.Kind == KindReshuffle},
		{"taken", string(r.Taken), moves},
		{"cards", r.Cards.String(), moves},
		{"to", string(r.To), moves},
		{"put", string(r.Put), moves},
	} {
		if m.belongs && m.value != "" {
			b = append(append(append(append(append(b, `,"`...), m.name...), `":"`...), m.value...), '"')
		}
	}
	return b
}

// appendCut appends where the cut card lies, and the range that this was drawn from.
func appendCut(b []byte, c *shoe.Cut) []byte {
	b = strconv.AppendUint(append(b, `,"cut":`...), c.At, 10)
	if c.IsDrawn() {
		b = append(appendUints(append(b, `,"cut_range":[`...), []uint64{c.From, c.To}), ']')
	}
	return b
}

// appendTime appends a member that is a time.
func appendTime(b []byte, name string, at time.Time) []byte {
	b = append(append(append(b, `,"`...), name...), `":"`...)
	return append(at.UTC().AppendFormat(b, TimeFormat), '"')
}

// appendStatement appends the members of the statement, without its seed.
func (r *Record) appendStatement(b []byte) []byte {
	s := &r.Statement
	b = append(b, `,"algorithm":"`...)
	b = append(b, s.Algorithm...)
	b = append(b, `","size":`...)
	b = strconv.AppendUint(b, s.Size, 10)
	b = append(b, `,"draw":`...)
	b = strconv.AppendUint(b, s.Draw, 10)
	b = append(b, `,"repeat":`...)
	b = strconv.AppendUint(b, s.Repeat, 10)
	if len(s.Hands) > 0 && (r.Kind == KindShuffle || r.Kind == KindCommitment) {
		b = append(appendUints(append(b, `,"hands":[`...), s.Hands), ']')
	}
	b = append(b, `,"input":`...)
	b = appendString(b, s.Input)
	if r.ItemsDigest != "" && r.takesItems() {
		b = appendString(append(b, `,"items_digest":`...), r.ItemsDigest)
	}
	if len(r.Parameters) > 0 && !r.Kind.ChangesShoe() {
		parameters, err := json.Marshal(r.Parameters, json.Deterministic(true))
		if err != nil {
			panic("audit: integers do not marshal: " + err.Error())
		}
		b = append(append(b, `,"parameters":`...), parameters...)
	}
	if s.Reference != "" {
		b = appendString(append(b, `,"reference":`...), s.Reference)
	}
	return b
}

// appendID appends a member that names another record.
func appendID(b []byte, name string, id uuid.UUID) []byte {
	b = append(append(append(b, `,"`...), name...), `":"`...)
	return append(appendUUID(b, id), '"')
}

// appendUUID appends the id in its text form of 36 characters.
func appendUUID(b []byte, id uuid.UUID) []byte {
	text, _ := id.MarshalText() // never fails
	return append(b, text...)
}

// appendString appends s, which must be UTF-8, as a JSON string.
func appendString(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
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
