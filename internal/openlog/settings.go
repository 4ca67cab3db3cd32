package openlog

import (
	"bytes"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/anchor"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
	"riffle/internal/relay"
)

// Settings configure the log.
type Settings struct {
	Folder   string // its files; shared by no other log
	ReadOnly bool   // the log takes no more records; nothing is written to the folder or the store

	Store       string         // URL of a PostgreSQL database; empty for SQLite in Folder
	Create      string         // CreateAuto or CreateNever
	Key         string         // file of the private key; empty for the one in Folder
	SeedKey     ledger.SeedKey // takes precedence over SeedKeyFile
	SeedKeyFile string
	KeyCommand  string // prints a key, in place of the files; {} in it becomes log.key or seed.key
	Origin      string
	Deadline    time.Duration // time to live of a commitment
	Anchors     anchor.Places // besides the checkpoint file
	NewAnchors  bool          // the log has records, and its anchors are new
	Witnesses   *proof.Policy // who has to cosign its checkpoints; nil for nobody
	secondKeys  []string      // paths of private keys that the policy names
	Relays      relay.Relays  // of a public beacon
	Decks       string        // folder of the operator's deck types; empty for none
}

// Values of Settings.Create.
const (
	CreateAuto  = "auto"  // create the log if it does not exist
	CreateNever = "never" // fail if the log does not exist
)

// storeName is the SQLite file in the folder of a log.
const storeName = "riffle.db"

// StoreFile returns the path of the SQLite database.
func (s *Settings) StoreFile() string { return filepath.Join(s.Folder, storeName) }

func (s *Settings) checkpointFile() string { return filepath.Join(s.Folder, ledger.CheckpointName) }

// ReadWitnesses reads the policy in a file; an empty name is for none.
func (s *Settings) ReadWitnesses(file string) error {
	s.Witnesses, s.secondKeys = nil, nil
	if file == "" {
		return nil
	}
	text, err := os.ReadFile(file)
	if err == nil {
		s.Witnesses, err = proof.ParsePolicy(bytes.TrimPrefix(text, []byte("\ufeff"))) // some editors write it
	}
	if err != nil {
		return err
	}
	for i := range s.Witnesses.Witnesses {
		w := &s.Witnesses.Witnesses[i]
		if path, isOwn := strings.CutPrefix(w.URL, "file:"); isOwn {
			if w.Signer, err = readSigner(path, w.Key); err != nil {
				return fmt.Errorf("the key of %s: %w", w.Name, err)
			}
			s.secondKeys = append(s.secondKeys, path)
			continue
		}
		if at, err := url.Parse(w.URL); err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
			return fmt.Errorf("the witness %s needs a URL, such as https://witness.example/add, or file: and the path of a key of your own", w.Name)
		}
	}
	return nil
}

// readSigner reads the private ML-DSA-44 key of a verifier key.
func readSigner(path string, public note.Verifier) (note.Signer, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	signer, err := cosignature.NewMLDSASigner(strings.TrimSpace(string(text)))
	if err != nil || signer.Name() != public.Name() || signer.KeyHash() != public.KeyHash() {
		return nil, fmt.Errorf("%s is not the private half of the ML-DSA-44 key in the policy, as riffle key cosign makes it", path)
	}
	return signer, nil
}

// Check calls reject for each invalid setting, with the rule that it breaks.
func (s *Settings) Check(reject func(setting, rule string)) {
	if s.Create != CreateAuto && s.Create != CreateNever {
		reject("create", fmt.Sprintf("must be auto or never, got %q", s.Create))
	}
	if s.Deadline < time.Second || s.Deadline > 30*24*time.Hour {
		reject("deadline", fmt.Sprintf("must be from 1s to 720h, got %v", s.Deadline))
	}
	if s.KeyCommand != "" && !strings.Contains(s.KeyCommand, keycommand.Placeholder) {
		reject("key-command", "must have {} in it, which becomes log.key or seed.key")
	}
	if s.KeyCommand != "" && (s.Key != "" || s.SeedKeyFile != "" || s.SeedKey != nil) {
		reject("key-command", "prints both keys; leave out key and seed-key")
	}
	if s.Store != "" && !strings.HasPrefix(s.Store, "postgres://") && !strings.HasPrefix(s.Store, "postgresql://") {
		reject("store", "must be the URL of a PostgreSQL database, such as postgres://user@host/name; leave it out for SQLite in the data folder")
	}
}
