// Package proof is what a log gives away for strangers to check: signed checkpoints, and proofs that a record is in the
// tree of one. It is pure, and all that a verifier needs of the ledger.
//
// Hashing is that of RFC 6962, signatures are Ed25519 in signed notes, and the texts are those of the C2SP
// specifications tlog-checkpoint and tlog-proof: https://c2sp.org.
package proof

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

// Errors of checkpoints and proofs.
var (
	// ErrMalformed is for a text that is not in the one form that its content has.
	ErrMalformed = errors.New("malformed")
	// ErrSignature is for a checkpoint that the key did not sign.
	ErrSignature = errors.New("not signed by the key of this log")
	// ErrNotIncluded is for a record, or an earlier tree, that is not in the tree of a checkpoint.
	ErrNotIncluded = errors.New("not in the tree of the checkpoint")
)

// A Checkpoint says what the log holds: a tree of Size records.
type Checkpoint struct {
	Origin string // the name of the log, and of its key
	Size   uint64
	Root   tlog.Hash
}

// Text returns the body of the checkpoint: origin, size and root in base64, a line each.
func (c Checkpoint) Text() string {
	return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root)
}

// Sign returns the checkpoint as a signed note. The signer's name has to be the origin.
func (c Checkpoint) Sign(signer note.Signer) ([]byte, error) {
	if signer.Name() != c.Origin {
		return nil, fmt.Errorf("a checkpoint of %q cannot be signed by the key of %q", c.Origin, signer.Name())
	}
	return note.Sign(&note.Note{Text: c.Text()}, signer)
}

// Tree returns the tree that the checkpoint is of.
func (c Checkpoint) Tree() tlog.Tree { return tlog.Tree{N: int64(c.Size), Hash: c.Root} }

// OpenCheckpoint reads a signed checkpoint. The error is [ErrMalformed], or [ErrSignature] unless the verifier's key has
// signed it for the log of its name. Signatures of others, of witnesses say, are passed over.
func OpenCheckpoint(text []byte, verifier note.Verifier) (Checkpoint, error) {
	n, err := note.Open(text, note.VerifierList(verifier))
	if unverified := (*note.UnverifiedNoteError)(nil); errors.As(err, &unverified) {
		return Checkpoint{}, fmt.Errorf("%w (%s)", ErrSignature, verifier.Name())
	} else if invalid := (*note.InvalidSignatureError)(nil); errors.As(err, &invalid) {
		return Checkpoint{}, fmt.Errorf("%w (%s): the signature is wrong", ErrSignature, verifier.Name())
	} else if err != nil {
		return Checkpoint{}, fmt.Errorf("%w checkpoint: %w", ErrMalformed, err)
	}
	for _, s := range n.Sigs { // note.Open takes unused bits at their ends as well
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("%w checkpoint: its signature is not in its one form", ErrMalformed)
		}
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != verifier.Name() {
		return Checkpoint{}, fmt.Errorf("%w: it is of %q and signed by the key of %q", ErrSignature, c.Origin, verifier.Name())
	}
	return c, nil
}

// ParseCheckpoint reads the body of a checkpoint, as Text writes it, whoever has signed it. The error is [ErrMalformed].
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[0] == "" || lines[3] != "" {
		return c, fmt.Errorf("%w checkpoint: its text is not three lines", ErrMalformed)
	}
	c.Origin = lines[0]
	if c.Size, err = strconv.ParseUint(lines[1], 10, 63); err != nil {
		return c, fmt.Errorf("%w checkpoint: %q is no size", ErrMalformed, lines[1])
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return c, fmt.Errorf("%w checkpoint: %q is no root", ErrMalformed, lines[2])
	}
	if c.Text() != text {
		return c, fmt.Errorf("%w checkpoint: its numbers are not in their one form", ErrMalformed)
	}
	return c, nil
}

func parseHash(text string) (h tlog.Hash, err error) {
	data, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || len(data) != len(h) {
		return h, ErrMalformed
	}
	return tlog.Hash(data), nil
}
