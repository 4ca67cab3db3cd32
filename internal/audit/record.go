package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/shoe"
	"riffle/internal/shuffle"
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
	ID         uuid.UUID
	Time       time.Time
	Kind       Kind
	Commitment Commitment

	// Of kinds with a statement, see [Record.States].
	Statement  Statement      // without its seed
	Parameters map[string]int // of the deck type, if it has any
	// ItemsDigest is the rule by which the digest in the input was taken of a caller's items; empty
	// for the plain SHA-256. A later version may have rules other than [SaltedItems].
	ItemsDigest string

	ClientSeed string    // of a shuffle, a shoe or a reshuffle; may be empty
	RevealNow  bool      // of a shuffle: its seed is public from the start
	Deadline   time.Time // of a commitment: it can be used before

	// CommitmentID is the record of the commitment that a void voids, or that a shuffle or a shoe
	// used.
	CommitmentID uuid.UUID

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

	// Root is the root over the sealed cards of a shoe or a reshuffle.
	Root *tlog.Hash
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
func (r *Record) ReplacesShoe(first uuid.UUID) bool {
	return r.Kind == KindShoe && r.AuditID == first
}

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
	if !r.Expires.IsZero() && (r.Kind == KindShoe || r.Kind.ChangesShoe()) {
		b = appendTime(b, "expires", r.Expires)
	}
	if r.Root != nil && (r.Kind == KindShoe || r.Kind == KindReshuffle) {
		b = append(b, `,"root":"`...)
		b = append(hex.AppendEncode(b, r.Root[:]), '"')
	}
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, r.Commitment[:])
	return append(b, `"}`...)
}

// appendChange appends the members of a change of a shoe.
func (r *Record) appendChange(b []byte) []byte {
	if !r.Kind.ChangesShoe() {
		return b
	}
	b = append(b, `,"version":`...)
	b = strconv.AppendUint(b, r.Version, 10)
	for _, m := range [...]struct{ name, value string }{
		{"from", string(r.From)}, {"taken", string(r.Taken)}, {"cards", r.Cards.String()}, {"to", string(r.To)}, {"put", string(r.Put)},
	} {
		if m.value != "" {
			b = append(append(append(append(append(b, `,"`...), m.name...), `":"`...), m.value...), '"')
		}
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
	if len(s.Hands) > 0 {
		b = append(appendUints(append(b, `,"hands":[`...), s.Hands), ']')
	}
	b = append(b, `,"input":`...)
	b = appendString(b, s.Input)
	if r.ItemsDigest != "" && r.takesItems() {
		b = appendString(append(b, `,"items_digest":`...), r.ItemsDigest)
	}
	if len(r.Parameters) > 0 {
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

// appendString appends s as a JSON string. It has to be UTF-8.
func appendString(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic("audit: unchecked text in a record: " + err.Error())
	}
	return b
}

// ErrUnknownKind is for a record of a kind that a later version of the service may have added. Its
// id, time and spec are valid; nothing else was checked.
var ErrUnknownKind = errors.New("a record of an unknown kind")

// wireHead is the JSON of the members that records of all kinds have, unknown ones included.
type wireHead struct {
	ID   text `json:"id"`
	Time text `json:"time"`
	Kind text `json:"kind"`
	Spec text `json:"spec"`
}

// wireBody is the JSON of all other members. A missing member is nil or empty, and no other is.
type wireBody struct {
	AuditID      text    `json:"audit_id"`
	Algorithm    text    `json:"algorithm"`
	Size         *number `json:"size"`
	Draw         *number `json:"draw"`
	Repeat       *number `json:"repeat"`
	Hands        numbers `json:"hands"`
	Input        text    `json:"input"`
	ItemsDigest  text    `json:"items_digest"`
	Parameters   values  `json:"parameters"`
	Reference    text    `json:"reference"`
	ClientSeed   text    `json:"client_seed"`
	Reveal       text    `json:"reveal"`
	Deadline     text    `json:"deadline"`
	CommitmentID text    `json:"commitment_id"`
	Commitment   text    `json:"commitment"`
	Version      *number `json:"version"`
	From         text    `json:"from"`
	Taken        text    `json:"taken"`
	Cards        text    `json:"cards"`
	To           text    `json:"to"`
	Put          text    `json:"put"`
	Expires      text    `json:"expires"`
	Root         text    `json:"root"`
}

// errEmpty is for null and for an empty value.
var errEmpty = errors.New("an empty member has to be omitted")

// A text is a string that is not empty.
type text string

// UnmarshalJSON reads a string.
func (t *text) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*string)(t))
	if err == nil && *t == "" {
		err = errEmpty
	}
	return err
}

// A number is a number of digits only.
type number uint64

// UnmarshalJSON reads a number. JSON allows no leading zeros.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(string(b), 10, 64)
	*n = number(v)
	return err
}

// numbers are a list that is not empty.
type numbers []number

