package budget

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestPoolKeepsTheLargestBuffer returns buffers of several sizes to a pool, which reuses the largest
// that is not too long, once.
func TestPoolKeepsTheLargestBuffer(t *testing.T) {
	var p Pool[byte]
	for _, b := range [][]byte{nil, make([]byte, 7, 10), make([]byte, 0, 5), make([]byte, 0, maxPooled+1)} {
		p.put(b)
	}
	lease := New(0).Lease(netip.Addr{})
	assert.Equal(t, 11, cap(p.Get(lease, 11)), "a buffer of 11 has a capacity of")
	if b := p.Get(lease, 9); len(b) != 0 || cap(b) != 10 {
		t.Errorf("got %d of %d, want 0 of 10", len(b), cap(b))
	}
	assert.Equal(t, 1, cap(p.Get(lease, 1)), "a buffer was reused twice, or one too long was kept: capacity")
	lease.Release()
	if b := p.Get(lease, 11); cap(b) != 11 || p.buffer != nil {
		t.Errorf("a released buffer of 11 was not reused: %d", cap(b))
	}
}
