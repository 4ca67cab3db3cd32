// Package prooffile reads and verifies proof files: all that it takes to check a record without the
// service that made it, and without trusting anything but the key of its log.
//
// A [File] is one proof file. [Verify] checks one, or the proof of a whole shoe, against the
// [Inputs] that have a name each. [VerifyRecord] is for one record, in result.go, and [VerifyShoe]
// for all records of a shoe, in shoe.go. They share entry.go, the steps of every proof file;
// replay.go, the steps of every record that deals cards, with items.go and order.go, which compare
// its items and its order; and hand.go, for cards drawn from a shoe. A verifier reports [Steps], and
// verdict.go the verdict, both in messages of [riffle/internal/audit/message].
//
// The package is pure: reading files and printing are the caller's as well.
package prooffile

import (
	"encoding/hex"
	"errors"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
)

// A File is the content of a proof file.
type File struct {
	Record     []byte   // the exact bytes
	Seed       rng.Seed // nil while it is held back, and for a record without one
	ClientSeed string   // may be empty
	Inclusion  *proof.Inclusion
	LogKey     string // the verifier key of the log
	Commitment []byte // the proof file of the commitment that the record names; nil for none
}

// Text returns the file as the service writes it: a JSON object without white space, ended by LF.
// Strings escape only what JSON requires, U+2028 and U+2029. [Parse] accepts any other layout.
func (f *File) Text() []byte { return append(f.AppendTo(nil), '\n') }

// AppendTo appends the file without the LF, such as an element of a shoe's proof.
func (f *File) AppendTo(b []byte) []byte { return append(b, f.members(f.Inclusion.Text())...) }

// TlogProof returns the file in C2SP's format tlog-proof: its extra data is the other members.
// [Parse] reads it as well.
func (f *File) TlogProof() []byte { return []byte(f.Inclusion.TextWith(f.members(""))) }

func (f *File) members(tlogProof string) []byte {
	w := struct {
		Spec       string         `json:"spec"`
		Record     string         `json:"record"`
		Seed       *string        `json:"seed"`
		ClientSeed string         `json:"client_seed"`
		TlogProof  string         `json:"tlog_proof,omitzero"`
		LogKey     string         `json:"log_key"`
		Commitment jsontext.Value `json:"commitment_proof,omitzero"`
	}{audit.Spec, string(f.Record), nil, f.ClientSeed, tlogProof, f.LogKey, f.Commitment}
	if f.Seed != nil {
		w.Seed = new(hex.EncodeToString(f.Seed))
	}
	text, err := json.Marshal(w, jsontext.EscapeForJS(true))
	if err != nil {
		panic("prooffile: strings do not marshal: " + err.Error())
	}
	return text
}

// ErrNoFile is for a text that is not JSON, or no proof file at all. It claims nothing, and so is
// not false either.
var ErrNoFile = errors.New("not a proof file")

// fileMembers is the number of members of a proof file, without the proof of a commitment.
const fileMembers = 6

// Parse parses a proof file, but not its commitment's: a JSON object with exactly the members of
// [File.Text], or that in the format tlog-proof. Their order, white space and escapes are free. Each
// value is a string in the one form that the specification gives it, or null. The error wraps
// [ErrNoFile] if the text is not JSON, or has no record.
func Parse(text []byte) (*File, error) {
	text = fromTlogProof(text)
	object, err := members(text)
	names := fileMembers
	if object["commitment_proof"] != nil {
		names++
	}
	switch {
	case err != nil:
		return nil, message.New("why.file.json", nil).Because(ErrNoFile)
	case object["record"] == nil:
		return nil, message.New("why.file.record", nil).Because(ErrNoFile)
	case len(object) != names || count(withoutMark(text)) != 2*names:
		return nil, message.New("why.file.members", nil)
	}
	m := map[string]string{}
	for _, name := range []string{"spec", "record", "seed", "client_seed", "tlog_proof", "log_key"} {
		value, err := jsontext.AppendUnquote(nil, object[name])
		if isHeldBack := name == "seed" && object[name].Kind() == 'n'; err != nil && !isHeldBack {
			return nil, message.New("why.file.member", message.Values{"name": name})
		}
		m[name] = string(value)
	}
	f := &File{
		Record: []byte(m["record"]), Seed: parseSeed(m["seed"]), ClientSeed: m["client_seed"], LogKey: m["log_key"], Commitment: object["commitment_proof"],
	}
	if m["spec"] != audit.Spec {
		return nil, message.New("why.file.spec", message.Values{"spec": m["spec"]})
	}
	if f.Seed == nil && object["seed"].Kind() != 'n' {
		return nil, message.New("why.file.seed", nil)
	}
	f.Inclusion, err = proof.ParseInclusion(m["tlog_proof"])
	return f, message.Rule(err == nil, "why.file.tlog", nil)
}

// parseSeed parses lower-case hex of at least one byte; it returns nil for anything else.
func parseSeed(text string) rng.Seed {
	seed, err := hex.DecodeString(text)
	if err != nil || len(seed) == 0 || hex.EncodeToString(seed) != text {
		return nil
	}
	return seed
}
