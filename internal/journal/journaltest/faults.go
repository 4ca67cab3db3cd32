package journaltest

import (
	"context"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// Faults are a store that a test makes fail, or changes the answers of. Nil hooks do nothing; one that
// returns an error takes the place of the call.
type Faults struct {
	ledger.Store
	Tamper    func(*ledger.Stored) // changes entries found by id, claim or reference
	Moved     map[string]string    // claim names that ByClaim replaces by another
	Looking   func() error         // called before entries, claims and hashes are looked up
	Reading   func() error         // called before records are read back
	Appending func() error         // called before entries are appended
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

// ByID returns the entry with the id after tampering.
func (f *Faults) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return f.tampered(func() (*ledger.Stored, error) { return f.Store.ByID(ctx, id) })
}

// ByClaim returns the entry that holds a claim after tampering.
func (f *Faults) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	if moved, ok := f.Moved[claim]; ok {
		return f.Store.ByClaim(ctx, moved)
	}
	return f.tampered(func() (*ledger.Stored, error) { return f.Store.ByClaim(ctx, claim) })
}

func (f *Faults) tampered(find func() (*ledger.Stored, error)) (*ledger.Stored, error) {
	e, err := after(f.Looking, find)
	if err == nil && f.Tamper != nil {
		f.Tamper(e)
	}
	return e, err
}

// ByReference returns the entries of a reference after tampering.
func (f *Faults) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	list, err := after(f.Looking, func() ([]ledger.Stored, error) { return f.Store.ByReference(ctx, reference, from, limit) })
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
