// Package proof has the checkpoints that a log signs and the proofs that a record is in a
// checkpoint's tree. It is pure: it needs no store, clock or network.
//
// A [Checkpoint] and an [Inclusion] use the text formats tlog-checkpoint and tlog-proof of C2SP
// (https://c2sp.org). Signatures are Ed25519 in signed notes, and trees are hashed as in RFC 6962.
// Parsers accept only a text's canonical form.
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
	// ErrMalformed: the text is not in the format or not canonical.
	ErrMalformed = errors.New("malformed")
	// ErrSignature: the log's key did not sign the checkpoint.
	ErrSignature = errors.New("not signed by the key of this log")
	// ErrNotIncluded: the checkpoint's tree lacks the record at this index.
	ErrNotIncluded = errors.New("not in the tree of the checkpoint")
)

// A Checkpoint identifies a state of the log: the tree of its first Size records.
type Checkpoint struct {
	Origin string // name of the log and its key
	Size   uint64
	Root   tlog.Hash
}

// Text returns the checkpoint's body, which gets signed. It has three lines: the origin, the size
// in decimal, and the root in base64.
//
//	example.com/log
//	0
//	47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=
func (c Checkpoint) Text() string { return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root) }

// Sign returns the checkpoint as a signed note. The signer's name must be the origin.
func (c Checkpoint) Sign(signer note.Signer) ([]byte, error) {
	if signer.Name() != c.Origin {
		return nil, fmt.Errorf("a checkpoint of %q cannot be signed by the key of %q", c.Origin, signer.Name())
	}
	return note.Sign(&note.Note{Text: c.Text()}, signer)
}

// OpenCheckpoint parses and verifies a signed checkpoint. It ignores signatures by other keys, such
// as witnesses. The error is [ErrMalformed], or [ErrSignature] if the verifier's key has not signed
// it or its name is not the origin.
func OpenCheckpoint(text []byte, verifier note.Verifier) (Checkpoint, error) {
	n, err := note.Open(text, note.VerifierList(verifier))
	if unverified := (*note.UnverifiedNoteError)(nil); errors.As(err, &unverified) {
		return Checkpoint{}, fmt.Errorf("%w (%s)", ErrSignature, verifier.Name())
	} else if invalid := (*note.InvalidSignatureError)(nil); errors.As(err, &invalid) {
		return Checkpoint{}, fmt.Errorf("%w (%s): the signature is wrong", ErrSignature, verifier.Name())
	} else if err != nil {
		return Checkpoint{}, fmt.Errorf("%w checkpoint: %w", ErrMalformed, err)
	}
	for _, s := range n.Sigs { // note.Open ignores the unused bits at the end of base64
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return Checkpoint{}, fmt.Errorf("%w checkpoint: its signature is not in canonical base64", ErrMalformed)
		}
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, err
	}
	if c.Origin != verifier.Name() {
		return Checkpoint{}, fmt.Errorf("%w: its origin is %q, and the key is that of %q", ErrSignature, c.Origin, verifier.Name())
	}
	return c, nil
}

// maxSize is the most records of a log. Package tlog does not end with larger trees.
const maxSize = 1 << 62

// ParseCheckpoint parses a checkpoint's body, as [Checkpoint.Text] writes it. It verifies no
// signature. The error is [ErrMalformed].
func ParseCheckpoint(text string) (c Checkpoint, err error) {
	origin, rest, _ := strings.Cut(text, "\n")
	size, root, _ := strings.Cut(rest, "\n")
	c.Origin = origin
	if c.Size, err = strconv.ParseUint(size, 10, 64); err == nil {
		c.Root, err = tlog.ParseHash(strings.TrimSuffix(root, "\n"))
	}
	if err != nil || origin == "" || c.Size > maxSize || c.Text() != text {
		return Checkpoint{}, fmt.Errorf("%w checkpoint: its text must be three lines in canonical form: origin, size and root", ErrMalformed)
	}
	return c, nil
}
