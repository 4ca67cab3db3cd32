package ledger

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"
)

// A Key signs the checkpoints of one log, whose origin is the key's name.
type Key struct {
	note.Signer
	Verifier note.Verifier
	Public   string // the verifier key: name, hash and Ed25519 public key as text
}

// maxOrigin is the longest name of a log, in bytes. A checkpoint stays shorter than a sector of a disk with it.
const maxOrigin = 128

// CheckOrigin checks the name of a log: what a signed note takes for the name of a key, and one line.
func CheckOrigin(origin string) error {
	switch {
	case origin == "" || len(origin) > maxOrigin:
		return fmt.Errorf("the origin of a log has 1 to %d bytes", maxOrigin)
	case strings.ContainsFunc(origin, func(r rune) bool { return r == '+' || unicode.IsSpace(r) || !unicode.IsPrint(r) }):
		return fmt.Errorf("the origin of a log has no white space and no +; a name like shuffles.example.com/2026 is usual")
	}
	return nil
}

// ParseKey reads a private key: PRIVATE+KEY+, the name, a hash and the Ed25519 seed, as signed notes have it.
func ParseKey(private string) (*Key, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return nil, errors.New("it is no private key of a log, or a damaged one")
	}
	if err := CheckOrigin(signer.Name()); err != nil {
		return nil, err
	}
	// NewSigner has checked the parts: PRIVATE, KEY, name, hash, and in base64 the algorithm and the seed.
	seed, err := base64.StdEncoding.DecodeString(strings.SplitN(private, "+", 5)[4])
	if err != nil {
		return nil, err
	}
	public, err := note.NewEd25519VerifierKey(signer.Name(), ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey))
	if err != nil {
		return nil, err
	}
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, err
	}
	return &Key{Signer: signer, Verifier: verifier, Public: public}, nil
}

// readKey reads the key in a file. The error is [fs.ErrNotExist] if there is none.
func readKey(path string) (*Key, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	key, err := ParseKey(strings.TrimSuffix(string(text), "\n"))
	if err != nil {
		return nil, fmt.Errorf("the key file %s cannot be used: %w. Put the right one back from a backup", path, err)
	}
	return key, nil
}

// makeKey makes a key in a new file, readable by its owner alone. If somebody else has made it in the meantime, theirs is
// the key.
func makeKey(path, origin string, random io.Reader) (*Key, error) {
	private, _, err := note.GenerateKey(random, origin)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	if err := makeKeyFile(path, private); err != nil {
		return nil, err
	}
	return readKey(path)
}

// makeKeyFile writes a line to a new file, durably. A file that is there is never overwritten.
func makeKeyFile(path, line string) (err error) {
	// A link appears whole, or not at all where the name is taken.
	draft, err := os.CreateTemp(filepath.Dir(path), ".key-")
	if err != nil {
		return fmt.Errorf("making the key file %s: %w", path, err)
	}
	defer func() { err = errors.Join(err, os.Remove(draft.Name())) }()
	_, err = draft.WriteString(line + "\n")
	if err = errors.Join(err, draft.Chmod(0o600), draft.Sync(), draft.Close()); err != nil {
		return fmt.Errorf("writing the key file: %w", err)
	}
	if err := os.Link(draft.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("making the key file: %w", err)
	}
	if err := syncFolder(path); err != nil {
		return fmt.Errorf("making the key file durable: %w", err)
	}
	return nil
}

// syncFolder makes the name of a file survive power loss.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(folder.Sync(), folder.Close())
}
