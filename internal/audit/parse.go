package audit

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/shoe"
)

// ErrUnknownKind is for a record of a kind that a later version of the service may have added. Its
// id, time and spec are valid; nothing else was checked.
var ErrUnknownKind = errors.New("a record of an unknown kind")

// ParseRecord parses a record and checks that it is valid in riffle/1. It ignores members that the
// specification does not name, as later versions may add some; duplicate members are an error. The
// error wraps [ErrUnknownKind] if only the kind is unknown.
func ParseRecord(data []byte) (*Record, error) {
	if TooDeep(data) {
		return nil, errors.New("not a record: it is nested too deeply")
	}
	w := wireRecord{Record: &Record{}}
	r := w.Record
	if err := json.Unmarshal(data, &w, decoders); err != nil || w.Spec != Spec || !slices.Contains(kinds, r.Kind) {
		return nil, cmp.Or(checkHead(data), fmt.Errorf("not a record: %w", err))
	}
	if r.Cut != nil && w.CutRange != nil {
		if len(w.CutRange) != 2 {
			return nil, fmt.Errorf("the record's cut_range has %d numbers, and a range has 2", len(w.CutRange))
		}
		r.Cut.From, r.Cut.To = w.CutRange[0], w.CutRange[1]
	}
	if err := cmp.Or(r.checkMembers(data), r.check()); err != nil {
		return nil, err
	}
	return r, nil
}

// wireRecord is the JSON of a record. It may have members that records of its kind do not have.
type wireRecord struct {
	*Record
	Spec     string   `json:"spec"`
	CutRange []uint64 `json:"cut_range"`
}

// checkHead checks the members that records of all kinds have, unknown ones included. It is for
// records that [ParseRecord] could not decode.
func checkHead(data []byte) error {
	var head struct {
		ID   uuid.UUID `json:"id"`
		Time time.Time `json:"time"`
		Kind Kind      `json:"kind"`
		Spec string    `json:"spec"`
	}
	if err := json.Unmarshal(data, &head, decoders); err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	isName := head.Kind != "" && strings.Trim(string(head.Kind), "abcdefghijklmnopqrstuvwxyz0123456789-_") == ""
	return cmp.Or(
		Rule(head.Spec == Spec, "the record is of %q, not of %s", head.Spec, Spec),
		Rule(!head.Time.IsZero(), "the record's time is missing"),
		Rule(head.ID != uuid.Nil, "the record's id is missing"),
		Rule(isName, "the record's kind %q is not a valid name", head.Kind),
		Rule(slices.Contains(kinds, head.Kind), "%w, %q", ErrUnknownKind, head.Kind),
	)
}

// kinds are the kinds of record that can be parsed.
var kinds = []Kind{
	KindShuffle, KindCommitment, KindVoid, KindReveal,
	KindShoe, KindDraw, KindAdd, KindReturn, KindReshuffle, KindClose, KindExpire,
	KindLogEnd, KindLogBegin,
}

// checkMembers checks that the data has the members that [Record.Append] writes, and none of
// another kind. It may have others, and any layout.
func (r *Record) checkMembers(data []byte) error {
	if bytes.Equal(r.Append(make([]byte, 0, len(data))), data) {
		return nil
	}
	var given map[string]jsontext.Value
	if err := json.Unmarshal(data, &given); err != nil {
		return fmt.Errorf("not a record: %w", err)
	}
	for _, m := range members {
		switch isGiven, isWanted := given[m.name] != nil, m.has(r); {
		case isGiven && !isWanted:
			return fmt.Errorf("a record of kind %s has no %s, and an empty member must be omitted", r.Kind, m.name)
		case isWanted && !isGiven:
			return fmt.Errorf("the record's %s is missing", m.name)
		}
	}
	return nil
}

// decoders read the members that have a single form.
var decoders = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFunc(func(b []byte, n *uint64) (err error) {
		*n, err = strconv.ParseUint(string(b), 10, 64)
		return err
	}),
	json.UnmarshalFunc(func(b []byte, parameter *int) error {
		n, err := strconv.ParseUint(string(b), 10, 64)
		*parameter = int(n)
		return cmp.Or(err, Rule(n <= MaxSize, "%d is above %d", n, uint64(MaxSize)))
	}),
	json.UnmarshalFunc(func(b []byte, c *shoe.Cut) (err error) {
		c.At, err = strconv.ParseUint(string(b), 10, 64)
		return err
	}),
	decoder(parseUUID),
	decoder(parseTime),
	decoder(func(text string) (c Commitment, err error) { return ParseHash(text) }),
	decoder(func(text string) (root tlog.Hash, err error) { return ParseHash(text) }),
	decoder(func(reveal string) (now bool, err error) {
		return true, Rule(reveal == "now", "the record's reveal is %q, and only now can be said", reveal)
	}),
))

