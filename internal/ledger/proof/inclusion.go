package proof

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// firstLine names the format and its version.
const firstLine = "c2sp.org/tlog-proof@v1"

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
func (p *Inclusion) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", firstLine, p.Index)
	for _, h := range p.Hashes {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintf(&b, "\n%s", p.Checkpoint)
	return b.String()
}

// ParseInclusion parses a proof, as [Inclusion.Text] writes it. It rejects the format's optional
// extra data, which this log never writes. The error is [ErrMalformed].
func ParseInclusion(text string) (*Inclusion, error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != firstLine {
		return nil, fmt.Errorf("%w proof: it must begin with %q, an index, hashes and an empty line", ErrMalformed, firstLine)
	}
	digits, isIndex := strings.CutPrefix(lines[1], "index ")
	index, err := strconv.ParseUint(digits, 10, 63)
	if !isIndex || err != nil {
		return nil, fmt.Errorf("%w proof: its second line is %q, and must be like \"index 7\"", ErrMalformed, lines[1])
	}
	const levels = 63 // of the largest tree
	if len(lines)-2 > levels {
		return nil, fmt.Errorf("%w proof: it has %d hashes, and at most %d are possible", ErrMalformed, len(lines)-2, levels)
	}
	p := &Inclusion{Index: index, Checkpoint: []byte(checkpoint)}
	for _, line := range lines[2:] {
		h, err := parseHash(line)
		if err != nil {
			return nil, fmt.Errorf("%w proof: %q is not a hash, which is 32 bytes in base64", ErrMalformed, line)
		}
		p.Hashes = append(p.Hashes, h)
	}
	if p.Text() != text {
		return nil, fmt.Errorf("%w proof: its index %q or a hash is not in canonical form", ErrMalformed, digits)
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
