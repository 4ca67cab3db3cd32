package api

import (
	"sync"
	"time"
)

// A spare keeps the largest buffer that a long request left, for the next one. As garbage, such buffers would add up to
// many bodies before they are collected; a sync.Pool would keep one for each processor. It keeps one, and not for long.
type spare[T any] struct {
	mu   sync.Mutex
	kept []T
	drop *time.Timer
}

// spareTime is how long a buffer is kept that nobody asks for.
const spareTime = 10 * time.Second

// take returns an empty buffer with room for so many, or nil if there is none.
func (s *spare[T]) take(room int) []T {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(s.kept) < room {
		return nil
	}
	b := s.kept[:0]
	s.kept = nil
	return b
}

// leave leaves a buffer that nothing refers to any more.
func (s *spare[T]) leave(b []T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if cap(b) > cap(s.kept) {
		s.kept = b
	}
	if s.drop == nil {
		s.drop = time.AfterFunc(spareTime, func() { s.take(0) })
		return
	}
	s.drop.Reset(spareTime)
}
