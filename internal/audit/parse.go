package audit

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"

	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

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
	Size         count   `json:"size"`
	Draw         count   `json:"draw"`
	Repeat       count   `json:"repeat"`
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
	Version      count   `json:"version"`
	From         text    `json:"from"`
	Taken        text    `json:"taken"`
	Cards        text    `json:"cards"`
	To           text    `json:"to"`
	Put          text    `json:"put"`
	Cut          count   `json:"cut"`
	CutRange     numbers `json:"cut_range"`
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

// A count is a number that may be missing, but not null.
type count struct {
	given bool
	n     uint64
}

// UnmarshalJSON reads a number.
func (c *count) UnmarshalJSON(b []byte) (err error) {
	c.given = true
	c.n, err = strconv.ParseUint(string(b), 10, 64)
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
	if TooDeep(data) {
		return nil, errors.New("not a record: it is nested too deeply")
	}
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

// maxDepth is how deep JSON may be nested that verifiers read: docs/spec.md, "Roles".
const maxDepth = 200

// TooDeep reports whether JSON is nested deeper than verifiers read it.
func TooDeep(text []byte) bool {
	depth, inString := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			inString = !inString
		case inString && c == '\\':
			i++
		case inString:
		case c == '[' || c == '{':
			if depth++; depth > maxDepth {
				return true
			}
		case c == ']' || c == '}':
			depth--
		}
	}
	return false
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
		{"size", w.Size.given, states},
		{"draw", w.Draw.given, states},
		{"repeat", w.Repeat.given, states},
		{"hands", w.Hands != nil, states && !ofShoe},
		{"input", w.Input != "", states},
		{"items_digest", w.ItemsDigest != "", r.takesItems()},
		{"parameters", w.Parameters != nil, states && !r.Kind.ChangesShoe()},
		{"reference", w.Reference != "", states},
		{"client_seed", w.ClientSeed != "", r.Kind == KindShuffle || seals},
		{"reveal", w.Reveal != "", r.Kind == KindShuffle},
		{"deadline", w.Deadline != "", r.Kind == KindCommitment},
		{"commitment_id", w.CommitmentID != "", r.Kind == KindShuffle || r.Kind == KindVoid || r.Kind == KindShoe},
		{"version", w.Version.given, r.Kind.ChangesShoe()},
		{"from", w.From != "", moves || r.Kind == KindReshuffle},
		{"taken", w.Taken != "", moves},
		{"cards", w.Cards != "", moves},
		{"to", w.To != "", moves},
		{"put", w.Put != "", moves},
		{"cut", w.Cut.given, seals},
		{"cut_range", w.CutRange != nil, seals},
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
	if !w.Size.given || !w.Draw.given || !w.Repeat.given {
		return errors.New("the record's statement: size, draw or repeat is missing")
	}
	r.Statement = Statement{
		Algorithm: shuffle.Algorithm(w.Algorithm), Size: w.Size.n, Draw: w.Draw.n, Repeat: w.Repeat.n,
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

// parseTime parses a time in [TimeFormat].
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(TimeFormat, text)
	// time.Parse accepts a comma, and hours of one digit.
	if err == nil && (at.Format(TimeFormat) != text || at.Unix() < 0) {
		err = fmt.Errorf("%q is not as riffle/1 writes it, or is before 1970", text)
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
