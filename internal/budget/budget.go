// Package budget bounds the memory of all requests in flight together.
//
// A handler takes a [Lease] from the [Budget] and grows it before it allocates. A lease that cannot
// grow fails with [ErrFull], so the request is rejected before it costs memory. [Pool] reuses large
// buffers for as long as a lease lasts.
package budget

import (
	"errors"
	"net/netip"
	"sync"

	"riffle/internal/quota"
)

// Free is the number of bytes that a lease grows to without a charge, so that short requests are
// served while long ones have used up the budget. A shuffle of 52 cards needs 3 KiB.
const Free = 8 << 10

// ErrFull rejects a request because the budget has too few bytes left for its peer. It is also
// [quota.ErrShare] if that is for other requests of the peer.
var ErrFull = errors.New("the memory budget is full")

// A Budget shares bytes among peers as [quota.Pool] does. Its methods may be called concurrently.
type Budget struct {
	pool *quota.Pool
	size int64
}

// New returns a budget of size bytes.
func New(size int64) *Budget { return &Budget{quota.NewPool(size), size} }

// Size returns the budget's bytes, free or held.
func (b *Budget) Size() int64 { return b.size }

// Left returns the budget's free bytes.
func (b *Budget) Left() int64 { return b.pool.Left() }

// Lease returns an empty lease for one request of a peer. The caller must release it once the
// request's data is no longer in memory.
func (b *Budget) Lease(peer netip.Addr) *Lease { return &Lease{budget: b, peer: peer} }

// A Lease accounts for the memory of one request, in bytes: its body, decoded values, results and
// answer. Each is charged by the code that allocates it, beforehand. It does not include the header,
// which net/http reads before there is a lease.
//
// A lease is used by one goroutine at a time.
type Lease struct {
	budget  *Budget
	peer    netip.Addr
	size    int64    // bytes in use
	charged int64    // the bytes above Free, taken from the budget
	pooled  []func() // each returns a buffer to its pool
}

// Grow adds bytes to the lease. If the budget has too few left for the peer, it returns [ErrFull]
// and the lease is unchanged.
func (l *Lease) Grow(bytes int64) error {
	charge := max(0, l.size+bytes-Free) - l.charged
	if charge > 0 && !l.budget.pool.Take(l.peer, charge) {
		return l.budget.pool.Refusal(ErrFull, l.peer, l.charged, charge)
	}
	l.size += bytes
	l.charged += charge
	return nil
}

// Shrink takes bytes off the lease that an earlier Grow added.
func (l *Lease) Shrink(bytes int64) {
	l.size -= bytes
	if returned := l.charged - max(0, l.size-Free); returned > 0 {
		l.budget.pool.Return(l.peer, returned)
		l.charged -= returned
	}
}

// Release returns the lease's bytes to the budget and its buffers to their pools. Those buffers must
// not be used afterwards; the lease may.
func (l *Lease) Release() {
	for _, put := range l.pooled {
		put()
	}
	l.pooled = nil
	l.Shrink(l.size)
}

// maxPooled is the length of the longest buffer that a pool keeps, in elements.
const maxPooled = 16 << 20

// A Pool reuses one buffer: the largest that was returned. Without pools, an answer to a million
// items takes 1.4 times as long, and several in a row use twice the memory, in garbage that is not
// collected yet. [sync.Pool] does not help: long requests trigger collections, which empty it.
type Pool[T any] struct {
	mu     sync.Mutex
	buffer []T // nil if none
}

// Get returns an empty buffer with a capacity of at least size. It returns to the pool when the
// lease is released. The caller grows the lease by the buffer's bytes.
func (p *Pool[T]) Get(lease *Lease, size int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	buffer := p.buffer[:0]
	if cap(buffer) < size {
		buffer = make([]T, 0, size)
	} else {
		p.buffer = nil
	}
	lease.pooled = append(lease.pooled, func() { p.put(buffer) })
	return buffer
}

func (p *Pool[T]) put(b []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(b) > cap(p.buffer) && cap(b) <= maxPooled {
		p.buffer = b
	}
}
