package ledger

import (
	"context"
	"errors"
	"time"
)

// reencryptBatch is the number of entries that are read, and written in one transaction.
const reencryptBatch = 256

// SeedKeys returns the number of keys that sidecars may be under.
func (l *Log) SeedKeys() int { return 1 + len(l.vault.old) }

// Reencrypt encrypts the sidecars that are under an old seed key under the current one, and returns their
// number. It passes over the log until it finds no more, since a failover may undo what it did; so it can be
// called again after any error. It leaves most of the time to requests. [ErrCorrupt]: a sidecar does not
// decrypt; the others were encrypted nevertheless.
func (l *Log) Reencrypt(ctx context.Context) (changed uint64, err error) {
	for len(l.vault.old) > 0 {
		n, err := l.reencryptAll(ctx)
		if changed += n; err != nil {
			return changed, err
		}
		if n == 0 {
			return changed, l.reseal(nil) // there may have been no record since the key was changed
		}
	}
	return changed, nil
}

// reencryptAll passes over the log once.
func (l *Log) reencryptAll(ctx context.Context) (changed uint64, err error) {
	var damaged error
	for from := l.vault.from.Load(); from < l.durable.Load().Size; {
		began := time.Now()
		list, err := reading(ctx, l.readers, func() ([]StoredEntry, error) { return l.store.Select(ctx, Range(from, reencryptBatch)) })
		if err != nil || len(list) == 0 {
			return changed, err
		}
		from = list[len(list)-1].Index + 1
		var stale []StoredEntry
		for i := range list {
			e := &list[i]
			if _, err := l.vault.decrypt(e); err == nil || e.Sidecar == nil {
				continue
			}
			sidecar, err := l.vault.Decrypt(e)
			if err != nil {
				damaged = err
				continue
			}
			e.Sidecar = l.vault.encrypt(e.Hash, sidecar)
			stale = append(stale, *e)
		}
		pause := time.Since(began)
		if len(stale) > 0 {
			if err := l.reseal(stale); err != nil {
				return changed, err
			}
			changed += uint64(len(stale))
			pause = 4 * time.Since(began)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return changed, ctx.Err()
		}
	}
	return changed, damaged
}

// reseal has the writer store the sidecars of entries, between two commits. Like those it is not canceled.
func (l *Log) reseal(entries []StoredEntry) error {
	done := make(chan error, 1)
	l.task <- func() { done <- l.writer.Reseal(context.Background(), l.vault.name, entries) }
	signal(l.wake)
	select {
	case err := <-done:
		return err
	case <-l.done:
		return errors.Join(ErrClosed, l.Err())
	}
}
