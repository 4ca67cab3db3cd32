package ledger_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// A faultyStore is a store whose calls can wait and fail.
type faultyStore struct {
	ledger.Store
	entered chan struct{} // if not nil, an append sends to it first
	release chan struct{} // if not nil, an append then receives from it
	before  error         // if not nil, appends fail with it and write nothing
	after   error         // if not nil, appends write and then fail with it
	race    func()        // if not nil, called once right before the next write
	shared  bool          // another log closes the store

	mu          sync.Mutex // guards the remaining calls that lose their connection:
	lostBefore  int        // appends that write nothing
	lostAfter   int        // appends that write
	lostHeads   int        // reads of the head, also to confirm it
	lostLookups int        // look-ups by id
}

func (f *faultyStore) lose(set func(*faultyStore)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(f)
}

// lost decrements a counter and returns ErrUnavailable, unless the counter is 0.
func (f *faultyStore) lost(number *int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *number == 0 {
		return nil
	}
	*number--
	return fmt.Errorf("%w: connection reset", ledger.ErrUnavailable)
}

func (f *faultyStore) Append(ctx context.Context, b ledger.Batch) error {
	if len(b.Entries) == 0 { // the log begins
		return f.write(ctx, b)
	}
	if f.entered != nil {
		f.entered <- struct{}{}
	}
	if f.release != nil {
		<-f.release
	}
	if err := f.lost(&f.lostBefore); err != nil {
		return err
	}
	lost := f.lost(&f.lostAfter)
	if lost == nil && f.before != nil {
		return f.before
	}
	if err := f.write(ctx, b); err != nil {
		return err
	}
	return cmp.Or(lost, f.after)
}

func (f *faultyStore) write(ctx context.Context, b ledger.Batch) error {
	if race := f.race; race != nil {
		f.race = nil
		race()
	}
	return f.Store.Append(ctx, b)
}

func (f *faultyStore) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, f, next)
}

func (f *faultyStore) Head(ctx context.Context) (ledger.Head, error) {
	if err := f.lost(&f.lostHeads); err != nil {
		return ledger.Head{}, err
	}
	return f.Store.Head(ctx)
}

func (f *faultyStore) Confirm(ctx context.Context) (ledger.Head, error) { return f.Head(ctx) }

func (f *faultyStore) Close() error {
	if f.shared {
		return nil
	}
	return f.Store.Close()
}

func (f *faultyStore) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	if err := f.lost(&f.lostLookups); err != nil {
		return nil, err
	}
	return f.Store.ByID(ctx, id)
}

// A tamperedStore returns changed data, as from a damaged disk.
type tamperedStore struct {
	ledger.Store
	record func(*ledger.Stored)
	head   func(*ledger.Head)
	hash   func(level int, index uint64, h *tlog.Hash)
	short  bool           // ranges lack their last record
	index  string         // a damaged index: id, claim or reference
	to     *ledger.Stored // the entry found by the damaged index, or nil
}

func (s *tamperedStore) Head(ctx context.Context) (ledger.Head, error) {
	h, err := s.Store.Head(ctx)
	if s.head != nil {
		s.head(&h)
	}
	return h, err
}

func (s *tamperedStore) Confirm(ctx context.Context) (ledger.Head, error) { return s.Head(ctx) }

func (s *tamperedStore) Range(ctx context.Context, from uint64, n int) ([]ledger.Stored, error) {
	list, err := s.list(s.Store.Range(ctx, from, n))
	if s.short {
		list = list[:len(list)-1]
	}
	return list, err
}

func (s *tamperedStore) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	list, err := s.Range(ctx, from, n)
	for _, e := range list {
		if err := each(e.Index, e.Record, e.Hash); err != nil {
			return err
		}
	}
	return err
}

func (s *tamperedStore) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	e, err := s.Store.ByID(ctx, id)
	return s.one("id", e, err)
}

func (s *tamperedStore) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	e, err := s.Store.ByClaim(ctx, claim)
	return s.one("claim", e, err)
}

func (s *tamperedStore) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	switch {
	case s.index == "reference" && s.to == nil:
		return nil, nil
	case s.index == "reference":
		return []ledger.Stored{*s.to}, nil
	}
	return s.list(s.Store.ByReference(ctx, reference, from, limit))
}

func (s *tamperedStore) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	list, err := s.Store.Hashes(ctx, level, from, n)
	for i := range list {
		if s.hash != nil {
			s.hash(level, from+uint64(i), &list[i])
		}
	}
	return list, err
}

func (s *tamperedStore) one(index string, e *ledger.Stored, err error) (*ledger.Stored, error) {
	switch {
	case index == s.index && s.to == nil:
		return nil, ledger.ErrNotFound
	case index == s.index:
		return s.to, nil
	case err == nil && s.record != nil:
		s.record(e)
	}
	return e, err
}

func (s *tamperedStore) list(list []ledger.Stored, err error) ([]ledger.Stored, error) {
	for i := range list {
		if s.record != nil {
			s.record(&list[i])
		}
	}
	return list, err
}

func flipIf(condition bool, b *byte) {
	if condition {
		*b ^= 1
	}
}

// A memoryStore is a store for synctest, since a database's goroutines would leave the bubble. It
// has only the methods that the tests need.
type memoryStore struct {
	ledger.Store
	mu      sync.Mutex
	head    ledger.Head
	entries []ledger.Stored
	readErr error // if not nil, Records fails with it
}

func (m *memoryStore) failReads(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readErr = err
}

func (m *memoryStore) Head(context.Context) (ledger.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head, nil
}

func (m *memoryStore) Confirm(ctx context.Context) (ledger.Head, error) { return m.Head(ctx) }

func (m *memoryStore) Append(_ context.Context, b ledger.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if slices.ContainsFunc(b.Entries, func(again ledger.Entry) bool { return again.ID == e.ID }) {
			return ledger.ErrConflict
		}
	}
	for i, e := range b.Entries {
		m.entries = append(m.entries, ledger.Stored{Index: b.Size + uint64(i), Entry: e})
	}
	m.head = b.Head
	return nil
}

func (m *memoryStore) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, m, next)
}

func (m *memoryStore) Records(_ context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.readErr != nil {
		return m.readErr
	}
	for _, e := range m.entries[from:min(int(from)+n, len(m.entries))] {
		if err := each(e.Index, e.Record, e.Hash); err != nil {
			return err
		}
	}
	return nil
}

func (m *memoryStore) ByID(_ context.Context, id uuid.UUID) (*ledger.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.entries {
		if m.entries[i].ID == id {
			return &m.entries[i], nil
		}
	}
	return nil, ledger.ErrNotFound
}

func (m *memoryStore) ByReference(_ context.Context, reference string, from uint64, limit int) (list []ledger.Stored, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, e := range m.entries {
		if e.Reference == reference && e.Index >= from && len(list) < limit {
			list = append(list, e)
		}
	}
	return list, nil
}

func (m *memoryStore) Firsts(ctx context.Context, references []string) (map[string][]ledger.Place, error) {
	firsts := map[string][]ledger.Place{}
	for _, reference := range references {
		list, _ := m.ByReference(ctx, reference, 0, 2)
		for _, e := range list {
			firsts[reference] = append(firsts[reference], ledger.Place{Index: e.Index, ID: e.ID})
		}
	}
	return firsts, nil
}

func (*memoryStore) Readers() int { return ledger.DefaultReaders() }

func (*memoryStore) CheckFiles() error { return nil }

func (*memoryStore) CheckRoom() error { return nil }

func (*memoryStore) Close() error { return nil }
