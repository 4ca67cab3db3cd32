package quota

import (
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
