package proof

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit/message"
)

// A Policy says which logs and witnesses are trusted, and which of the witnesses have to cosign a
// checkpoint, in the format tlog-policy of C2SP (https://c2sp.org/tlog-policy).
type Policy struct {
	Logs      []string // verifier keys; empty for any
	Witnesses []Witness

	groups []group // each after its members
	quorum string  // the name of a witness or a group, or none
}

// A Witness cosigns a checkpoint if that extends the last one that it cosigned.
type Witness struct {
	Name string        // in the policy
	URL  string        // submission prefix; empty if it is not known
	Key  note.Verifier // of its cosignatures, by Ed25519 or ML-DSA-44 (https://c2sp.org/tlog-cosignature)
}

// A group counts as one that cosigned if at least so many of its members do.
type group struct {
	name    string
	least   int
	members []string
}

// A Cosignature is by a witness, under a checkpoint.
type Cosignature struct {
	Witness string    // its name in the policy
	Time    time.Time // by the clock of the witness, in seconds
}

func (c Cosignature) String() string { return c.Witness + " (" + c.Time.Format(time.RFC3339) + ")" }

// nobody is the quorum of a policy without witnesses.
const nobody = "none"

// A policyReader reads the lines of a policy.
type policyReader struct {
	*Policy
	names map[string]bool // of witnesses and groups
	taken map[string]bool // keys of logs and witnesses, and the names in them
}

// ParsePolicy parses a policy. The error says which line is wrong.
func ParsePolicy(text []byte) (*Policy, error) {
	r := &policyReader{&Policy{}, map[string]bool{nobody: true}, map[string]bool{}}
	for i, line := range strings.Split(string(text), "\n") {
		words := strings.FieldsFunc(strings.TrimSuffix(line, "\r"), func(char rune) bool { return char == ' ' || char == '\t' })
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if err := r.read(words[0], words[1:]); err != nil {
			return nil, message.New("why.line", message.Values{"n": i + 1, "what": message.Of(err)})
		}
	}
	if r.quorum == "" {
		return nil, message.New("why.policy.quorum", nil)
	}
	return r.Policy, nil
}

// read reads a line.
func (r *policyReader) read(keyword string, words []string) error {
	switch n := len(words); {
	case keyword == "log" && (n == 1 || n == 2):
		r.Logs = append(r.Logs, words[0])
		verifier, err := note.NewVerifier(words[0])
		return r.addKey(words[0], verifier, err, "\x01", "why.key")
	case keyword == "witness" && (n == 2 || n == 3):
		verifier, err := cosignature.NewVerifierForCosignatureV1(words[1])
		r.Witnesses = append(r.Witnesses, Witness{Name: words[0], URL: strings.TrimSuffix(strings.Join(words[2:], ""), "/"), Key: verifier})
		return cmp.Or(r.addKey(words[1], verifier, err, "\x04\x06", "why.policy.witness"), r.addName(words[0]))
	case keyword == "group" && n >= 3:
		return r.addGroup(words[0], words[1], words[2:])
	case keyword == "quorum" && n == 1 && (r.quorum != "" || !r.names[words[0]]):
		return message.New("why.policy.end", nil)
	case keyword == "quorum" && n == 1:
		r.quorum = words[0]
		return nil
	}
	return message.New("why.policy.line", nil)
}

// addKey adds a verifier key, which must be in its one canonical form. Neither logs nor witnesses
// share a key, or a name in one.
func (r *policyReader) addKey(text string, verifier note.Verifier, bad error, algorithms, why string) error {
	if bad != nil {
		return message.New(why, nil)
	}
	parts := strings.SplitN(text, "+", 3)
	key, err := base64.StdEncoding.Strict().DecodeString(parts[2])
	if err != nil || parts[1] != fmt.Sprintf("%08x", verifier.KeyHash()) || !strings.Contains(algorithms, string(key[:1])) || strings.ContainsFunc(text, unicode.IsControl) {
		return message.New(why, nil)
	}
	name, point := "name "+parts[0], "key "+string(key[1:])
	if r.taken[name] || r.taken[point] {
		return message.New("why.policy.twice", nil)
	}
	r.taken[name], r.taken[point] = true, true
	return nil
}

func (r *policyReader) addName(name string) error {
	if r.names[name] {
		return message.New("why.policy.name", message.Values{"name": name})
	}
	r.names[name] = true
	return nil
}

func (r *policyReader) addGroup(name, number string, members []string) error {
	least := map[string]int{"any": 1, "all": len(members)}[number]
	if n, err := strconv.Atoi(number); err == nil && strconv.Itoa(n) == number {
		least = n
	}
	if least < 1 || least > len(members) {
		return message.New("why.policy.group", message.Values{"members": len(members), "number": number})
	}
	seen := map[string]bool{nobody: true}
	for _, member := range members {
		if !r.names[member] || seen[member] {
			return message.New("why.policy.member", nil)
		}
		seen[member] = true
	}
	r.groups = append(r.groups, group{name, least, members})
	return r.addName(name)
}

// NeedsNobody reports whether a checkpoint without cosignatures suffices.
func (p *Policy) NeedsNobody() bool { return p.quorum == nobody }

// suffice reports whether the witnesses who cosigned meet the quorum.
func (p *Policy) suffice(by []Cosignature) bool {
	met := map[string]bool{nobody: true}
	for _, c := range by {
		met[c.Witness] = true
	}
	for _, g := range p.groups {
		n := 0
		for _, member := range g.members {
			if met[member] {
				n++
			}
		}
		met[g.name] = n >= g.least
	}
	return met[p.quorum]
}

// SufficeBefore reports whether the witnesses who cosigned a checkpoint before a time suffice.
// Without a policy, or with one that needs nobody, none do.
func (p *Policy) SufficeBefore(at time.Time, checkpoint *note.Note) bool {
	if p == nil || p.NeedsNobody() {
		return false
	}
	by, _, err := p.Cosignatures(checkpoint)
	by = slices.DeleteFunc(by, func(c Cosignature) bool { return !c.Time.Before(at) })
	return err == nil && p.suffice(by)
}

// Unverified returns a note without verifying its signatures. It has no text if that is no note.
func Unverified(text []byte) *note.Note {
	_, err := note.Open(text, note.VerifierList())
	if found, isNote := errors.AsType[*note.UnverifiedNoteError](err); isNote {
		return found.Note
	}
	return &note.Note{}
}

// Cosignatures returns the cosignatures of a checkpoint by witnesses of the policy, in its order,
// and whether they suffice. The note's signatures are unverified. Each line of a witness must be
// right, and the first counts; the error names one whose is not.
func (p *Policy) Cosignatures(checkpoint *note.Note) (by []Cosignature, suffice bool, err error) {
	for _, w := range p.Witnesses {
		for _, s := range checkpoint.UnverifiedSigs {
			if s.Name != w.Key.Name() || s.Hash != w.Key.KeyHash() {
				continue
			}
			signature, err := base64.StdEncoding.DecodeString(s.Base64)
			at, errTime := cosignature.CoSigV1Timestamp(s)
			if err != nil || errTime != nil || at.Unix() < 1 || at.Unix() > 253402300799 || !w.Key.Verify([]byte(checkpoint.Text), signature[4:]) { // after the year 9999, and behind the key's hash
				return nil, false, message.New("why.cosignature", message.Values{"name": w.Name})
			}
			if len(by) == 0 || by[len(by)-1].Witness != w.Name {
				by = append(by, Cosignature{w.Name, at.UTC()})
			}
		}
	}
	return by, p.suffice(by), nil
}
