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

	"riffle/internal/shuffle"
)

// A Kind says what a record is about.
type Kind string

// The kinds of record.
const (
	KindShuffle    Kind = "shuffle"    // an order was made
	KindCommitment Kind = "commitment" // seed and statement of a later shuffle were fixed
	KindVoid       Kind = "void"       // a commitment was not used in time
	KindReveal     Kind = "reveal"     // the seed of an earlier record became public
)

// TimeFormat is how a record writes its time: RFC 3339 in UTC with microseconds.
const TimeFormat = "2006-01-02T15:04:05.000000Z"

// A Record is what is kept of an event and shown to everyone. It holds no seed, and nothing that an order could be
// guessed from: the commitment covers the seed. The bytes that [Record.Append] makes are what is stored, hashed and
// served; they are never made anew from a parsed record.
type Record struct {
	ID           uuid.UUID
	Time         time.Time
	Kind         Kind
	Statement    Statement      // of a shuffle and a commitment; without its seed
	Parameters   map[string]int // of the deck type, where it has any
	ClientSeed   string         // of a shuffle; may be empty
	RevealNow    bool           // of a shuffle: the seed is public from the start
	Deadline     time.Time      // of a commitment: until when it can be used
	CommitmentID uuid.UUID      // of a void, and of a shuffle that used a commitment: the commitment's record
	AuditID      uuid.UUID      // of a reveal: the record whose seed becomes public
	Commitment   Commitment
}

// Append appends the record as a JSON object without white space. Members that say nothing are left out.
func (r *Record) Append(b []byte) []byte {
	b = append(b, `{"id":"`...)
	b = appendUUID(b, r.ID)
	b = append(b, `","time":"`...)
	b = r.Time.UTC().AppendFormat(b, TimeFormat)
	b = append(b, `","kind":"`...)
	b = append(b, r.Kind...)
	b = append(b, `","spec":"`+Spec+`"`...)
	switch r.Kind {
	case KindShuffle:
		b = r.appendStatement(b)
		if r.ClientSeed != "" {
			b = appendString(append(b, `,"client_seed":`...), r.ClientSeed)
		}
		if r.RevealNow {
			b = append(b, `,"reveal":"now"`...)
		}
		if r.CommitmentID != uuid.Nil {
			b = appendID(b, "commitment_id", r.CommitmentID)
		}
	case KindCommitment:
		b = r.appendStatement(b)
		b = append(b, `,"deadline":"`...)
		b = r.Deadline.UTC().AppendFormat(b, TimeFormat)
		b = append(b, '"')
	case KindVoid:
		b = appendID(b, "commitment_id", r.CommitmentID)
	case KindReveal:
		b = appendID(b, "audit_id", r.AuditID)
	}
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, r.Commitment[:])
	return append(b, `"}`...)
}

// appendStatement appends the members of the statement but its seed.
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

// appendUUID appends the 36 characters of the id, as its String does, without the string.
func appendUUID(b []byte, id uuid.UUID) []byte {
	text, _ := id.MarshalText() // never fails
	return append(b, text...)
}

// appendString appends s as a JSON string. Callers have checked that it is UTF-8.
func appendString(b []byte, s string) []byte {
	b, err := jsontext.AppendQuote(b, s)
	if err != nil {
		panic("audit: unchecked text in a record: " + err.Error())
	}
	return b
}

// ErrUnknownKind is for a record of a kind that a later version of the service may have added. Its id, time and spec are
// as they should be; nothing else was read.
var ErrUnknownKind = errors.New("a record of an unknown kind")

// wireHead is the JSON of what records of every kind have, the unknown ones too.
type wireHead struct {
	ID   text `json:"id"`
	Time text `json:"time"`
	Kind text `json:"kind"`
	Spec text `json:"spec"`
}

// wireBody is the JSON of everything else. What is not there is nil or empty, and what is there never is.
type wireBody struct {
	AuditID      text    `json:"audit_id"`
	Algorithm    text    `json:"algorithm"`
	Size         *number `json:"size"`
	Draw         *number `json:"draw"`
	Repeat       *number `json:"repeat"`
	Hands        numbers `json:"hands"`
	Input        text    `json:"input"`
	Parameters   values  `json:"parameters"`
	Reference    text    `json:"reference"`
	ClientSeed   text    `json:"client_seed"`
	Reveal       text    `json:"reveal"`
	Deadline     text    `json:"deadline"`
	CommitmentID text    `json:"commitment_id"`
	Commitment   text    `json:"commitment"`
}

// errSaysNothing is for an empty value and for null: a record leaves the member out.
var errSaysNothing = errors.New("a member that says nothing is left out")

// A text is a string that is not empty.
type text string

// UnmarshalJSON reads a string.
func (t *text) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*string)(t))
	if err == nil && *t == "" {
		err = errSaysNothing
	}
	return err
}

// A number is written with digits alone.
type number uint64

// UnmarshalJSON reads a number, of which JSON has no leading zeros.
func (n *number) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseUint(string(b), 10, 64)
	*n = number(v)
	return err
}

