package prooffile

import (
	"bytes"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
)

// A Result has the findings of a verifier: the steps of one file, or of several files together.
type Result struct {
	Steps
	File   *File         // the first file; nil if it could not be read
	Record *audit.Record // its record; nil if it could not be read, or is of a kind that is not known here

	Changes int         // how often the shoe was changed
	Closed  bool        // the last record closes the shoe
	Proven  int         // how many cards of the hand are proven
	Others  int         // how many are not
	Missing []uuid.UUID // the records that those name as sealed_by and that were not given

	given      *Given
	key        note.Verifier
	checkpoint checkpoint
	orders     [][]uint64 // the replayed positions of a record of a shoe; nil if they are unknown
	cards      *cards     // of a shoe's first record; nil if they are unknown
	match      *Match     // what the order given is; nil if it was not compared or does not match
	cost       uint64     // of a replay that takes too long; 0 for others

	files   []*Result // of several files: what each of them shows alone
	records []*Result // one file of each record
}

// VerifyRecord verifies the proof file of one record: of a shuffle, or of any other kind. It adds
// the steps of docs/spec.md, "Proof file". If the file can be parsed, it checks inclusion,
// signature and commitment even after an earlier step fails.
func VerifyRecord(text []byte, given *Given) *Result {
	r := checkFile(text, given, func(*audit.Record) State { return Unchecked })
	r.committed()
	return r
}

// checkFile checks one file, without the commitment that its record used. heldBack returns the
// state of the step order if the seed is secret; nil to replay nothing.
func checkFile(text []byte, given *Given, heldBack func(*audit.Record) State) *Result {
	r := &Result{given: given}
	if !r.proof(text) {
		return r
	}
	if r.record() && heldBack != nil {
		r.replay(heldBack(r.Record))
	}
	r.inclusion()
	r.signature()
	return r
}

// checkFiles checks every file alone. If no key is given, all have to have the key of the first.
func checkFiles(texts [][]byte, given *Given, heldBack func(*audit.Record) State) *Result {
	all := &Result{given: given}
	alone := *given
	for _, text := range texts {
		r := checkFile(text, &alone, heldBack)
		all.files = append(all.files, r)
		if last := len(all.records) - 1; last < 0 || !r.isOf(all.records[last]) {
			all.records = append(all.records, r)
		}
		alone = Given{Key: alone.Key, Decks: given.Decks}
		if alone.Key == "" && r.File != nil {
			alone.Key = r.File.LogKey
		}
	}
	first := all.files[0]
	all.File, all.Record, all.match, all.Changes = first.File, first.Record, first.match, len(all.records)-1
	return all
}

// isOf reports whether two files are of the same record.
func (r *Result) isOf(other *Result) bool {
	return r.Record != nil && other.Record != nil && bytes.Equal(r.File.Record, other.File.Record)
}

// HeldBack reports whether an order follows from a record and its seed, and the file has no seed.
func (r *Result) HeldBack() bool {
	return r.Record != nil && r.Record.Deals() && r.File.Seed == nil
}

// Sealed reports whether the records have roots, and each is the root of the shoe's cards.
func (r *Result) Sealed() bool { return r.Has(StepRoot, OK) }
