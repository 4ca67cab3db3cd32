// Package ledgertest is the conformance suite of [ledger.Store]. An engine's tests declare an
// [Engine], call its Run, and call its Main from TestMain. A [Chain] makes a log's batches without
// a log.
package ledgertest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// An Engine is an implementation of [ledger.Store] to test.
type Engine struct {
	// New returns the location of a new, empty store: a path or a URL.
	New func(t *testing.T) string
	// Open opens a store. Other processes call it too, so it must not depend on a test's set-up.
	Open func(ctx context.Context, location string) (ledger.Store, error)
	// Shared says that several processes may open one store.
	Shared bool
}

// Run runs the suite. The package's TestMain must call Main.
func (e Engine) Run(t *testing.T) {
	for name, test := range map[string]func(*testing.T, Engine){
		"EmptyStore":                       testEmptyStore,
		"LogBeginsOnce":                    testLogBeginsOnce,
		"BatchesReadBack":                  testBatchesReadBack,
		"HashesByLevel":                    testHashesByLevel,
		"ByReferenceInLogOrder":            testByReferenceInLogOrder,
		"ClaimsAreTransferred":             testClaimsAreTransferred,
		"HoldersAndFirsts":                 testHoldersAndFirsts,
		"WrongSizeConflicts":               testWrongSizeConflicts,
		"DuplicateIDOrClaimConflicts":      testDuplicateConflicts,
		"AppendNext":                       testAppendNext,
		"AppendNextIsFair":                 testAppendNextIsFair,
		"ReadersSeeWholeBatches":           testReadersSeeWholeBatches,
		"SecondOpenIsRejectedUnlessShared": testSecondOpen,
		"ProcessesShareALog":               testProcessesShareALog,
		"LeftStoreTakesNoMore":             testLeave,
		"CheckFindsDamage":                 testCheckFindsDamage,
		"Copy":                             testCopy,
		"CopyRefuses":                      testCopyRefuses,
		"CanceledReadIsNotErrNotFound":     testCanceledRead,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel() // every test has separate stores
			test(t, e)
		})
	}
}

// testLeave leaves a store. One that was opened before cannot append any more, and no other can be
// opened.
func testLeave(t *testing.T, e Engine) {
	location := e.New(t)
	s, chain := e.open(t, location), NewChain(t)
	chain.Append(s)
	chain.Append(s, Entries("before", 1)...)
	if !e.Shared {
		closeStore(t, s)
	}
	again := e.open(t, location)
	require.NoError(t, again.Leave(t.Context()))
	version, moved, err := again.Status(t.Context())
	require.NoError(t, err)
	assert.EqualValues(t, ledger.Version, version)
	assert.True(t, moved)
	if e.Shared {
		assert.ErrorIs(t, s.Append(t.Context(), chain.Next(Entries("late", 1)...)), ledger.ErrConflict)
	}
	closeStore(t, again)
	_, err = e.Open(t.Context(), location)
	assert.ErrorContains(t, err, "the log was moved to another store: start the service on that one")
}

// open opens a store and closes it with the test.
func (e Engine) open(t *testing.T, location string) *openStore {
	t.Helper()
	opened, err := e.Open(t.Context(), location)
	require.NoError(t, err)
	s := &openStore{Store: opened, close: sync.OnceValue(opened.Close)}
	t.Cleanup(func() { closeStore(t, s) })
	return s
}

// An openStore is closed once, however often Close is called.
type openStore struct {
	ledger.Store
	close func() error
}

func (s *openStore) Close() error { return s.close() }

func (e Engine) newLog(t *testing.T) (ledger.Store, *Chain) {
	t.Helper()
	s, c := e.open(t, e.New(t)), NewChain(t)
	c.Append(s)
	return s, c
}

func closeStore(t *testing.T, s ledger.Store) {
	t.Helper()
	assert.NoError(t, s.Close())
}

