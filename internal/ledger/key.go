package ledger

import (
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"
)

// A SigningKey signs the checkpoints of one log. Its name is the log's origin.
type SigningKey struct {
	note.Signer
	Verifier note.Verifier
	Public   string // verifier key as text: name, hash and Ed25519 public key
	secret   []byte // an algorithm byte and the seed
}

// Name returns the log's origin.
func (k *SigningKey) Name() string { return k.Verifier.Name() }

// maxOrigin is the maximum length of an origin in bytes, so that a checkpoint fits a disk sector.
const maxOrigin = 128

// checkOrigin checks a log's origin, which is the key name of signed notes.
func checkOrigin(origin string) error {
	if origin == "" || len(origin) > maxOrigin {
		return fmt.Errorf("the origin of a log has 1 to %d bytes; this one has %d", maxOrigin, len(origin))
	}
	if strings.ContainsFunc(origin, func(r rune) bool { return r == '+' || unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return fmt.Errorf("the origin of a log has no white space and no +; %q has. A name like shuffles.example.com/2026 is usual", origin)
	}
	return nil
}

// ParseKey parses a private key in the format of signed notes, PRIVATE+KEY+<name>+<hash>+<seed>.
// See [note.GenerateKey].
func ParseKey(private string) (*SigningKey, error) {
	signer, err := note.NewSigner(private)
	if err != nil {
		return nil, errors.New("it is not the private key of a log, or it is damaged")
	}
	if err := checkOrigin(signer.Name()); err != nil {
		return nil, err
	}
	// NewSigner has checked the five parts. The last one is the base64 of an algorithm byte and the
	// seed.
	secret, _ := base64.StdEncoding.DecodeString(strings.SplitN(private, "+", 5)[4])
	public := publicKey(signer.Name(), secret)
	verifier, err := note.NewVerifier(public)
	if err != nil {
		return nil, err
	}
	return &SigningKey{Signer: signer, Verifier: verifier, Public: public, secret: secret}, nil
}

// publicKey returns the verifier key of a name with a secret.
func publicKey(name string, secret []byte) string {
	public := ed25519.NewKeyFromSeed(secret[1:]).Public().(ed25519.PublicKey)
	text, _ := note.NewEd25519VerifierKey(name, public) // fails only for another length
	return text
}

// readKey reads the key in a file. The error is [fs.ErrNotExist] if the file does not exist.
func readKey(path string) (*SigningKey, error) {
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

// makeKey generates a key and writes it to a new file. If another process has created the file in
// the meantime, makeKey returns that file's key.
func makeKey(path, origin string) (*SigningKey, error) {
	if err := checkOrigin(origin); err != nil {
		return nil, err
	}
	private, _, err := note.GenerateKey(nil, origin) // from crypto/rand
	if err != nil {
		return nil, fmt.Errorf("generating the key of the log: %w", err)
	}
	if err := makeKeyFile(path, private); err != nil {
		return nil, err
	}
	return readKey(path)
}

// makeKeyFile writes a line to a new file that only its owner can read, and fsyncs it. It never
// overwrites a file and never leaves a partial one: an existing path stays unchanged.
func makeKeyFile(path, line string) error {
	err := writeFile(path, []byte(line+"\n"), func(draft, path string) error {
		if err := os.Link(draft, path); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return os.Remove(draft)
	})
	if err != nil {
		return fmt.Errorf("making the key file %s: %w", path, err)
	}
	return nil
}