// decoder returns a decoder of strings.
func decoder[T any](parse func(text string) (T, error)) *json.Unmarshalers {
	return json.UnmarshalFunc(func(b []byte, to *T) error {
		text, err := jsontext.AppendUnquote(nil, b)
		if err == nil {
			*to, err = parse(string(text))
		}
		return err
	})
}

// parseTime parses a time in [TimeFormat].
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(TimeFormat, text)
	// time.Parse accepts a comma, and hours of one digit.
	isForm := at.Format(TimeFormat) == text && at.Unix() >= 0
	return at, cmp.Or(err, Rule(isForm, "%q is not in the form of riffle/1, or is before 1970", text))
}

// parseUUID parses an id of a record: a UUID of version 7 in 36 characters, lower case.
func parseUUID(text string) (uuid.UUID, error) {
	id, err := uuid.Parse(text)
	isForm := id.String() == text && id.Version() == 7 && id.Variant() == uuid.RFC4122
	return id, cmp.Or(err, Rule(isForm, "not a lower-case UUID of version 7"))
}

// ParseHash parses a SHA-256 of 64 hex digits, lower case.
func ParseHash(text string) (hash [sha256.Size]byte, err error) {
	raw, err := hex.DecodeString(text)
	isForm := err == nil && copy(hash[:], raw) == len(raw) && hex.EncodeToString(hash[:]) == text
	return hash, Rule(isForm, "not 64 hex digits in lower case")
}

// Rule returns nil if a rule holds, and otherwise the error that says what breaks it. [cmp.Or]
// returns the first of several rules that is broken.
func Rule(holds bool, broken string, args ...any) error {
	if holds {
		return nil
	}
	return fmt.Errorf(broken, args...)
}

// check checks what the members say together.
func (r *Record) check() error {
	s := &r.Statement
	if r.States() {
		if err := s.Check(); err != nil {
			return fmt.Errorf("the record's statement: %w", err)
		}
	}
	if err := CheckClientSeed(r.ClientSeed); err != nil {
		return fmt.Errorf("the record's client seed: %w", err)
	}
	return cmp.Or(
		Rule(r.ItemsDigest == "" || strings.HasPrefix(s.Input, "items ") && isRule(r.ItemsDigest), "the record's items_digest is %q, and only records of items have one, such as %q", r.ItemsDigest, SaltedItems),
		Rule(!r.UsesCommitment() || r.ClientSeed != "", "the record used a commitment, and has no client seed"),
		Rule(r.Kind != KindCommitment || r.Deadline.After(r.Time), "the record's deadline is not after its time"),
		Rule(r.Expires.IsZero() || r.Expires.After(r.Time), "the record's expires is not after its time"),
		Rule(r.Successor == "" || isLogKey(r.Successor), "the record's successor is not the verifier key of a log"),
		Rule(r.Kind != KindLogBegin || r.follows(), "the record's predecessor is not a verifier key, or its checkpoint is not one of that log"),
		Rule(!r.Kind.ChangesShoe() || 2 <= r.Version && r.Version <= MaxSize, "the record's version is not one that a change makes"),
		r.checkKind(),
	)
}

// follows reports whether the record names a log and one of its checkpoints.
func (r *Record) follows() bool {
	return isLogKey(r.Predecessor) && isCheckpoint(r.Checkpoint) && strings.HasPrefix(r.Checkpoint, LogName(r.Predecessor)+"\n")
}

// checkKind checks a record of a shoe by the rules of its kind.
func (r *Record) checkKind() error {
	switch {
	case r.Kind == KindShoe:
		return r.checkShoe()
	case r.Kind == KindReshuffle:
		return r.checkReshuffle()
	case r.Kind.moves():
		return r.checkMove()
	}
	return nil
}

