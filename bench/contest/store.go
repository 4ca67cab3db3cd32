package contest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// A Store is one of SQLite's whose log has begun, to measure commits of one record without the service.
type Store struct {
	*sqlite.Store
	tree ledger.Tree
	key  *ledger.Key
}

// NewStore makes a store. Close it.
func NewStore(ctx context.Context, path string) (*Store, error) {
	private, _, err := note.GenerateKey(rand.Reader, "bench")
	if err != nil {
		return nil, err
	}
	s := &Store{}
	if s.key, err = ledger.ParseKey(private); err != nil {
		return nil, err
	}
	if s.Store, err = sqlite.Open(ctx, path); err != nil {
		return nil, err
	}
	first, err := s.tree.Seal(nil, s.key)
	if err == nil {
		err = s.Append(ctx, first)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// NewEntry returns an entry of the usual size.
func NewEntry(reference string) ledger.Entry {
	record := bytes.Repeat([]byte("record, "), 50)
	return ledger.Entry{ID: uuid.Must(uuid.NewV7()), Reference: reference, Record: record, Sidecar: make([]byte, 64)}
}

// Commit commits a batch of one entry and returns how long that took. That it is hashed and signed does not count.
func (s *Store) Commit(ctx context.Context, e ledger.Entry) (time.Duration, error) {
	e.Hash = tlog.RecordHash(e.Record)
	batch, err := s.tree.Seal([]ledger.Entry{e}, s.key)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	err = s.Append(ctx, batch)
	return time.Since(began), err
}