func testEmptyStore(t *testing.T, e Engine) {
	s := e.open(t, e.New(t))
	for method, head := range map[string]func(context.Context) (ledger.Head, error){"Head": s.Head, "Confirm": s.Confirm} {
		if head, err := head(t.Context()); err != nil || head.Size != 0 || len(head.Edge) != 0 || len(head.Checkpoint) != 0 {
			t.Errorf("%s returns %+v, %v, want none", method, head, err)
		}
	}
	for _, q := range []ledger.EntryQuery{ledger.ByID(uuid.UUID{1}), ledger.ByClaim("claim"), ledger.ByReference("game", 0, 10), ledger.Range(0, 10)} {
		assert.Empty(t, selected(t, s, q), "%+v", q)
	}
	for level := range 3 {
		list, err := s.Hashes(t.Context(), level, 0, 10)
		require.NoError(t, err)
		assert.Empty(t, list, "level %d", level)
	}
}

func testLogBeginsOnce(t *testing.T, e Engine) {
	s, c := e.open(t, e.New(t)), NewChain(t)
	early := NewChain(t).Next(Entries("early", 2)...)
	assert.ErrorIs(t, s.Append(t.Context(), early), ledger.ErrConflict, "entries of a log that has not begun")
	c.Append(s)
	c.CheckLog(s)
	assert.ErrorIs(t, s.Append(t.Context(), NewChain(t).Next()), ledger.ErrConflict, "the log began twice")
	c.Append(s, Entries("first", 2)...)
	c.CheckLog(s)
}

func testBatchesReadBack(t *testing.T, e Engine) {
	location := e.New(t)
	s, c := e.open(t, location), NewChain(t)
	c.Append(s)
	for i, n := range []int{1, 15, 16, 17, 31, 33, 200, 700} {
		batch := Entries(fmt.Sprint("batch ", i), n)
		batch[0].Reference, batch[0].Claims = "game ♣ 7", []ledger.Claim{{Name: fmt.Sprint("claim ", i)}}
		batch[n-1].Sidecar = nil
		batch[n/2].Record = bytes.Repeat([]byte("0123456789abcde"), 65535/15) // the longest
		c.Append(s, batch...)
		c.CheckLog(s)
	}
	assert.Equal(t, []uint64{16}, indexes(selected(t, s, ledger.ByClaim("claim 2"))), "the holder of a claim")
	closeStore(t, s)
	c.CheckLog(e.open(t, location))
}

func testWrongSizeConflicts(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	c.Append(s, Entries("first", 3)...)
	for _, size := range []uint64{0, 2, 4, 1 << 40} {
		other := NewChain(t)
		batch := other.Next(Entries("second", 20)...)
		batch.Size = size
		batch.Head.Size = size + 20
		assert.ErrorIsf(t, s.Append(t.Context(), batch), ledger.ErrConflict, "a batch for size %d", size)
		c.CheckLog(s)
	}
	c.Append(s, Entries("second", 20)...)
	c.CheckLog(s)
}

func testDuplicateConflicts(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	entries := Entries("first", 2)
	entries[1].Claims = []ledger.Claim{{Name: "the only one"}}
	c.Append(s, entries...)
	before := *c
	sameID := append(Entries("again", 20), entries[0])
	sameClaim := Entries("claim", 300)
	sameClaim[270].Claims = entries[1].Claims
	for name, list := range map[string][]ledger.Entry{"id": sameID, "claim": sameClaim} {
		attempt := before
		assert.ErrorIsf(t, s.Append(t.Context(), attempt.Next(list...)), ledger.ErrConflict, "a duplicate %s", name)
		before.CheckLog(s)
	}
	before.Append(s, Entries("third", 300)...)
	before.CheckLog(s)
}

func testByReferenceInLogOrder(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	entries := Entries("references", 40)
	for i := range entries {
		entries[i].Reference = fmt.Sprint("game ", i%2)
	}
	c.Append(s, entries...)
	for _, v := range []struct {
		from  uint64
		limit int
		want  []uint64
	}{{0, 3, []uint64{1, 3, 5}}, {5, 2, []uint64{5, 7}}, {6, 2, []uint64{7, 9}}, {37, 9, []uint64{37, 39}}, {40, 9, nil}} {
		assert.Equal(t, v.want, indexes(selected(t, s, ledger.ByReference("game 1", v.from, v.limit))), "%+v", v)
	}
}

// selected returns what a query finds.
func selected(t *testing.T, s ledger.Store, q ledger.EntryQuery) []ledger.StoredEntry {
	t.Helper()
	list, err := s.Select(t.Context(), q)
	require.NoError(t, err)
	return list
}