// numbers are at least one.
type numbers []number

// UnmarshalJSON reads an array.
func (l *numbers) UnmarshalJSON(b []byte) error {
	err := json.Unmarshal(b, (*[]number)(l))
	if err == nil && len(*l) == 0 {
		err = errSaysNothing
	}
	return err
}

// values are at least one number by its name, none above [MaxSize].
type values map[string]number

// UnmarshalJSON reads an object.
func (m *values) UnmarshalJSON(b []byte) error {
	if err := json.Unmarshal(b, (*map[string]number)(m)); err != nil {
		return err
	}
	if len(*m) == 0 {
		return errSaysNothing
	}
	for name, n := range *m {
		if n > MaxSize {
			return fmt.Errorf("%s is above %d", name, uint64(MaxSize))
		}
	}
	return nil
}

// ParseRecord reads a record and checks that it is one that riffle/1 can make. Members that the specification does not
// name are passed over, for later versions may say more; double ones are an error. The error wraps [ErrUnknownKind] where
// nothing but the kind stands against the record.
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
	switch r.Kind {
	case KindShuffle, KindCommitment, KindVoid, KindReveal:
	default:
		if r.Kind == "" || strings.Trim(string(r.Kind), "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return nil, fmt.Errorf("the record's kind is %q, which is no name of one", r.Kind)
		}
		return nil, fmt.Errorf("%w, %q", ErrUnknownKind, r.Kind)
	}
	var w wireBody
	if err := json.Unmarshal(data, &w); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if name := w.foreign(r.Kind); name != "" {
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

// foreign returns the name of a member that is there and that records of this kind do not have, or nothing.
func (w *wireBody) foreign(kind Kind) string {
	states := kind == KindShuffle || kind == KindCommitment
	for _, m := range []struct {
		name           string
		there, belongs bool
	}{
		{"audit_id", w.AuditID != "", kind == KindReveal},
		{"algorithm", w.Algorithm != "", states},
		{"size", w.Size != nil, states},
		{"draw", w.Draw != nil, states},
		{"repeat", w.Repeat != nil, states},
		{"hands", w.Hands != nil, states},
		{"input", w.Input != "", states},
		{"parameters", w.Parameters != nil, states},
		{"reference", w.Reference != "", states},
		{"client_seed", w.ClientSeed != "", kind == KindShuffle},
		{"reveal", w.Reveal != "", kind == KindShuffle},
		{"deadline", w.Deadline != "", kind == KindCommitment},
		{"commitment_id", w.CommitmentID != "", kind == KindShuffle || kind == KindVoid},
	} {
		if m.there && !m.belongs {
			return m.name
		}
	}
	return ""
}

// parseStatement reads and checks the statement of a kind that has one.
func (r *Record) parseStatement(w *wireBody) error {
	if r.Kind != KindShuffle && r.Kind != KindCommitment {
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
	for name, n := range w.Parameters {
		if r.Parameters == nil {
			r.Parameters = make(map[string]int, len(w.Parameters))
		}
		r.Parameters[name] = int(n)
	}
	return nil
}

// parseRest reads and checks what only records of this kind have.
func (r *Record) parseRest(w *wireBody) (err error) {
	switch r.Kind {
	case KindShuffle:
		return r.parseShuffle(w)
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
	r.ClientSeed, r.RevealNow = string(w.ClientSeed), w.Reveal == "now"
	if err := CheckClientSeed(r.ClientSeed); err != nil {
		return fmt.Errorf("the record's client seed: %w", err)
	}
	if w.Reveal != "" && !r.RevealNow {
		return fmt.Errorf("the record's reveal is %q, and only now can be said", w.Reveal)
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

// CheckCommitted returns an error unless the record of a shuffle used the commitment: the same statement from the same
// seed, before the deadline. Which of the two is earlier in the log, the caller has to see to.
func (r *Record) CheckCommitted(c *Record) error {
	switch {
	case c.Kind != KindCommitment:
		return fmt.Errorf("the record %s is no commitment", c.ID)
	case r.Kind != KindShuffle || r.CommitmentID != c.ID:
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

// parseTime reads a time as records write it.
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(TimeFormat, text)
	if err == nil && at.Format(TimeFormat) != text { // time.Parse takes a comma, and hours of one digit
		err = fmt.Errorf("%q is not as riffle/1 writes it", text)
	}
	return at, err
}

// parseUUID reads an id as records write it: of version 7, 36 characters in lower case.
func parseUUID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err == nil && (id.String() != text || id.Version() != 7 || id.Variant() != uuid.RFC4122) {
		err = errors.New("not a lower-case UUID of version 7")
	}
	return id, err
}

// parseCommitment reads C as records write it.
func parseCommitment(text string) (c Commitment, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(c) || hex.EncodeToString(raw) != text {
		return c, errors.New("the record's commitment is not 64 hex digits in lower case")
	}
	return Commitment(raw), nil
}
