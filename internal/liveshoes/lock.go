package liveshoes

import (
	"context"
	"sync"

	"github.com/google/uuid"
)

// locks serialize the changes of each shoe within this process, which avoids conflicts on its claim. Each
// caller waits for the one before it, so they come in their order.
type locks struct {
	mu   sync.Mutex
	last map[uuid.UUID]chan struct{} // of the last caller that has the lock or waits; closed once it is done
}

// acquire waits until the caller may change the shoe id, or ctx is done.
func (l *locks) acquire(ctx context.Context, id uuid.UUID) (release func(), err error) {
	done := make(chan struct{})
	l.mu.Lock()
	if l.last == nil {
		l.last = map[uuid.UUID]chan struct{}{}
	}
	before, waits := l.last[id]
	l.last[id] = done
	l.mu.Unlock()
	unlock := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if l.last[id] == done {
			delete(l.last, id)
		}
		close(done)
	}
	if !waits {
		return unlock, nil
	}
	select {
	case <-before:
		return unlock, nil
	case <-ctx.Done():
		go func() { <-before; unlock() }() // those behind it go on waiting
		return nil, ctx.Err()
	}
}