// UnmarshalJSON reads an array.
func (l *numbers) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*[]number)(l))
	if err == nil && len(*l) == 0 {
		err = errEmpty
	}
	return err
}

// values are numbers up to [MaxSize] by name. They are not empty.
type values map[string]number

// UnmarshalJSON reads an object.
func (m *values) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*map[string]number)(m)); err != nil {
		return err
	}
	if len(*m) == 0 {
		return errEmpty
	}
	for name, n := range *m {
		if n > MaxSize {
			return fmt.Errorf("%s is above %d", name, uint64(MaxSize))
		}
	}
	return nil
}

// ParseRecord parses a record and checks that it is valid in riffle/1. It ignores members that the
// specification does not name, as later versions may add some; duplicate members are an error. The
// error wraps [ErrUnknownKind] if only the kind is unknown.
func ParseRecord(data []byte) (*Record, error) {
	var head wireHead
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if head.Spec != Spec {
		return nil, fmt.Errorf("the record is of %q, not of %s", head.Spec, Spec)
	}
	r := &Record{Kind: Kind(head.Kind)}
	var err error
	if r.Time, err = parseTime(string(head.Time)); err != nil {
		return nil, fmt.Errorf("the record's time: %w", err)
	}
	if r.ID, err = parseUUID(string(head.ID)); err != nil {
		return nil, fmt.Errorf("the record's id: %w", err)
	}
	if !r.Kind.known() {
		if r.Kind == "" || strings.Trim(string(r.Kind), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return nil, fmt.Errorf("the record's kind %q is not a valid name", r.Kind)
		}
		return nil, fmt.Errorf("%w, %q", ErrUnknownKind, r.Kind)
	}
	var w wireBody
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	r.Taken = shoe.End(w.Taken)
	if name := w.foreign(r); name != "" {
		return nil, fmt.Errorf("a record of kind %s has no %s", r.Kind, name)
	}
	if r.Commitment, err = parseCommitment(string(w.Commitment)); err != nil {
		return nil, err
	}
	if err := r.parseStatement(&w); err != nil {
		return nil, err
	}
	if err := r.parseRest(&w); err != nil {
		return nil, err
	}
	return r, nil
}

// known reports whether records of the kind can be parsed.
func (k Kind) known() bool {
	return k == KindShuffle || k == KindCommitment || k == KindVoid || k == KindReveal || k == KindShoe || k.ChangesShoe()
}

// foreign returns the name of a member that records of this kind do not have, or "".
func (w *wireBody) foreign(r *Record) string {
	states, moves := r.States(), r.Kind.moves()
	ofShoe := r.Kind == KindShoe || r.Kind.ChangesShoe()
	seals := r.Kind == KindShoe || r.Kind == KindReshuffle
	for _, m := range []struct {
		name             string
		present, belongs bool
	}{
		{"audit_id", w.AuditID != "", r.Kind == KindReveal || ofShoe},
		{"algorithm", w.Algorithm != "", states},
		{"size", w.Size != nil, states},
		{"draw", w.Draw != nil, states},
		{"repeat", w.Repeat != nil, states},
		{"hands", w.Hands != nil, states && !ofShoe},
		{"input", w.Input != "", states},
		{"items_digest", w.ItemsDigest != "", r.takesItems()},
		{"parameters", w.Parameters != nil, states},
		{"reference", w.Reference != "", states},
		{"client_seed", w.ClientSeed != "", r.Kind == KindShuffle || seals},
		{"reveal", w.Reveal != "", r.Kind == KindShuffle},
		{"deadline", w.Deadline != "", r.Kind == KindCommitment},
		{"commitment_id", w.CommitmentID != "", r.Kind == KindShuffle || r.Kind == KindVoid || r.Kind == KindShoe},
		{"version", w.Version != nil, r.Kind.ChangesShoe()},
		{"from", w.From != "", moves || r.Kind == KindReshuffle},
		{"taken", w.Taken != "", moves},
		{"cards", w.Cards != "", moves},
		{"to", w.To != "", moves},
		{"put", w.Put != "", moves},
		{"expires", w.Expires != "", ofShoe},
		{"root", w.Root != "", seals},
	} {
		if m.present && !m.belongs {
			return m.name
		}
	}
	return ""
}

