package budget

import "sync"

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
	buffer := p.take(size)
	lease.pooled = append(lease.pooled, func() { p.put(buffer) })
	return buffer
}

func (p *Pool[T]) take(size int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(p.buffer) < size {
		return make([]T, 0, size)
	}
	b := p.buffer[:0]
	p.buffer = nil
	return b
}

func (p *Pool[T]) put(b []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(b) > cap(p.buffer) && cap(b) <= maxPooled {
		p.buffer = b
	}
}
