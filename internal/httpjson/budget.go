package httpjson

import (
	"net/http"
	"sync"
)

// free is how many bytes a lease grows to without charging the budget, so that short requests are
// served while long ones have used it up.
const free = 64 << 10

// A Budget bounds the memory of all requests together. Its methods may be called concurrently.
type Budget struct {
	mu        sync.Mutex
	available int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{available: bytes} }

// Lease returns the lease of one request. Release it once nothing of the request is in memory any
// more.
func (b *Budget) Lease() *Lease { return &Lease{budget: b} }

// take returns whether the budget had so many bytes left, and takes them if it had.
func (b *Budget) take(bytes int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if bytes > b.available {
		return false
	}
	b.available -= bytes
	return true
}

// A Lease is the memory of one request: its body, and whatever else it needs in proportion to it.
// It is used by one goroutine at a time.
type Lease struct {
	budget   *Budget
	size     int64  // bytes that it has grown to
	charged  int64  // bytes that the budget was charged for it: what size has above free
	long     []byte // pooled buffer of the body; nil if the body is short
	readers  []*Reader
	elements []Span // pooled spans of its elements; nil if they are few
}

// Grow adds bytes to the lease. If the budget has too few left, the lease stays as it was and the
// error is an [*Error] of status 503.
func (l *Lease) Grow(bytes int64) error {
	charge := max(0, l.size+bytes-free) - l.charged
	if !l.budget.take(charge) {
		return &Error{Status: http.StatusServiceUnavailable, Detail: "Too many long requests are in flight. Nothing was done; " +
			"retry in a second, or split the request."}
	}
	l.size += bytes
	l.charged += charge
	return nil
}

// Release returns all bytes to the budget, and the buffers of the body and its elements to their
// pools: neither may be used afterwards.
func (l *Lease) Release() {
	for _, d := range l.readers {
		d.release()
	}
	l.readers = nil
	longBodies.put(l.long)
	longElements.put(l.elements)
	l.long, l.elements = nil, nil
	l.budget.take(-l.charged)
	l.size, l.charged = 0, 0
}
