package prooffile

import (
	"bytes"
	"regexp"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
)

// A Role says what a text is; docs/spec.md, "Roles".
type Role string

// The roles that a text is given with or sorted into. An order is an answer that may be an array.
const (
	RoleProof  Role = "proof"
	RoleAnswer Role = "answer"
	RoleOrder  Role = "order"
	RoleHand   Role = "hand"
	RoleItems  Role = "items"
	RoleKey    Role = "key"
	RoleSalt   Role = "salt"
	RolePolicy Role = "policy"
	RoleList   Role = "list"
)

// The roles that a text turns out to have.
const (
	roleHandOf Role = "hand-of"
	roleUnused Role = "unused"
)

// MaxText is the longest text that a verifier reads, in bytes: docs/spec.md, "Texts for a verifier".
const MaxText = 64 << 20

// A Text is one of those that a verifier is given.
type Text struct {
	Name    string
	Role    Role   // empty to sort it
	Content []byte // any layout
	Err     error  // why it could not be read; nil if it was
}

// IsKey reports whether the text is the key of a log.
func (t *Text) IsKey() bool {
	role, _ := t.findRole()
	return role == RoleKey
}

// trim drops a byte order mark and white space around a text.
func trim(text []byte) []byte { return bytes.Trim(withoutMark(text), " \t\r\n") }

// findRole returns the role that a text was given with, or else the one that its content has. The
// error is a refusal of the text.
func (t *Text) findRole() (Role, error) {
	if t.Err != nil {
		return t.Role, &refusal{"unreadable", []string{t.Name}, message.Text(t.Err)}
	}
	if t.Role != "" {
		return t.Role, nil
	}
	text := trim(t.Content)
	_, notKey := Verifier(string(text))
	switch role := roleOf(text); {
	case bytes.HasPrefix(text, []byte("PRIVATE+KEY+")):
		return "", refuse("private-key", "why.given.private", message.Values{"name": t.Name}, t.Name)
	case notKey == nil:
		return RoleKey, nil
	case audit.CheckItemsSalt(string(text)) == nil:
		return RoleSalt, nil
	case isPolicy.Match(text):
		return RolePolicy, nil
	case role != "":
		return role, nil
	case bytes.HasPrefix(text, []byte(tlogProof)), bytes.Contains(text, []byte(`"record"`)), bytes.Contains(text, []byte(`"tlog_proof"`)):
		return RoleProof, nil
	}
	return "", refuse("unknown", "why.given.unknown", message.Values{"name": t.Name}, t.Name)
}

// isPolicy matches a text whose first line that counts begins as a line of a policy does.
var isPolicy = regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*(?:log|witness|group|quorum)[ \t]`)

// roleOf returns the role of JSON; empty for none.
func roleOf(text []byte) Role {
	values := parseAll(text)
	if values == nil {
		return ""
	}
	first := values[0]
	list := elements(first) // nil for no array
	head := first
	if list.len() > 0 {
		head = list.at(0)
	}
	object, _ := members(first)
	inHead, _ := members(head)
	has := func(name string) bool { return object[name] != nil }
	switch {
	case has("record"), has("tlog_proof"), has("shoe"), inHead["record"] != nil && inHead["tlog_proof"] != nil:
		return RoleProof
	case len(values) > 1:
		return ""
	case has("items"), has("hands"), has("shuffles"):
		return RoleAnswer
	case has("cards"), has("salt") && has("path"), isCard(first):
		return RoleHand
	case first.Kind() != '[':
		return ""
	case list.len() > 0 && list.indexFunc(func(_ int, value jsontext.Value) bool { return !isCard(value) }) < 0:
		return RoleHand
	}
	return RoleList
}

// isCard reports whether a value is a card that was drawn from a shoe.
func isCard(value jsontext.Value) bool {
	object, err := members(value) // none but of an object
	isSealed := object["salt"].Kind() == '"' && object["path"].Kind() == '['
	return err == nil && object["position"].Kind() == '0' && (isSealed || object["sealed_by"].Kind() == '"')
}

// A refusal is why nothing is concluded from what was given.
type refusal struct {
	why   string // in the summary
	names []string
	message.Message
}

func refuse(why, id string, of message.Values, names ...string) error {
	return &refusal{why, append([]string{}, names...), message.New(id, of)}
}

func (r *refusal) Unwrap() error { return r.Message }