// checkShoe checks the first record of a shoe.
func (r *Record) checkShoe() error {
	s := &r.Statement
	isShuffled := s.Draw > 0 || r.Root != nil || r.Cut != nil
	err := cmp.Or(
		Rule(1 <= s.Size && s.Size <= shoe.MaxCards, "the record is of a shoe of %d cards, and there are 1 to %d", s.Size, shoe.MaxCards),
		Rule(s.Repeat == 1, "the record is of a shoe that was shuffled more than once"),
		Rule(!isShuffled || s.Draw == s.Size, "the record is of a shoe that was shuffled in part"),
	)
	if err != nil || !isShuffled {
		return err
	}
	return r.checkSealing()
}

// checkReshuffle checks a record that seals cards of a shoe in a new order.
func (r *Record) checkReshuffle() error {
	s := &r.Statement
	return cmp.Or(
		Rule(isPile(r.From) || r.From == shoe.Deck || r.From == shoe.All, "the record's from is %q, and only the deck, a pile or all can be shuffled", r.From),
		Rule(s.Repeat == 1 && s.Draw == s.Size && s.Size <= shoe.MaxCards && s.Input == RangeInput, "the record's statement is not of one shuffle of all the cards in one place"),
		Rule(!isPile(r.From) || r.Cut == nil, "the record puts a cut card into a pile, and only the deck has one"),
		r.checkSealing(),
	)
}

// checkSealing checks a record that seals an order: it has a root, and where its cut card lies, if
// there is one.
func (r *Record) checkSealing() error {
	if r.Root == nil {
		return errors.New("the record's root is missing")
	}
	c := r.Cut
	if c == nil || c.Fits(r.Statement.Size) && (!c.IsDrawn() || c.From <= c.At && c.At <= c.To) {
		return nil
	}
	return fmt.Errorf("the record's cut, %d, or its cut_range is invalid for %d cards", c.At, r.Statement.Size)
}

// checkMove checks which cards were taken, from where, and where they were put.
func (r *Record) checkMove() error {
	s := &r.Statement
	return cmp.Or(
		Rule(r.isMove(), "the record is of a %s from %q to %q, which is not a move", r.Kind, r.From, r.To),
		Rule(r.Cards.Len() > 0 || r.Kind == KindAdd, "the record moves no cards"), // an add of no cards creates its pile
		Rule(r.To == shoe.Dealt && r.Put == "" || r.To != shoe.Dealt && isEnd(r.Put), "the record's put is %q, which is not an end of %q", r.Put, r.To),
		Rule(isEnd(r.Taken) || r.Taken == shoe.Named || r.Taken == shoe.Random, "the record's taken is %q, which is not a way to take cards", r.Taken),
		Rule(r.Taken != shoe.Random || s.Repeat == 1 && s.Draw == r.Cards.Len() && s.Size <= shoe.MaxCards && s.Input == RangeInput, "the record's statement is not of one draw of as many cards as it moves"),
	)
}

// isMove reports whether cards can be moved from where they were taken to where they were put. A
// draw takes cards of the deck or a pile, an add puts cards on a pile, and a return puts them into
// the deck.
func (r *Record) isMove() bool {
	isOut := r.From == shoe.Dealt || r.From == shoe.Out
	switch r.Kind {
	case KindDraw:
		return (r.From == shoe.Deck || isPile(r.From)) && (r.To == shoe.Dealt || isPile(r.To))
	case KindAdd:
		return isOut && isPile(r.To) && r.Taken == shoe.Named
	default:
		return (isOut || isPile(r.From)) && r.To == shoe.Deck && r.Taken == shoe.Named
	}
}

func isPile(p shoe.Place) bool {
	_, is := p.Pile()
	return is
}

func isEnd(e shoe.End) bool { return e == shoe.Top || e == shoe.Bottom }

// isRule reports whether text is a name and a version, as in salted/1.
func isRule(text string) bool {
	name, version, _ := strings.Cut(text, "/")
	return isDeckName(name) && isPositive(version)
}

// The forms of verifier keys and checkpoints in records, which are not verified with them: docs/spec.md, "Record".
var (
	isLogKey     = regexp.MustCompile(`^[^\x00-\x20+]+\+[0-9a-f]{8}\+A[Q-Za-f][A-Za-z0-9+/]{42}$`).MatchString
	isCheckpoint = regexp.MustCompile(`^[^\x00-\x20+]+\n(0|[1-9][0-9]{0,15})\n[A-Za-z0-9+/]{43}=\n\n(— [^\x00-\x20+]+ [A-Za-z0-9+/]{4,}={0,2}\n)+$`).MatchString
)

// LogName returns the name in a verifier key, which is the log's origin.
func LogName(key string) string {
	name, _, _ := strings.Cut(key, "+")
	return name
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
