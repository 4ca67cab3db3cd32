// Package journaltest opens journals on real stores for tests of other packages.
package journaltest

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
)

// A Store is a SQLite store in a temporary directory whose answers a test can tamper with. Set its
// fields only while nothing reads them.
type Store struct {
	Faults
	Random io.Reader        // of new journals; crypto/rand
	Now    func() time.Time // of all journals; time.Now

	folder string     // of the keys
	mu     sync.Mutex // held by the log that is appending
}

// New returns an empty store, which is closed at the end of the test.
func New(t *testing.T) *Store {
	t.Helper()
	folder := t.TempDir()
	sound, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, sound.Close()) })
	return &Store{Faults: Faults{Store: sound}, Random: rand.Reader, Now: time.Now, folder: folder}
}

// Open returns a journal on a new store.
func Open(t *testing.T) *journal.Journal {
	t.Helper()
	return New(t).Journal(t)
}

// Journal returns a journal with its own log on the store. Two journals share no memory, like two
// processes. Both are closed at the end of the test.
func (s *Store) Journal(t *testing.T) *journal.Journal {
	t.Helper()
	log, err := ledger.Open(t.Context(), s, ledger.Options{
		Folder: t.TempDir(), KeyFile: filepath.Join(s.folder, ledger.KeyName),
	})
	require.NoError(t, err)
	t.Cleanup(func() {
		if err := log.Close(); !errors.Is(err, ledger.ErrClosed) { // the test may have closed it
			assert.NoError(t, err)
		}
	})
	return journal.New(log, s.Random, func() time.Time { return s.Now() })
}

// interrupted is a source of randomness that calls by before its first read.
type interrupted struct {
	once sync.Once
	by   func()
}

func (r *interrupted) Read(p []byte) (int, error) {
	r.once.Do(r.by)
	return rand.Read(p)
}

// Overtake runs by when the journal is about to make its next record.
func Overtake(j *journal.Journal, by func()) { j.Random = &interrupted{by: by} }

// Rules returns rules over the built-in decks with limits of 1,000,000 items and 10,000,000
// results.
func Rules(t *testing.T) *plan.Rules {
	t.Helper()
	decks, err := deck.Builtin()
	require.NoError(t, err)
	return &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1_000_000, Results: 10_000_000}}
}

// OwnDeck returns the file of a deck type called own, of two cards: X, and one with a code.
func OwnDeck(code string) string {
	return fmt.Sprintf(`{
  "type": "own", "name": {"en": "Own", "zh": "自备"}, "family": "french", "size": 2,
  "cards": [
    {"code": "X", "name": {"en": "X", "zh": "X"}, "glyph": "x", "attributes": {}},
    {"code": %q, "name": {"en": "Other", "zh": "其他"}, "glyph": "o", "attributes": {}}
  ]
}`, code)
}

// Size returns the number of records in the store.
func (s *Store) Size(t *testing.T) uint64 {
	t.Helper()
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	return head.Size
}

// Append appends a batch.
func (s *Store) Append(ctx context.Context, b ledger.Batch) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Faults.Append(ctx, b)
}

// AppendNext appends a batch; other logs on the store wait.
func (s *Store) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Faults.AppendNext(ctx, next)
}

// Close does nothing, since the store outlives its logs.
func (*Store) Close() error { return nil }
