package liveshoes

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// locks serialize the changes of each shoe within this process, which avoids conflicts on its
// claim.
type locks struct {
	mu   sync.Mutex
	list map[uuid.UUID]*lock
}

// lock is the lock of one shoe.
type lock struct {
	held chan struct{} // capacity 1; full while locked
	refs int           // the holder and waiters; guarded by locks.mu
}

// acquire waits until the caller may change the shoe id, or ctx is done.
func (l *locks) acquire(ctx context.Context, id uuid.UUID) (release func(), err error) {
	l.mu.Lock()
	if l.list == nil {
		l.list = map[uuid.UUID]*lock{}
	}
	found := l.list[id]
	if found == nil {
		found = &lock{held: make(chan struct{}, 1)}
		l.list[id] = found
	}
	found.refs++
	l.mu.Unlock()
	drop := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if found.refs--; found.refs == 0 {
			delete(l.list, id)
		}
	}
	select {
	case found.held <- struct{}{}:
		return func() {
			<-found.held
			drop()
		}, nil
	case <-ctx.Done():
		drop()
		return nil, ctx.Err()
	}
}
