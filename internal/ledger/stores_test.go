package ledger_test

import (
	"cmp"
	"context"
	"fmt"
	"sync"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// A faultyStore is a store whose calls can wait and fail, and whose data can be changed, as by a
// damaged disk.
type faultyStore struct {
	ledger.Store
	called func(method string) error // if not nil, called first by the methods below

	entered chan struct{} // if not nil, an append sends to it first
	release chan struct{} // if not nil, an append then receives from it
	before  error         // if not nil, appends fail with it and write nothing
	after   error         // if not nil, appends write and then fail with it
	race    func()        // if not nil, called once right before the next write
	readers int           // number of reading connections, or 0 for the store's
	shared  bool          // another log closes the store

	record func(*ledger.StoredEntry) // these change what is read, if not nil
	head   func(*ledger.Head)
	hash   func(level int, index uint64, h *tlog.Hash)
	short  bool                // ranges lack their last record
	index  string              // a damaged index: ByID, ByClaim or ByReference
	to     *ledger.StoredEntry // the entry found by the damaged index, or nil

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

func (f *faultyStore) call(method string) error {
	if f.called == nil {
		return nil
	}
	return f.called(method)
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
	h, err := f.Store.Head(ctx)
	if f.head != nil {
		f.head(&h)
	}
	return h, err
}

func (f *faultyStore) Confirm(ctx context.Context) (ledger.Head, error) {
	if err := f.call("Confirm"); err != nil {
		return ledger.Head{}, err
	}
	return f.Head(ctx)
}

func (f *faultyStore) Readers() int { return cmp.Or(f.readers, f.Store.Readers()) }

func (f *faultyStore) Close() error {
	if f.shared {
		return nil
	}
	return f.Store.Close()
}

func (f *faultyStore) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	if err := f.call("Records"); err != nil {
		return err
	}
	list, err := f.Select(ctx, ledger.Range(from, n))
	for _, e := range list {
		if err := each(e.Index, e.Record, e.Hash); err != nil {
			return err
		}
	}
	return err
}

func (f *faultyStore) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	if err := f.call("Hashes"); err != nil {
		return nil, err
	}
	list, err := f.Store.Hashes(ctx, level, from, n)
	for i := range list {
		if f.hash != nil {
			f.hash(level, from+uint64(i), &list[i])
		}
	}
	return list, err
}

func (f *faultyStore) Select(ctx context.Context, q ledger.EntryQuery) ([]ledger.StoredEntry, error) {
	if q.By == "ByID" {
		if err := f.lost(&f.lostLookups); err != nil {
			return nil, err
		}
	}
	if err := f.call(q.By); err != nil {
		return nil, err
	}
	list, err := f.Store.Select(ctx, q)
	switch {
	case err != nil:
	case f.index == q.By && f.to == nil:
		return nil, nil
	case f.index == q.By:
		return []ledger.StoredEntry{*f.to}, nil
	}
	for i := range list {
		if f.record != nil {
			f.record(&list[i])
		}
	}
	if f.short && q.By == "Range" {
		list = list[:len(list)-1]
	}
	return list, err
}

// Found tells what ByID and ByReference find.
func (f *faultyStore) Found(ctx context.Context, from uint64, n int, each func(uint64, int64, int64)) error {
	list, err := f.Store.Select(ctx, ledger.Range(from, n))
	for i := 0; err == nil && i < len(list); i++ {
		found := [2]int64{-1, -1}
		var byID []ledger.StoredEntry
		if byID, err = f.Select(ctx, ledger.ByID(list[i].ID)); len(byID) > 0 {
			found[0] = int64(byID[0].Index)
		}
		if same, _ := f.Select(ctx, ledger.ByReference(list[i].Reference, list[i].Index, 1)); len(same) > 0 {
			found[1] = int64(same[0].Index)
		}
		each(list[i].Index, found[0], found[1])
	}
	return err
}

func (f *faultyStore) Holders(ctx context.Context, claims []string) (map[string]ledger.Holder, error) {
	if err := f.call("Holders"); err != nil {
		return nil, err
	}
	holders, err := f.Store.Holders(ctx, claims)
	for name := range holders {
		switch {
		case f.index != "ByClaim":
		case f.to == nil:
			delete(holders, name)
		default:
			holders[name] = ledger.Holder{Position: ledger.Position{Index: f.to.Index, ID: f.to.ID}}
		}
	}
	return holders, err
}

func (f *faultyStore) Firsts(ctx context.Context, references []string) (map[string][]ledger.Position, error) {
	if err := f.call("Firsts"); err != nil {
		return nil, err
	}
	return f.Store.Firsts(ctx, references)
}

func flipIf(condition bool, b *byte) {
	if condition {
		*b ^= 1
	}
}
