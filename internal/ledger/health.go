package ledger

import (
	"cmp"
	"fmt"
	"time"
)

// slowCommit is the time that a commit may be in flight before the log is unhealthy.
const slowCommit = time.Second

// spaceRecheck is the time that the log stays unhealthy after ErrNoSpace. Then traffic may return:
// with a quota or a database, only a commit can tell whether there is space.
const spaceRecheck = 5 * time.Second

// Queued returns the number of queued entries and the capacity of the queue.
func (l *Log) Queued() (depth, capacity int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue.entries), l.options.Queue
}

// Health returns nil if the log would commit a new entry soon, or the reason why not.
func (l *Log) Health() error { return cmp.Or(l.health(), l.store.CheckRoom()) }

func (l *Log) health() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.options.Now()
	switch {
	case l.broken != nil:
		return l.broken
	case l.closed:
		return ErrClosed
	case len(l.queue.entries) >= l.options.Queue:
		return ErrBusy
	case !l.commitBegan.IsZero() && now.Sub(l.commitBegan) > slowCommit:
		return fmt.Errorf("a commit has been running for more than %s", slowCommit)
	case !l.noSpaceAt.IsZero() && now.Sub(l.noSpaceAt) < spaceRecheck:
		return ErrNoSpace
	case !l.unreadSince.IsZero() && now.Sub(l.unreadSince) > maxLag:
		return fmt.Errorf("records have not been read back for more than %s: %w", maxLag, l.unreadErr)
	}
	return nil
}
