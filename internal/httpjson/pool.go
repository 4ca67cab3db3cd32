package httpjson

import "sync"

// maxPooled is the length of the longest buffer that a pool keeps, in elements.
const maxPooled = 16 << 20

// A pool reuses the largest buffer of the requests before. It does what make does, for less:
// without the two pools below, an answer to a million items takes 1.4 times as long, and several
// such in a row take up twice the memory, in garbage that is not collected yet. A [sync.Pool] does
// not serve: long requests have garbage collected so often that it is always empty.
type pool[T any] struct {
	mu     sync.Mutex
	buffer []T // nil for none
}

var (
	longBodies   pool[byte]
	longElements pool[Span]
)

// get returns an empty buffer of at least a size.
func (p *pool[T]) get(size int) []T {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(p.buffer) < size {
		return make([]T, 0, size)
	}
	b := p.buffer[:0]
	p.buffer = nil
	return b
}

// put returns a buffer that nothing refers to any more.
func (p *pool[T]) put(b []T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if cap(b) > cap(p.buffer) && cap(b) <= maxPooled {
		p.buffer = b
	}
}
