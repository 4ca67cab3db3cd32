package api

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestASpareIsKeptForAWhile leaves buffers and looks which is there, and until when.
func TestASpareIsKeptForAWhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s spare[byte]
		keeps := func() bool {
			synctest.Wait()
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.kept != nil
		}
		s.leave(make([]byte, 7, 10))
		s.leave(make([]byte, 0, 5))
		if b := s.take(11); b != nil {
			t.Errorf("room for 11 was found in %d", cap(b))
		}
		if b := s.take(10); len(b) != 0 || cap(b) != 10 {
			t.Errorf("got %d of %d, want 0 of 10", len(b), cap(b))
		}
		if b := s.take(1); b != nil {
			t.Error("a buffer was given to two")
		}
		s.leave(make([]byte, 0, 5))
		time.Sleep(spareTime - time.Second)
		s.leave(make([]byte, 0, 4))
		time.Sleep(spareTime - time.Second)
		if !keeps() {
			t.Error("what is left again is not kept for longer")
		}
		time.Sleep(time.Second)
		if keeps() {
			t.Error("a buffer is kept that nobody asks for")
		}
	})
}
