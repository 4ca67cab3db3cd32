package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
)

// A logSource is the log that a command reads. Its settings have the names that they have in the
// service, and an empty one counts as unset.
type logSource struct {
	Data    string  `placeholder:"DIR" env:"RIFFLE_DATA" help:"The data folder, with checkpoint, log.key and, for SQLite, riffle.db and riffle.db-wal. Default ./data."`
	Log     logName `placeholder:"NAME" help:"A log beside the main one, which is in the folder logs/NAME of the data folder. RIFFLE_STORE and the variables of keys are for the main one alone."`
	Store   string  `placeholder:"URL" env:"RIFFLE_STORE" help:"The PostgreSQL database of the log, postgres://... Default SQLite in the data folder."`
	Key     string  `placeholder:"FILE" env:"RIFFLE_KEY_FILE" help:"The log's verifier key, as GET /log/key answers it, or its private key, of which only the public half is used. Default log.key in the data folder."`
	number  int     // of the log among those that follow each other in the folder; 0 for the first
	SeedKey string  `placeholder:"FILE" env:"RIFFLE_SEED_KEY_FILE" help:"The key that encrypts seeds; RIFFLE_SEED_KEY may hold the key itself. Default seed.key beside the log's key."`
	Command string  `name:"key-command" placeholder:"COMMAND" env:"RIFFLE_KEY_COMMAND" help:"A command that prints a key in place of the files, such as 'cat /keys/{}'; {} becomes log.key or seed.key. There is no shell."`
}

func (s *logSource) folder() string { return ledger.SuccessorFolder(s.Log.folder(s.Data), s.number) }

func (s *logSource) location() string {
	return ledger.SuccessorStore(s.Log.setting(s.Store, "RIFFLE_STORE"), s.number)
}

// keyCommand returns the command that prints the keys; empty for files.
func (s *logSource) keyCommand() string { return s.Log.setting(s.Command, "RIFFLE_KEY_COMMAND") }

// each calls do for the log, and for those that follow it in its folder as long as do says that one does.
func (s *logSource) each(do func() (followed bool, err error)) error {
	for s.number = 0; ; {
		if followed, err := do(); err != nil || !followed {
			return err
		}
		s.number = max(s.number, 1) + 1
	}
}

// inPasses calls do for all logs as each does: first ahead, without their last records, so that no
// service begins the next one anew, and then to the end, unless only ahead is asked for.
func (s *logSource) inPasses(onlyAhead bool, do func(ahead bool) (followed bool, err error)) error {
	err := s.each(func() (bool, error) { return do(true) })
	if err != nil || onlyAhead {
		return err
	}
	return s.each(func() (bool, error) { return do(false) })
}

// isFollowed reports whether a store's last record ends its log, and another one follows in the same
// folder.
func (s *logSource) isFollowed(ctx context.Context, store ledger.Reader, origin string) (bool, error) {
	last, err := lastRecord(ctx, store)
	if err != nil || last == nil || last.Kind != audit.KindLogEnd {
		return false, err
	}
	next, _, _ := strings.Cut(last.Successor, "+")
	first := strings.TrimSuffix(origin, fmt.Sprintf("/%d", s.number))
	return next == ledger.SuccessorOrigin(first, max(s.number, 1)+1), nil
}

func (s *logSource) keyFile() string {
	return cmp.Or(s.Log.setting(s.Key, "RIFFLE_KEY_FILE"), filepath.Join(s.folder(), ledger.KeyName))
}

// seedKeys reads the keys that encrypt seeds: from --key-command, --seed-key, RIFFLE_SEED_KEY, or
// beside the log's key or in the data folder. The error for a missing file ends with what else one
// can do.
func (s *logSource) seedKeys(ctx context.Context, otherwise string) (ledger.SeedKeys, error) {
	if command := s.keyCommand(); command != "" {
		text, err := keycommand.Run(ctx, command, ledger.SeedKeyName)
		if err != nil {
			return nil, err
		}
		return ledger.ParseSeedKeys(text)
	}
	named := s.Log.setting(s.SeedKey, "RIFFLE_SEED_KEY_FILE")
	if text := os.Getenv("RIFFLE_SEED_KEY"); text != "" && named == "" && !s.Log.named() {
		keys, err := ledger.ParseSeedKeys(text)
		if err != nil {
			return nil, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		return keys, nil
	}
	paths := []string{named}
	if named == "" {
		paths = []string{filepath.Join(filepath.Dir(s.keyFile()), ledger.SeedKeyName), filepath.Join(s.folder(), ledger.SeedKeyName)}
	}
	for _, path := range paths {
		if keys, err := ledger.ReadSeedKeys(path); !errors.Is(err, fs.ErrNotExist) {
			return keys, err
		}
	}
	return nil, fmt.Errorf("there is no seed key at %s: use --seed-key to name it%s", paths[len(paths)-1], otherwise)
}

// vault opens the vault of a store that has the head. Without encrypted seeds, any key will do. otherwise is
// what else one can do without the right one.
func (s *logSource) vault(ctx context.Context, head ledger.Head, otherwise string) (_ *ledger.Vault, err error) {
	keys := ledger.SeedKeys{make([]byte, ledger.SeedKeySize)}
	if len(head.SeedKey) > 0 {
		if keys, err = s.seedKeys(ctx, otherwise); err != nil {
			return nil, err
		}
	}
	vault, err := ledger.OpenVault(head, keys)
	if err != nil {
		return nil, fmt.Errorf("%w: use --seed-key to name the key of this store%s", err, otherwise)
	}
	return vault, nil
}

// readVerifier reads the key that verifies the log's checkpoints, and returns its text, too. A log
// that follows another one in its folder has that one's key under another name.
func (s *logSource) readVerifier(ctx context.Context) (verifier note.Verifier, key string, err error) {
	text := ""
	if command := s.keyCommand(); command == "" {
		key, err = readVerifierKey(s.keyFile())
	} else if text, err = keycommand.Run(ctx, command, ledger.KeyName); err == nil {
		key, err = verifierKey(text, "what --key-command printed")
	}
	if folder := filepath.Clean(s.folder()); err == nil && (text != "" || filepath.Dir(s.keyFile()) != folder) {
		key, err = ledger.SuccessorKey(key, folder)
	}
	if err == nil {
		verifier, err = note.NewVerifier(key)
	}
	return verifier, key, err
}

// readVerifierKey reads the verifier key in a file that holds it or the private key.
func readVerifierKey(path string) (string, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no key file %s: use --key to name it. The verifier key from GET /log/key is enough", path)
	} else if err != nil {
		return "", fmt.Errorf("reading the key file: %w", err)
	}
	return verifierKey(string(data), "the key file "+path)
}

// verifierKey returns the verifier key in a text that is one or a private key. source names it in
// errors.
func verifierKey(text, source string) (string, error) {
	text = strings.TrimSpace(strings.TrimPrefix(text, "\ufeff"))
	if _, err := note.NewVerifier(text); err == nil {
		return text, nil
	}
	key, err := ledger.ParseKey(text)
	if err != nil {
		return "", fmt.Errorf("%s has neither the verifier key nor the private key of a log, or holds a damaged one", source)
	}
	return key.Public, nil
}
