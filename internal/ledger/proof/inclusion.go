package proof

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// firstLine is that of a proof of the version that is written and read here.
const firstLine = "c2sp.org/tlog-proof@v1"

// An Inclusion proves that a record is in the log, at an index.
type Inclusion struct {
	Index      uint64
	Hashes     []tlog.Hash // the siblings on the way from the record to the root
	Checkpoint []byte      // the signed note that has the root
}

// Text returns the proof in C2SP's tlog-proof format: what it is, the index, a hash to a line in base64, an empty line
// and the checkpoint.
func (p *Inclusion) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nindex %d\n", firstLine, p.Index)
	for _, h := range p.Hashes {
		fmt.Fprintln(&b, h)
	}
	fmt.Fprintf(&b, "\n%s", p.Checkpoint)
	return b.String()
}

// ParseInclusion reads a proof in C2SP's tlog-proof format. Extra data is not ours, and a proof that has any is refused.
// The error is [ErrMalformed].
func ParseInclusion(text string) (*Inclusion, error) {
	head, checkpoint, found := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !found || len(lines) < 2 || lines[0] != firstLine {
		return nil, fmt.Errorf("%w proof: it does not begin with %q, an index, hashes and an empty line", ErrMalformed, firstLine)
	}
	digits, isIndex := strings.CutPrefix(lines[1], "index ")
	index, err := strconv.ParseUint(digits, 10, 63)
	if !isIndex || err != nil {
		return nil, fmt.Errorf("%w proof: its second line is %q and not the index", ErrMalformed, lines[1])
	}
	const most = 63 // levels of a tree
	if len(lines)-2 > most {
		return nil, fmt.Errorf("%w proof: it has %d hashes", ErrMalformed, len(lines)-2)
	}
	p := &Inclusion{Index: index, Checkpoint: []byte(checkpoint)}
	for _, line := range lines[2:] {
		h, err := parseHash(line)
		if err != nil {
			return nil, fmt.Errorf("%w proof: %q is no hash", ErrMalformed, line)
		}
		p.Hashes = append(p.Hashes, h)
	}
	if p.Text() != text {
		return nil, fmt.Errorf("%w proof: its index is not in its one form", ErrMalformed)
	}
	return p, nil
}

// Check checks that the record, given as its exact bytes, stands at the index in the tree of the checkpoint, and that
// the verifier's key has signed the checkpoint, which it returns. The error is [ErrMalformed], [ErrSignature] or
// [ErrNotIncluded].
func (p *Inclusion) Check(record []byte, verifier note.Verifier) (Checkpoint, error) {
	c, err := OpenCheckpoint(p.Checkpoint, verifier)
	if err != nil {
		return c, err
	}
	if p.Index >= c.Size {
		return c, fmt.Errorf("%w: it has %d records, and this is to be number %d", ErrNotIncluded, c.Size, p.Index)
	}
	if !p.Leads(record, c) {
		return c, fmt.Errorf("%w: the hashes do not lead from the record to the root", ErrNotIncluded)
	}
	return c, nil
}

// Leads reports whether the hashes lead from the record at the index to the root of the checkpoint, whoever has signed it.
func (p *Inclusion) Leads(record []byte, c Checkpoint) bool {
	return tlog.CheckRecord(p.Hashes, int64(c.Size), c.Root, int64(p.Index), tlog.RecordHash(record)) == nil
}
