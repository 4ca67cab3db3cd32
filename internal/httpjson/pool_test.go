package httpjson

import "testing"

// TestPoolKeepsTheLargestBuffer puts buffers of several sizes back and looks at which is reused,
// and that it is only once.
func TestPoolKeepsTheLargestBuffer(t *testing.T) {
	var p pool[byte]
	p.put(nil)
	p.put(make([]byte, 7, 10))
	p.put(make([]byte, 0, 5))
	p.put(make([]byte, 0, maxPooled+1))
	if b := p.get(11); cap(b) != 11 {
		t.Errorf("a buffer of 11 has a capacity of %d", cap(b))
	}
	if b := p.get(9); len(b) != 0 || cap(b) != 10 {
		t.Errorf("got %d of %d, want 0 of 10", len(b), cap(b))
	}
	if b := p.get(1); cap(b) != 1 {
		t.Errorf("a buffer was reused twice, or one too long was kept: capacity %d", cap(b))
	}
}
