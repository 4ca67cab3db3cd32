package httpjson

import (
	"net/http"
	"net/netip"

	"riffle/internal/quota"
)

// free is how many bytes a lease grows to without charging the budget, so that short requests are
// served while long ones have used it up. A shuffle of a deck of 52 needs 3 KiB.
const free = 8 << 10

// A Budget bounds the memory of all requests together, and shares it among their peers as
// [quota.Pool] does. Its methods may be called concurrently.
type Budget struct {
	pool *quota.Pool
	size int64
}

// NewBudget returns a budget of so many bytes.
func NewBudget(bytes int64) *Budget { return &Budget{quota.NewPool(bytes), bytes} }

// Size returns how many bytes the budget has for all requests together.
func (b *Budget) Size() int64 { return b.size }

// Lease returns the lease of one request of a remote address, which is that of [http.Request].
// Release it once nothing of the request is in memory any more.
func (b *Budget) Lease(remote string) *Lease { return &Lease{budget: b, remote: remote} }

// A Lease is the memory of one request. Whatever the request makes the process hold is charged to it
// before it is made, in bytes:
//
//   - the body: [weight] times what has arrived, from [ReadAny];
//   - the names that a decoder remembers, until [Reader.End]: [nameBytes] each, from [Read];
//   - what is decoded: [partBytes] for each element of an array and member of an object that a
//     [Reader] hands on. What is handed on to nobody is not decoded;
//   - items: [spanBytes] for each;
//   - what is shuffled, answers, replays and proofs: by whoever makes them.
//
// What a header consists of is not charged: net/http makes that before there is a lease. It is
// bounded, as is free, by what each connection counts for.
//
// A lease is used by one goroutine at a time.
type Lease struct {
	budget   *Budget
	remote   string
	peer     netip.Addr // of remote, once the budget was charged
	size     int64      // bytes that it has grown to
	charged  int64      // bytes that the budget was charged for it: what size has above free
	names    int64      // bytes of size that are returned once the body is decoded
	long     []byte     // pooled buffer of the body; nil if the body is short
	readers  []*Reader
	elements []Span // pooled spans of its elements; nil if they are few
}

// Grow adds bytes to the lease. If the budget has too few left for the peer, the lease stays as it
// was and the error is an [*Error] of status 503.
func (l *Lease) Grow(bytes int64) error {
	charge := max(0, l.size+bytes-free) - l.charged
	if charge > 0 {
		if l.charged == 0 {
			l.peer = quota.Peer(l.remote)
		}
		if !l.budget.pool.Take(l.peer, charge) {
			return busy()
		}
	}
	l.size += bytes
	l.charged += charge
	return nil
}

// shrink takes bytes off the lease again.
func (l *Lease) shrink(bytes int64) {
	l.size -= bytes
	if returned := l.charged - max(0, l.size-free); returned > 0 {
		l.budget.pool.Return(l.peer, returned)
		l.charged -= returned
	}
}

func busy() *Error {
	return &Error{Status: http.StatusServiceUnavailable, Detail: "Too many long requests are in flight. Nothing was done; " +
		"retry in a second, or split the request."}
}

// Release returns all bytes to the budget, and the buffers of the body and its elements to their
// pools: neither may be used afterwards.
func (l *Lease) Release() {
	l.decoded()
	longBodies.put(l.long)
	longElements.put(l.elements)
	l.long, l.elements = nil, nil
	if l.charged > 0 {
		l.budget.pool.Return(l.peer, l.charged)
	}
	l.size, l.charged = 0, 0
}

// decoded returns what only decoding needs.
func (l *Lease) decoded() {
	for _, d := range l.readers {
		d.release(l.names == 0)
	}
	l.readers = nil
	l.shrink(l.names)
	l.names = 0
}