func indexes(list []ledger.StoredEntry) (indexes []uint64) {
	for _, e := range list {
		indexes = append(indexes, e.Index)
	}
	return indexes
}

// The log fills three levels of tiles.
func testHashesByLevel(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	const size = 256*256 + 300
	stored := map[int64]tlog.Hash{} // by tlog's index
	for len(c.Entries) < size {
		c.Append(s, Entries(fmt.Sprint(len(c.Entries)), min(5000, size-len(c.Entries)))...)
	}
	reader := tlog.HashReaderFunc(func(indexes []int64) (list []tlog.Hash, err error) {
		for _, i := range indexes {
			list = append(list, stored[i])
		}
		return list, nil
	})
	for i, entry := range c.Entries {
		hashes, err := tlog.StoredHashesForRecordHash(int64(i), entry.Hash, reader)
		require.NoError(t, err)
		for k, h := range hashes {
			stored[tlog.StoredHashIndex(0, int64(i))+int64(k)] = h
		}
	}
	for level := range 4 {
		have := size >> (8 * level)
		for _, v := range []struct{ from, n, want int }{
			{0, 10, min(10, have)}, {max(have-1, 0), 256, min(1, have)}, {have, 1, 0}, {max(have-256, 0), 256, min(256, have)},
		} {
			got, err := s.Hashes(t.Context(), level, uint64(v.from), v.n)
			require.NoError(t, err)
			assert.Len(t, got, v.want, "level %d, %+v", level, v)
			for i, h := range got {
				require.Equal(t, stored[tlog.StoredHashIndex(8*level, int64(v.from+i))], h, "level %d: hash %d", level, v.from+i)
			}
		}
	}
	assert.Equal(t, []uint64{65_000, 65_001, 65_002}, indexes(selected(t, s, ledger.Range(65_000, 3))))
	CheckLog(t, s, c.Verify)
}

// While batches of ten are appended, readers see only multiples of ten and can read the last
// records.
func testReadersSeeWholeBatches(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	var wait sync.WaitGroup
	var stop atomic.Bool
	for range 4 {
		wait.Go(func() {
			for !stop.Load() {
				head, err := s.Head(t.Context())
				if err != nil || head.Size%10 != 0 {
					t.Errorf("a reader sees the size %d, %v", head.Size, err)
					return
				}
				list, err := s.Select(t.Context(), ledger.Range(max(head.Size, 5)-5, 5))
				if err != nil || head.Size > 0 && len(list) != 5 {
					t.Errorf("a reader sees %d of the last five of %d, %v", len(list), head.Size, err)
					return
				}
			}
		})
	}
	for i := range 100 {
		c.Append(s, Entries(fmt.Sprint(i), 10)...)
	}
	stop.Store(true)
	wait.Wait()
	c.CheckLog(s)
}

func testSecondOpen(t *testing.T, e Engine) {
	location := e.New(t)
	first := e.open(t, location)
	second, err := e.Open(t.Context(), location)
	switch {
	case err == nil:
		closeStore(t, second)
		assert.True(t, e.Shared, "the store was opened twice")
	case e.Shared || !errors.Is(err, ledger.ErrInUse):
		t.Errorf("a second open: %v", err)
	}
	NewChain(t).Append(first)
	closeStore(t, first)
	e.open(t, location)
}

func testAppendNext(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	c.Append(s, Entries("first", 3)...)
	failed := errors.New("next failed")
	for _, want := range []error{nil, failed} {
		assert.ErrorIs(t, s.AppendNext(t.Context(), func(ledger.Head) (*ledger.Batch, error) { return nil, want }), want)
		c.CheckLog(s)
	}
	for i := range 3 {
		err := s.AppendNext(t.Context(), func(head ledger.Head) (*ledger.Batch, error) {
			assert.EqualValues(t, len(c.Entries), head.Size)
			batch := c.Next(Entries(fmt.Sprint("next", i), 20)...)
			return &batch, nil
		})
		require.NoError(t, err)
		c.CheckLog(s)
	}
	attempt := *c
	err := s.AppendNext(t.Context(), func(ledger.Head) (*ledger.Batch, error) {
		batch := attempt.Next(append(Entries("again", 2), c.Entries[0])...)
		return &batch, nil
	})
	assert.ErrorIs(t, err, ledger.ErrConflict, "a duplicate id")
	c.CheckLog(s)
	c.Append(s, Entries("last", 2)...)
	c.CheckLog(s)
}

