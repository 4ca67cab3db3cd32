package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit/message"
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
		return nil, message.New("why.record", nil)
	}
	var given map[string]jsontext.Value
	if err := json.Unmarshal(data, &given); err != nil || given == nil {
		return nil, message.New("why.record", nil)
	}
	r := &Record{}
	if given["cut"] != nil {
		r.Cut = &shoe.Cut{}
	}
	if given["root"] != nil {
		r.Root = &tlog.Hash{}
	}
	of := uses[""]
	for i := range members {
		m, text := &members[i], given[members[i].name]
		if i == head {
			if of = uses[r.Kind]; of == nil {
				return nil, message.New("why.record.kind", message.Values{"kind": string(r.Kind)}).Because(ErrUnknownKind)
			}
		}
		u := of[i]
		isAllowed := u.allows(r)
		switch {
		case text == nil && (!isAllowed || u.isOptional):
		case text == nil:
			return nil, message.New("why.record.missing", message.Values{"name": m.name})
		case !isAllowed || !u.parse(r, text):
			return nil, message.New("why.record.member", message.Values{"name": m.name, "text": message.Short(text)})
		}
	}
	return r, nil
}

// decoders read the members that have a single form.
var decoders = json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFunc(parseNumber[uint64]),
	json.UnmarshalFunc(parseNumber[int]),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, c *cutRange) error {
		var ends [2]uint64
		err := json.UnmarshalDecode(d, &ends)
		c.From, c.To = ends[0], ends[1]
		return err
	}),
	decoder(parseUUID),
	decoder(parseTime),
	decoder(ParseHash),
	decoder(func(text string) (tlog.Hash, error) { return ParseHash(text) }),
	decoder(func(text string) (s specName, err error) { return s, Rule(text == Spec, "not %s", Spec) }),
	decoder(func(text string) (now bool, err error) { return true, Rule(text == "now", "not now") }),
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

// parseNumber parses a number up to [MaxSize], which has 53 bits.
func parseNumber[N int | uint64](digits []byte, to *N) error {
	n, err := strconv.ParseUint(string(digits), 10, 53)
	*to = N(n)
	return err
}

// parseTime parses a time in [TimeFormat].
func parseTime(text string) (time.Time, error) {
	at, err := time.Parse(TimeFormat, text)
	// time.Parse accepts a comma, and hours of one digit.
	return at, cmp.Or(err, Rule(at.Format(TimeFormat) == text && at.Unix() >= 0, "not a time of riffle/1"))
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

// The forms of texts that verifiers know by name: docs/spec.md, "Record" and "Client seeds of several
// players".
var (
	isPlayer     = regexp.MustCompile(`^[A-Za-z0-9_-]{1,32}$`).MatchString
	isPlayerSeed = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString
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
