package budget

import (
	"net/netip"
	"testing"
)

// TestPoolKeepsTheLargestBuffer returns buffers of several sizes to a pool, which reuses the largest
// that is not too long, once.
func TestPoolKeepsTheLargestBuffer(t *testing.T) {
	var p Pool[byte]
	for _, b := range [][]byte{nil, make([]byte, 7, 10), make([]byte, 0, 5), make([]byte, 0, maxPooled+1)} {
		p.put(b)
	}
	lease := New(0).Lease(netip.Addr{})
	if b := p.Get(lease, 11); cap(b) != 11 {
		t.Errorf("a buffer of 11 has a capacity of %d", cap(b))
	}
	if b := p.Get(lease, 9); len(b) != 0 || cap(b) != 10 {
		t.Errorf("got %d of %d, want 0 of 10", len(b), cap(b))
	}
	if b := p.Get(lease, 1); cap(b) != 1 {
		t.Errorf("a buffer was reused twice, or one too long was kept: capacity %d", cap(b))
	}
	lease.Release()
	if b := p.Get(lease, 11); cap(b) != 11 || p.buffer != nil {
		t.Errorf("a released buffer of 11 was not reused: %d", cap(b))
	}
}
