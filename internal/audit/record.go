package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit/message"
	"riffle/internal/beacon"
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
)

// ChangesShoe reports whether a record of the kind changes a shoe.
func (k Kind) ChangesShoe() bool {
	return slices.Contains([]Kind{KindDraw, KindAdd, KindReturn, KindReshuffle, KindClose, KindExpire}, k)
}

// TimeFormat is how a record writes its time: RFC 3339 in UTC with microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// A Record is the public record of an event. It has no seed and nothing that tells about an order:
// the commitment covers the seed. The bytes of [Record.Append] are stored, hashed and served; they
// are never encoded again from a parsed record.
type Record struct {
	ID         uuid.UUID
	Time       time.Time
	Kind       Kind
	Commitment Commitment

	// Of kinds with a statement, see [Record.States].
	Statement  Statement      // without its seed
	Parameters map[string]int // of the deck type, if it has any
	// ItemsDigest is the rule by which the digest in the input was taken of a caller's items; empty
	// for the plain SHA-256. A later version may have rules other than [SaltedDigest].
	ItemsDigest string

	ClientSeed string    // of a shuffle, a shoe or a reshuffle; may be empty
	RevealNow  bool      // of a shuffle: its seed is public from the start
	Deadline   time.Time // of a commitment: it can be used before
	Beacon     string    // of a commitment: the round whose signature is the client seed; or empty
	Players    Players   // of a commitment: those whose seeds make the client seed; nil for none

	// CommitmentID is the record of the commitment that a void voids, or that a shuffle or a shoe
	// used.
	CommitmentID uuid.UUID

	// Joined is the text of the players' seeds, if the client seed is its digest; or empty.
	Joined string

	// Count is the number of rounds of a book of commitments; 0 without one. Of a shuffle, Round is
	// the round that it used, from 1, and Path leads from its commitment to the book's. Of a void,
	// Round is the first that was not used.
	Count uint64
	Round uint64
	Path  []tlog.Hash

	// AuditID is the record whose seed a reveal makes public, the first record of the shoe that a
	// record changes, or the first record of the shoe that a shoe replaces.
	AuditID uuid.UUID

	// Of a change of a shoe.
	Version uint64     // the version of the shoe that it made, from 2
	From    shoe.Place // where moved or reshuffled cards lay
	Taken   shoe.End   // how moved cards were chosen
	Cards   shoe.Cards // the moved cards, in the order in which they were taken
	To      shoe.Place // where they were put
	Put     shoe.End   // at which end; empty for dealt cards

	// Expires is when the shoe expires, unless a later record says otherwise. It may be zero.
	Expires time.Time

	// Cut is where the cut card of a shoe or a reshuffle lies; nil for none.
	Cut *shoe.Cut

	// Root is the root over the sealed cards of a shoe or a reshuffle.
	Root *tlog.Hash
}

// States reports whether the record has a statement.
func (r *Record) States() bool { return r.Kind == KindCommitment || r.Deals() }

// Deals reports whether the record and its seed determine an order.
func (r *Record) Deals() bool {
	return r.Kind == KindShuffle || r.Kind == KindShoe || r.Kind == KindReshuffle || r.Kind == KindDraw && r.Taken == shoe.Random
}

// Seals reports whether the record may seal the cards of a shoe in an order.
func (r *Record) Seals() bool { return r.Kind == KindShoe || r.Kind == KindReshuffle }

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

// EndsCommitment reports whether the record used or voided a commitment so that nothing of it is
// left: all but the last round of a book leave something.
func (r *Record) EndsCommitment() bool {
	return r.Kind == KindVoid || r.UsesCommitment() && r.Round == r.Count
}

// Append appends the record as a JSON object without white space. Empty members are omitted.
func (r *Record) Append(b []byte) []byte {
	separator := byte('{')
	for _, u := range uses[r.Kind] {
		if u.allows(r) && (!u.isOptional || !isEmpty(u.value(r))) {
			b = append(append(append(b, separator, '"'), u.name...), `":`...)
			b = appendValue(b, u.value(r))
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
	case *cutRange:
		return append(appendUints(append(b, '['), []uint64{v.From, v.To}), ']')
	case *uuid.UUID:
		return append(appendUUID(append(b, '"'), *v), '"')
	case *time.Time:
		return append(v.UTC().AppendFormat(append(b, '"'), TimeFormat), '"')
	case *[sha256.Size]byte:
		return append(hex.AppendEncode(append(b, '"'), v[:]), '"')
	case *[]tlog.Hash:
		separator := byte('[')
		for _, hash := range *v {
			b = append(hex.AppendEncode(append(b, separator, '"'), hash[:]), '"')
			separator = ','
		}
		b = append(b, ']')
	case *shoe.Cards:
		return append(v.Append(append(b, '"')), '"')
	case *string:
		b, err = jsontext.AppendQuote(b, *v)
	case *bool:
		return append(b, `"now"`...)
	case *specName:
		return append(b, `"`+Spec+`"`...)
	case *map[string]int, *Players:
		var text []byte
		text, err = json.Marshal(v, json.Deterministic(true))
		b = append(b, text...)
	}
	if err != nil {
		panic("audit: unchecked text in a record: " + err.Error())
	}
	return b
}

// CheckCommitted checks that the record used the commitment c, or a round of it if that is a book:
// it has the same statement and seed, is before the deadline, and its client seed is the signature
// of the beacon's round, or joins the seeds of the players, if c names them. The caller must check
// that c is earlier in the log. The error wraps [beacon.ErrUnknown] if all else holds, and the
// signature cannot be checked.
func (r *Record) CheckCommitted(c *Record) error {
	return cmp.Or(
		message.Rule(c.Kind == KindCommitment, "why.commitment.kind", nil),
		message.Rule(r.UsesCommitment() && r.CommitmentID == c.ID, "why.commitment.id", message.Values{"id": c.ID.String()}),
		message.Rule(r.Count == c.Count, "why.commitment.book", message.Values{"has": r.Count, "count": c.Count}),
		message.Rule(c.Count == 0 || r.isRoundOf(c), "why.commitment.path", message.Values{"round": r.Round}),
		message.Rule(c.Count > 0 || r.Commitment == c.Commitment, "why.commitment.value", message.Values{"has": r.Commitment.String(), "made": c.Commitment.String()}),
		message.Rule(bytes.Equal(r.Statement.Append(nil), c.Statement.Append(nil)), "why.commitment.statement", nil),
		message.Rule(r.Time.Before(c.Deadline), "why.commitment.deadline", message.Values{"time": r.Time.Format(TimeFormat), "deadline": c.Deadline.Format(TimeFormat)}),
		r.checkPlayers(c),
		c.checkSignature(r.ClientSeed),
	)
}

// checkSignature checks that a client seed is the signature of the commitment's beacon, if it has
// one.
func (r *Record) checkSignature(clientSeed string) error {
	round, isKnown := beacon.Parse(r.Beacon)
	switch {
	case r.Beacon == "":
		return nil
	case !isKnown:
		return message.New("why.beacon.unknown", message.Values{"beacon": r.Beacon}).Because(beacon.ErrUnknown)
	}
	return message.Rule(round.Check(clientSeed) == nil, "why.beacon", message.Values{"beacon": r.Beacon})
}
