package quota

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestNobodyTakesAll has one peer after the other take as much as it can. Each finds something, and
// nothing is left behind when all was returned.
func TestNobodyTakesAll(t *testing.T) {
	const amount = 1024
	p := NewPool(amount)
	var peers []netip.Addr
	for i := range 9 {
		peer := netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})
		for p.Take(peer, 1) {
		}
		want := int64(amount >> (i + 1))
		require.Truef(t, p.Held(peer) == want && p.Left() == want, "peer %d holds %d and leaves %d, want %d", i, p.Held(peer), p.Left(), want)
		peers = append(peers, peer)
	}
	assert.False(t, p.Take(peers[1], 1), "a peer took more than it leaves")
	p.Return(peers[0], amount/2)
	assert.True(t, p.Take(peers[1], amount/8), "what was returned cannot be taken")
	p.Return(peers[1], amount/8)
	for _, peer := range peers {
		p.Return(peer, p.Held(peer))
	}
	assert.EqualValues(t, amount, p.Left())
	assert.Empty(t, p.held)
}

// TestRefusalSaysWhoseShareIsFull has one peer hold much and another little. Who would be served
// without what else it holds is refused for its own share, and anyone else since the pool is full.
func TestRefusalSaysWhoseShareIsFull(t *testing.T) {
	full := errors.New("the pool is full")
	greedy, polite, fresh := Peer("192.0.2.1:1"), Peer("192.0.2.2:1"), Peer("192.0.2.3:1")
	for _, c := range []struct {
		name                 string
		held, others         int64
		peer                 netip.Addr
		kept, amount         int64
		wantShare, wantTaken bool
	}{
		{"its half", 50, 0, greedy, 0, 1, true, false},
		{"another beside its half", 50, 0, polite, 0, 25, false, true},
		{"too much for another", 50, 0, polite, 0, 26, false, false},
		{"more than is left", 20, 30, greedy, 0, 31, true, false},
		{"one large request that grows", 50, 0, greedy, 50, 1, false, false},
		{"a small request of a peer with a large one", 50, 0, greedy, 1, 1, true, false},
		{"a request that no other of the peer stands in the way of", 2, 48, greedy, 1, 50, false, false},
		{"more than there is", 50, 0, greedy, 0, 101, false, false},
		{"a peer without anything", 30, 30, fresh, 0, 40, false, false},
	} {
		p := NewPool(100)
		require.True(t, p.Take(greedy, c.held) && p.Take(polite, c.others), c.name)
		taken := p.Take(c.peer, c.amount)
		assert.Equal(t, c.wantTaken, taken, c.name)
		if taken {
			continue
		}
		err := p.Refusal(full, c.peer, c.kept, c.amount)
		require.ErrorIs(t, err, full, c.name)
		assert.Equal(t, c.wantShare, errors.Is(err, ErrShare), c.name)
	}
}

func TestPeer(t *testing.T) {
	for remote, want := range map[string]string{
		"192.0.2.1:1234":              "192.0.2.1",
		"192.0.2.1:5678":              "192.0.2.1",
		"[::ffff:192.0.2.1]:1234":     "192.0.2.1",
		"[2001:db8:1:2:3:4:5:6]:1234": "2001:db8:1:2::",
		"[2001:db8:1:2::1%eth0]:1234": "2001:db8:1:2::",
		"[2001:db8:1:3:3:4:5:6]:1234": "2001:db8:1:3::",
		"[::1]:1234":                  "::",
		"@":                           "invalid IP",
		"":                            "invalid IP",
		"riffle.example:1234":         "invalid IP",
	} {
		assert.Equalf(t, want, Peer(remote).String(), "%q is peer", remote)
	}
}
