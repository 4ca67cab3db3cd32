package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
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

// wireRecord is the JSON of a record, for reading.
type wireRecord struct {
	ID         string         `json:"id"`
	Time       string         `json:"time"`
	Kind       Kind           `json:"kind"`
	Spec       string         `json:"spec"`
	AuditID    string         `json:"audit_id"`
	CommitID   *string        `json:"commitment_id"`
	Deadline   string         `json:"deadline"`
	Algorithm  string         `json:"algorithm"`
	Size       uint64         `json:"size"`
	Draw       uint64         `json:"draw"`
	Repeat     uint64         `json:"repeat"`
	Hands      []uint64       `json:"hands"`
	Input      string         `json:"input"`
	Parameters map[string]int `json:"parameters"`
	Reference  string         `json:"reference"`
	ClientSeed string         `json:"client_seed"`
	Reveal     string         `json:"reveal"`
	Commitment string         `json:"commitment"`
}

// ParseRecord reads a record and checks that a statement in it is one that riffle/1 can make. Members it does not
// know are passed over, for later kinds may say more; double ones are an error.
func ParseRecord(text []byte) (*Record, error) {
	var w wireRecord
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, fmt.Errorf("not a record: %w", err)
	}
	if w.Spec != Spec {
		return nil, fmt.Errorf("the record is of %q, not of %s", w.Spec, Spec)
	}
	at, err := parseTime(w.Time)
	if err != nil {
		return nil, fmt.Errorf("the record's time: %w", err)
	}
	id, err := parseUUID(w.ID)
	if err != nil {
		return nil, fmt.Errorf("the record's id: %w", err)
	}
	r := &Record{
		ID: id, Time: at, Kind: w.Kind,
		Parameters: w.Parameters, ClientSeed: w.ClientSeed, RevealNow: w.Reveal == "now",
		Statement: Statement{
			Algorithm: shuffle.Algorithm(w.Algorithm), Size: w.Size, Draw: w.Draw, Repeat: w.Repeat,
			Hands: w.Hands, Input: w.Input, Reference: w.Reference,
		},
	}
	commitment, err := hex.DecodeString(w.Commitment)
	if err != nil || len(commitment) != len(r.Commitment) || hex.EncodeToString(commitment) != w.Commitment {
		return nil, errors.New("the record's commitment is not 64 hex digits in lower case")
	}
	copy(r.Commitment[:], commitment)
	if err := r.parseKind(&w); err != nil {
		return nil, err
	}
	return r, nil
}

// parseKind reads and checks what only records of this kind have.
func (r *Record) parseKind(w *wireRecord) (err error) {
	switch r.Kind {
	case KindShuffle, KindCommitment:
		if err := r.Statement.Check(); err != nil {
			return fmt.Errorf("the record's statement: %w", err)
		}
	case KindVoid, KindReveal:
	default:
		return fmt.Errorf("a record of an unknown kind, %q", r.Kind)
	}
	switch r.Kind {
	case KindShuffle:
		if err := CheckClientSeed(r.ClientSeed); err != nil {
			return fmt.Errorf("the record's client seed: %w", err)
		}
	case KindCommitment:
		if r.Deadline, err = parseTime(w.Deadline); err != nil {
			return fmt.Errorf("the record's deadline: %w", err)
		}
		if !r.Deadline.After(r.Time) {
			return errors.New("the record's deadline is not after its time")
		}
	case KindReveal:
		if r.AuditID, err = parseUUID(w.AuditID); err != nil {
			return fmt.Errorf("the record's audit_id: %w", err)
		}
	}
	if used := w.CommitID != nil; r.Kind == KindVoid || r.Kind == KindShuffle && used {
		if !used {
			return errors.New("the record has no commitment_id")
		}
		if r.CommitmentID, err = parseUUID(*w.CommitID); err != nil {
			return fmt.Errorf("the record's commitment_id: %w", err)
		}
		if r.Kind == KindShuffle && r.ClientSeed == "" {
			return errors.New("the record used a commitment, and has no client seed")
		}
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

// parseUUID reads an id as records write it: 36 characters in lower case.
func parseUUID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	if err == nil && id.String() != text {
		err = errors.New("not a lower-case UUID")
	}
	return id, err
}
