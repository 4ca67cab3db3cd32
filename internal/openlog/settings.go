package openlog

import (
	"bytes"
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"riffle/internal/anchor"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
	"riffle/internal/relay"
	"riffle/internal/system"
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

	WitnessPolicy string        // file that ReadWitnesses reads; empty for none
	Witnesses     *proof.Policy // who has to cosign its checkpoints, by WitnessPolicy; nil for nobody
	Relays        relay.Relays  // of a public beacon
	Decks         string        // folder of the operator's deck types; empty for none
}

// Values of Settings.Create.
const (
	CreateAuto  = "auto"  // create the log if it does not exist
	CreateNever = "never" // fail if the log does not exist
)

// mostPolicy is the size of the largest file of a policy, in bytes.
const mostPolicy = 1 << 20

// storeName is the SQLite file in the folder of a log.
const storeName = "riffle.db"

// StoreFile returns the path of the SQLite database.
func (s *Settings) StoreFile() string { return filepath.Join(s.Folder, storeName) }

func (s *Settings) checkpointFile() string { return filepath.Join(s.Folder, ledger.CheckpointName) }

// ReadWitnesses reads the policy.
func (s *Settings) ReadWitnesses() error {
	s.Witnesses = nil
	if s.WitnessPolicy == "" {
		return nil
	}
	text, err := system.ReadFile(s.WitnessPolicy, mostPolicy)
	if err == nil {
		s.Witnesses, err = proof.ParsePolicy(bytes.TrimPrefix(text, []byte("\ufeff"))) // some editors write it
	}
	if err != nil {
		return err
	}
	for _, w := range s.Witnesses.Witnesses {
		if at, err := url.Parse(w.URL); err != nil || at.Host == "" || at.Scheme != "https" && at.Scheme != "http" {
			return fmt.Errorf("the witness %s needs a URL, such as https://witness.example/add", w.Name)
		}
	}
	return nil
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