// One of two logs appends without a pause. A batch of the other conflicts at most once.
func testAppendNextIsFair(t *testing.T, e Engine) {
	if !e.Shared {
		return
	}
	location, key := e.New(t), filepath.Join(t.TempDir(), ledger.KeyName)
	var conflicts [2]atomic.Int64 // of all batches
	var logs [2]*ledger.Log
	for i := range logs {
		var err error
		logs[i], err = ledger.Open(t.Context(), e.open(t, location), ledger.Options{Folder: t.TempDir(), KeyFile: key, Observe: func(c ledger.Commit) {
			conflicts[i].Add(int64(c.Conflicts))
			assert.LessOrEqual(t, c.Conflicts, 1)
		}})
		require.NoError(t, err)
	}
	var wait sync.WaitGroup
	var done atomic.Bool
	busy := 0
	wait.Go(func() {
		for ; !done.Load(); busy++ {
			if _, err := logs[0].Append(Entries(fmt.Sprint("busy", busy), 1)[0]); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for _, entry := range Entries("second", 100) {
		_, err := logs[1].Append(entry)
		require.NoError(t, err)
	}
	done.Store(true)
	wait.Wait()
	t.Logf("100 entries beside %d; %d and %d conflicts", busy, conflicts[1].Load(), conflicts[0].Load())
	assert.NotZero(t, conflicts[1].Load(), "there was no contention")
	for _, log := range logs {
		assert.NoError(t, log.Close())
	}
}

// Stores write damaged batches unchanged.
func testCheckFindsDamage(t *testing.T, e Engine) {
	for name, damage := range map[string]func(*ledger.Batch){
		"a record":         func(b *ledger.Batch) { b.Entries[200].Record = append([]byte("x"), b.Entries[200].Record...) },
		"a hash":           func(b *ledger.Batch) { b.Entries[200].Hash[3] ^= 1 },
		"a node":           func(b *ledger.Batch) { b.Nodes[0].Hash[3] ^= 1 },
		"a missing node":   func(b *ledger.Batch) { b.Nodes = nil },
		"an extra node":    func(b *ledger.Batch) { b.Nodes = append(b.Nodes, ledger.Node{Level: 1, Index: 1}) },
		"the edge":         func(b *ledger.Batch) { b.Head.Edge[3] ^= 1 },
		"the checkpoint":   func(b *ledger.Batch) { b.Head.Checkpoint[20] ^= 1 },
		"the size":         func(b *ledger.Batch) { b.Head.Size++ },
		"a missing record": func(b *ledger.Batch) { b.Entries = b.Entries[:299] },
		"an extra record":  func(b *ledger.Batch) { b.Entries = append(b.Entries, ledger.Entry{Record: []byte("{}")}) },
		"swapped records":  func(b *ledger.Batch) { swapRecords(b.Entries, 7, 8) },
		// No stored node covers the last records.
		"the last records": func(b *ledger.Batch) { swapRecords(b.Entries, 298, 299) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := e.newLog(t)
			batch := c.Next(Entries("damaged", 300)...)
			damage(&batch)
			require.NoError(t, s.Append(t.Context(), batch))
			result, err := ledger.Check{Verifier: c.Verify}.Run(t.Context(), s)
			require.NoError(t, err)
			assert.NotEmpty(t, result.Findings)
		})
	}
}

func swapRecords(entries []ledger.Entry, i, k int) {
	entries[i].Record, entries[k].Record = entries[k].Record, entries[i].Record
	entries[i].Hash, entries[k].Hash = entries[k].Hash, entries[i].Hash
}

func testCanceledRead(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	c.Append(s, Entries("there", 1)...)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := ledger.FirstOrNotFound(s.Select(ctx, ledger.ByID(c.Entries[0].ID))); err == nil || errors.Is(err, ledger.ErrNotFound) || errors.Is(err, ledger.ErrCorrupt) {
		t.Errorf("a canceled read: %v, want neither nil nor ErrNotFound nor ErrCorrupt", err)
	}
	c.CheckLog(s)
}
