package proof

import (
	"fmt"
	"strings"

	"github.com/transparency-dev/formats/proof"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// An Inclusion proves that the log has a record at an index.
type Inclusion struct {
	Index      uint64
	Hashes     []tlog.Hash // siblings on the path from the record to the root
	Checkpoint []byte      // signed note with the root
}

// Text returns the proof in C2SP's tlog-proof format: the format's name, the index, each hash on a
// line in base64, an empty line, and the checkpoint.
//
//	c2sp.org/tlog-proof@v1
//	index 1
//	47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
//
//	example.com/log
//	...
func (p *Inclusion) Text() string { return p.TextWith(nil) }

// TextWith returns the proof with extra data, which is nil for none.
func (p *Inclusion) TextWith(extra []byte) string {
	t := proof.TLogProof{Index: p.Index, Checkpoint: p.Checkpoint, ExtraData: extra}
	for _, h := range p.Hashes {
		t.Hashes = append(t.Hashes, h)
	}
	return string(t.Marshal())
}

// ParseInclusion parses a proof, as [Inclusion.Text] writes it. It rejects the format's optional
// extra data, which this log never writes. The error is [ErrMalformed].
func ParseInclusion(text string) (*Inclusion, error) {
	const levels = 63 // of the largest tree
	head, checkpoint, _ := strings.Cut(text, "\n\n")
	var t proof.TLogProof
	err := t.Unmarshal([]byte(head + "\n\n"))
	p := &Inclusion{Index: t.Index, Checkpoint: []byte(checkpoint)}
	for _, h := range t.Hashes {
		p.Hashes = append(p.Hashes, h)
	}
	if err != nil || p.Text() != text || t.Index >= 1<<levels || len(t.Hashes) > levels {
		return nil, fmt.Errorf("%w proof: it must be an index below 2^%d and at most %[2]d hashes in the format tlog-proof, without extra data", ErrMalformed, levels)
	}
	return p, nil
}

// Check verifies that the verifier's key signed the checkpoint, and that the checkpoint's tree has
// the record, given as its exact bytes, at the index. It returns the checkpoint. The error is
// [ErrMalformed], [ErrSignature] or [ErrNotIncluded].
func (p *Inclusion) Check(record []byte, verifier note.Verifier) (Checkpoint, error) {
	c, err := OpenCheckpoint(p.Checkpoint, verifier)
	if err != nil {
		return c, err
	}
	if p.Index >= c.Size {
		return c, fmt.Errorf("%w: the tree has %d records, and the index is %d", ErrNotIncluded, c.Size, p.Index)
	}
	if !p.Leads(record, c) {
		return c, fmt.Errorf("%w: the hashes do not lead from the record to the root", ErrNotIncluded)
	}
	return c, nil
}

// Leads reports whether the hashes lead from the record to the checkpoint's root. It verifies no
// signature.
func (p *Inclusion) Leads(record []byte, c Checkpoint) bool {
	return tlog.CheckRecord(p.Hashes, int64(c.Size), c.Root, int64(p.Index), tlog.RecordHash(record)) == nil
}
