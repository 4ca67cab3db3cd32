// Package ledgertest is the suite that every [ledger.Store] has to pass.
package ledgertest

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/uuid"

	"riffle/internal/ledger"
)

// Run runs the suite. open opens the store that it opened before in the same test, if it did, and else an empty one.
func Run(t *testing.T, open func(t *testing.T) ledger.Store) {
	t.Run("EmptyStoreHoldsNothing", func(t *testing.T) { empty(t, open(t)) })
	t.Run("BatchesComeBackAsWritten", func(t *testing.T) { batches(t, open) })
	t.Run("WrongSizeChangesNothing", func(t *testing.T) { conflict(t, open(t)) })
	t.Run("DoubleIDChangesNothing", func(t *testing.T) { double(t, open(t)) })
	t.Run("ReferencesComeInLogOrder", func(t *testing.T) { references(t, open(t)) })
	t.Run("ReadersSeeWholeBatches", func(t *testing.T) { readers(t, open(t)) })
}

// Entries returns n entries that differ from each other and from those of another label, of many lengths.
func Entries(label string, n int) []ledger.Entry {
	entries := make([]ledger.Entry, n)
	for i := range entries {
		entries[i] = ledger.Entry{
			ID:     uuid.NewSHA1(uuid.NameSpaceOID, fmt.Appendf(nil, "%s %d", label, i)),
			Record: fmt.Appendf(nil, `{"label":%q,"i":%d,"pad":"%s"}`, label, i, bytes.Repeat([]byte("♠"), i%50)),
			Secret: bytes.Repeat([]byte{byte(i), 0, 0xff}, i%40+1),
		}
	}
	return entries
}

func closeStore(t *testing.T, s ledger.Store) {
	t.Helper()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// check compares the store with the entries that it should hold.
func check(t *testing.T, s ledger.Store, want []ledger.Entry) {
	t.Helper()
	size, err := s.Size(t.Context())
	if err != nil || size != uint64(len(want)) {
		t.Fatalf("size %d, %v, want %d", size, err, len(want))
	}
	for i, e := range want {
		got, err := s.ByID(t.Context(), e.ID)
		if err != nil {
			t.Fatalf("entry %d: %v", i, err)
		}
		if got.Index != uint64(i) || got.ID != e.ID || got.Reference != e.Reference || got.Claim != e.Claim ||
			!bytes.Equal(got.Record, e.Record) || !bytes.Equal(got.Secret, e.Secret) {
			t.Fatalf("entry %d came back as %+v, want %+v", i, got, e)
		}
	}
}

func empty(t *testing.T, s ledger.Store) {
	defer closeStore(t, s)
	check(t, s, nil)
	if _, err := s.ByID(t.Context(), uuid.UUID{1}); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown id: %v, want ErrNotFound", err)
	}
	if _, err := s.ByClaim(t.Context(), "claim"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("an unknown claim: %v, want ErrNotFound", err)
	}
	if list, err := s.ByReference(t.Context(), "game", 0, 10); err != nil || len(list) != 0 {
		t.Errorf("an unknown reference: %v, %v", list, err)
	}
}

func batches(t *testing.T, open func(t *testing.T) ledger.Store) {
	s := open(t)
	var all []ledger.Entry
	for i, n := range []int{1, 15, 16, 17, 31, 33, 200} {
		batch := Entries(fmt.Sprint("batch ", i), n)
		batch[0].Reference, batch[0].Claim = "game ♣ 7", fmt.Sprint("claim ", i)
		if err := s.Append(t.Context(), ledger.Batch{Size: uint64(len(all)), Entries: batch}); err != nil {
			t.Fatal(err)
		}
		all = append(all, batch...)
		check(t, s, all)
	}
	got, err := s.ByClaim(t.Context(), "claim 2")
	if err != nil || got.Index != 16 {
		t.Errorf("the holder of a claim is %v, %v, want entry 16", got, err)
	}
	closeStore(t, s)
	s = open(t)
	check(t, s, all)
	closeStore(t, s)
}

func conflict(t *testing.T, s ledger.Store) {
	defer closeStore(t, s)
	first := Entries("first", 3)
	if err := s.Append(t.Context(), ledger.Batch{Entries: first}); err != nil {
		t.Fatal(err)
	}
	for _, size := range []uint64{0, 2, 4, 1 << 40} {
		err := s.Append(t.Context(), ledger.Batch{Size: size, Entries: Entries("second", 20)})
		if !errors.Is(err, ledger.ErrConflict) {
			t.Errorf("a batch for size %d: %v, want ErrConflict", size, err)
		}
	}
	check(t, s, first)
	if err := s.Append(t.Context(), ledger.Batch{Size: 3, Entries: Entries("second", 20)}); err != nil {
		t.Errorf("the batch for the right size, after a conflict: %v", err)
	}
}

func double(t *testing.T, s ledger.Store) {
	defer closeStore(t, s)
	first := Entries("first", 2)
	if err := s.Append(t.Context(), ledger.Batch{Entries: first}); err != nil {
		t.Fatal(err)
	}
	again := append(Entries("again", 20), first[0])
	if err := s.Append(t.Context(), ledger.Batch{Size: 2, Entries: again}); err == nil {
		t.Error("an id that is in the log was written again")
	}
	check(t, s, first)
}

func references(t *testing.T, s ledger.Store) {
	defer closeStore(t, s)
	entries := Entries("references", 40)
	for i := range entries {
		entries[i].Reference = fmt.Sprint("game ", i%2)
	}
	if err := s.Append(t.Context(), ledger.Batch{Entries: entries}); err != nil {
		t.Fatal(err)
	}
	for _, v := range []struct {
		from  uint64
		limit int
		want  []uint64
	}{{0, 3, []uint64{1, 3, 5}}, {5, 2, []uint64{5, 7}}, {6, 2, []uint64{7, 9}}, {37, 9, []uint64{37, 39}}, {40, 9, nil}} {
		list, err := s.ByReference(t.Context(), "game 1", v.from, v.limit)
		if err != nil {
			t.Fatal(err)
		}
		var got []uint64
		for _, e := range list {
			got = append(got, e.Index)
		}
		if fmt.Sprint(got) != fmt.Sprint(v.want) {
			t.Errorf("from %d, at most %d: %d, want %d", v.from, v.limit, got, v.want)
		}
	}
}

// readers reads while batches of ten are written: the size is always a whole number of them.
func readers(t *testing.T, s ledger.Store) {
	defer closeStore(t, s)
	var wait sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		wait.Go(func() {
			for {
				size, err := s.Size(t.Context())
				if err != nil || size%10 != 0 {
					t.Errorf("a reader sees the size %d, %v", size, err)
					return
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for i := range 100 {
		if err := s.Append(t.Context(), ledger.Batch{Size: uint64(10 * i), Entries: Entries(fmt.Sprint(i), 10)}); err != nil {
			t.Error(err)
			break
		}
	}
	close(stop)
	wait.Wait()
}