// parseStatement parses and checks the statement of a kind that has one.
func (r *Record) parseStatement(w *wireBody) error {
	if !r.States() {
		return nil
	}
	if w.Size == nil || w.Draw == nil || w.Repeat == nil {
		return errors.New("the record's statement: size, draw or repeat is missing")
	}
	r.Statement = Statement{
		Algorithm: shuffle.Algorithm(w.Algorithm), Size: uint64(*w.Size), Draw: uint64(*w.Draw), Repeat: uint64(*w.Repeat),
		Input: string(w.Input), Reference: string(w.Reference),
	}
	for _, n := range w.Hands {
		r.Statement.Hands = append(r.Statement.Hands, uint64(n))
	}
	if err := r.Statement.Check(); err != nil {
		return fmt.Errorf("the record's statement: %w", err)
	}
	if r.ItemsDigest = string(w.ItemsDigest); r.ItemsDigest != "" {
		if !strings.HasPrefix(r.Statement.Input, "items ") || !isRule(r.ItemsDigest) {
			return fmt.Errorf("the record's items_digest is %q, and only records of items have one, such as %q", r.ItemsDigest, SaltedItems)
		}
	}
	for name, n := range w.Parameters {
		if r.Parameters == nil {
			r.Parameters = make(map[string]int, len(w.Parameters))
		}
		r.Parameters[name] = int(n)
	}
	return nil
}

// isRule reports whether text is a name and a version, as in salted/1.
func isRule(text string) bool {
	name, version, _ := strings.Cut(text, "/")
	n, err := strconv.ParseUint(version, 10, 64)
	return isDeckName(name) && err == nil && n > 0 && strconv.FormatUint(n, 10) == version
}

// parseRest parses and checks the members that only records of this kind have.
func (r *Record) parseRest(w *wireBody) (err error) {
	switch r.Kind {
	case KindShuffle:
		return r.parseShuffle(w)
	case KindShoe:
		return r.parseShoe(w)
	case KindDraw, KindAdd, KindReturn, KindReshuffle, KindClose, KindExpire:
		return r.parseChange(w)
	case KindCommitment:
		if r.Deadline, err = parseTime(string(w.Deadline)); err != nil {
			return fmt.Errorf("the record's deadline: %w", err)
		}
		if !r.Deadline.After(r.Time) {
			return errors.New("the record's deadline is not after its time")
		}
	case KindVoid:
		if r.CommitmentID, err = parseUUID(string(w.CommitmentID)); err != nil {
			return fmt.Errorf("the record's commitment_id: %w", err)
		}
	case KindReveal:
		if r.AuditID, err = parseUUID(string(w.AuditID)); err != nil {
			return fmt.Errorf("the record's audit_id: %w", err)
		}
	}
	return nil
}

func (r *Record) parseShuffle(w *wireBody) (err error) {
	r.RevealNow = w.Reveal == "now"
	if w.Reveal != "" && !r.RevealNow {
		return fmt.Errorf("the record's reveal is %q, and only now can be said", w.Reveal)
	}
	return r.parseClient(w)
}

// parseClient parses and checks the client seed and the commitment that was used.
func (r *Record) parseClient(w *wireBody) (err error) {
	r.ClientSeed = string(w.ClientSeed)
	if err := CheckClientSeed(r.ClientSeed); err != nil {
		return fmt.Errorf("the record's client seed: %w", err)
	}
	if w.CommitmentID == "" {
		return nil
	}
	if r.CommitmentID, err = parseUUID(string(w.CommitmentID)); err != nil {
		return fmt.Errorf("the record's commitment_id: %w", err)
	}
	if r.ClientSeed == "" {
		return errors.New("the record used a commitment, and has no client seed")
	}
	return nil
}

// CheckCommitted returns an error unless the record used the commitment c: it has the same
// statement and seed, and is before the deadline. The caller has to check that c is earlier in the
// log.
func (r *Record) CheckCommitted(c *Record) error {
	switch {
	case c.Kind != KindCommitment:
		return fmt.Errorf("the record %s is no commitment", c.ID)
	case !r.UsesCommitment() || r.CommitmentID != c.ID:
		return fmt.Errorf("the record does not say that it used the commitment %s", c.ID)
	case r.Commitment != c.Commitment:
		return fmt.Errorf("the record has the commitment %s, and %s was committed to", r.Commitment, c.Commitment)
	case string(r.Statement.Append(nil)) != string(c.Statement.Append(nil)):
		return errors.New("the record states something else than was committed to")
	case !r.Time.Before(c.Deadline):
		return fmt.Errorf("the record is of %s, and the deadline was %s", r.Time.Format(TimeFormat), c.Deadline.Format(TimeFormat))
	}
	return nil
}

// parseTime parses a time in [TimeFormat].
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(TimeFormat, text)
	// time.Parse accepts a comma, and hours of one digit.
	if err == nil && at.Format(TimeFormat) != text {
		err = fmt.Errorf("%q is not as riffle/1 writes it", text)
	}
	return at, err
}

// parseUUID parses an id of a record: a UUID of version 7 in 36 characters, lower case.
func parseUUID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err == nil && (id.String() != text || id.Version() != 7 || id.Variant() != uuid.RFC4122) {
		err = errors.New("not a lower-case UUID of version 7")
	}
	return id, err
}

// parseCommitment parses a commitment of 64 hex digits, lower case.
func parseCommitment(text string) (c Commitment, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(c) || hex.EncodeToString(raw) != text {
		return c, errors.New("the record's commitment is not 64 hex digits in lower case")
	}
	return Commitment(raw), nil
}
