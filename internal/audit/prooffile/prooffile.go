// Package prooffile reads and verifies proof files: all that it takes to check a record without the
// service that made it, and without trusting anything but the key of its log.
//
// A [File] is one proof file. Three verifiers stand side by side, each a file that reads from top
// to bottom like the section of the specification that it follows: [VerifyRecord] for one record,
// [VerifyHand] for cards drawn from a shoe and [VerifyShoe] for all records of a shoe. What they
// share is in entry.go, the steps of every proof file, and replay.go, the steps of every record
// that deals cards. A verifier reports [Steps]; the verdict in words is the caller's.
//
// The package is pure: reading files and printing are the caller's as well.
package prooffile

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
)

// A File is the content of a proof file.
type File struct {
	Record     []byte   // the exact bytes
	Seed       rng.Seed // nil while it is held back, and for a record without one
	ClientSeed string   // empty if there is none
	Inclusion  *proof.Inclusion
	LogKey     string // the verifier key of the log
}

// wireFile is the JSON of a file, with its members in the order of the format.
type wireFile struct {
	Spec       string  `json:"spec"`
	Record     string  `json:"record"`
	Seed       *string `json:"seed"`
	ClientSeed string  `json:"client_seed"`
	TlogProof  string  `json:"tlog_proof"`
	LogKey     string  `json:"log_key"`
}

// Text returns the file in its canonical form: a JSON object without white space, ended by LF.
// Strings escape only what JSON requires, U+2028 and U+2029.
func (f *File) Text() []byte {
	w := wireFile{
		Spec: audit.Spec, Record: string(f.Record), ClientSeed: f.ClientSeed, TlogProof: f.Inclusion.Text(), LogKey: f.LogKey,
	}
	if f.Seed != nil {
		text := hex.EncodeToString(f.Seed)
		w.Seed = &text
	}
	return w.encode()
}

func (w *wireFile) encode() []byte {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(w); err != nil {
		panic("prooffile: strings do not marshal: " + err.Error())
	}
	return text.Bytes()
}

// Parse parses a file. Any text other than the canonical one of [File.Text] is an error.
func Parse(text []byte) (*File, error) {
	var w wireFile
	if err := json.Unmarshal(text, &w); err != nil {
		return nil, fmt.Errorf("it is no JSON object of the members of a proof file: %w", err)
	}
	switch {
	case w.Spec != audit.Spec:
		return nil, fmt.Errorf("it is of %q, not of %s", w.Spec, audit.Spec)
	case !bytes.Equal(w.encode(), text):
		return nil, errors.New("it is not in the form that the service writes: six members in their order, no white space, one line end")
	}
	f := &File{Record: []byte(w.Record), ClientSeed: w.ClientSeed, LogKey: w.LogKey}
	if w.Seed != nil {
		seed, err := hex.DecodeString(*w.Seed)
		if err != nil || len(seed) == 0 || hex.EncodeToString(seed) != *w.Seed {
			return nil, errors.New("its seed is not in lower-case hex, two digits a byte")
		}
		f.Seed = seed
	}
	var err error
	f.Inclusion, err = proof.ParseInclusion(w.TlogProof)
	return f, err
}
