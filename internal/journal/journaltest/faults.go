package journaltest

import (
	"context"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// Faults are a store that a test makes fail, or changes the answers of. Nil hooks do nothing; one that
// returns an error takes the place of the call.
type Faults struct {
	ledger.Store
	Tamper    func(*ledger.StoredEntry) // changes entries found by id, claim or reference
	Moved     map[string]string         // claim names that ByClaim replaces by another
	Looking   func() error              // called before entries, claims and hashes are looked up
	Reading   func() error              // called before records are read back
	Appending func() error              // called before entries are appended
}

// after returns what do returns, unless the hook fails.
func after[T any](hook func() error, do func() (T, error)) (found T, err error) {
	if hook != nil {
		if err := hook(); err != nil {
			return found, err
		}
	}
	return do()
}

// Append appends a batch.
func (f *Faults) Append(ctx context.Context, b ledger.Batch) error {
	if len(b.Entries) == 0 { // it creates the log
		return f.Store.Append(ctx, b)
	}
	_, err := after(f.Appending, func() (any, error) { return nil, f.Store.Append(ctx, b) })
	return err
}

// AppendNext appends by Append.
func (f *Faults) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendFromHead(ctx, f, next)
}

// Select returns entries. Those found by id, claim or reference are tampered with.
func (f *Faults) Select(ctx context.Context, q ledger.EntryQuery) ([]ledger.StoredEntry, error) {
	moved, isMoved := f.Moved[q.Name]
	switch {
	case q.By == "Range":
		return f.Store.Select(ctx, q)
	case q.By == "ByClaim" && isMoved:
		return f.Store.Select(ctx, ledger.ByClaim(moved))
	}
	list, err := after(f.Looking, func() ([]ledger.StoredEntry, error) { return f.Store.Select(ctx, q) })
	for i := range list {
		if f.Tamper != nil {
			f.Tamper(&list[i])
		}
	}
	return list, err
}

// Claims returns claims.
func (f *Faults) Claims(ctx context.Context, q ledger.ClaimQuery) ([]ledger.Claim, error) {
	return after(f.Looking, func() ([]ledger.Claim, error) { return f.Store.Claims(ctx, q) })
}

// CountClaims counts claims.
func (f *Faults) CountClaims(ctx context.Context, q ledger.ClaimQuery) (uint64, error) {
	return after(f.Looking, func() (uint64, error) { return f.Store.CountClaims(ctx, q) })
}

// Hashes returns hashes of the tree.
func (f *Faults) Hashes(ctx context.Context, level int, from uint64, n int) ([]tlog.Hash, error) {
	return after(f.Looking, func() ([]tlog.Hash, error) { return f.Store.Hashes(ctx, level, from, n) })
}

// Records reads records back.
func (f *Faults) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	_, err := after(f.Reading, func() (any, error) { return nil, f.Store.Records(ctx, from, n, each) })
	return err
}
