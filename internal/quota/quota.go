// Package quota divides a limited amount, such as bytes or connections, among peers, so that none
// of them can take it all.
package quota

import (
	"net/netip"
	"sync"
)

// A Pool is an amount that peers take from and return to. A peer may hold at most as much as is
// left for all others: one peer alone can take half of the amount, a second one half of the rest,
// and whoever comes next still finds something.
//
// This is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6(2),
// 1998) with a factor of 1. Its methods may be called concurrently.
type Pool struct {
	mu   sync.Mutex
	left int64
	held map[netip.Addr]int64 // by peer; those that hold nothing are not in it
}

// NewPool returns a pool of an amount.
func NewPool(amount int64) *Pool { return &Pool{left: amount, held: map[netip.Addr]int64{}} }

// Take takes an amount for a peer, and returns whether it could: afterwards the peer may not hold
// more than is left.
func (p *Pool) Take(peer netip.Addr, amount int64) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held[peer]+amount > p.left-amount {
		return false
	}
	p.held[peer] += amount
	p.left -= amount
	return true
}

// Return gives back an amount that a peer took.
func (p *Pool) Return(peer netip.Addr, amount int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += amount
	if p.held[peer] -= amount; p.held[peer] == 0 {
		delete(p.held, peer)
	}
}

// Held returns how much a peer holds.
func (p *Pool) Held(peer netip.Addr) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[peer]
}

// Left returns how much nobody holds.
func (p *Pool) Left() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// subnet is the length of the IPv6 prefix that is one peer: what a network gives to a customer at
// least (RFC 6177), within which addresses cost nothing.
const subnet = 64

// Peer returns the peer of a remote address such as "192.0.2.1:1234": its IPv4 address, or the
// first address of its IPv6 subnet. Addresses that are none of IP are one peer, the zero Addr.
func Peer(remote string) netip.Addr {
	with, err := netip.ParseAddrPort(remote)
	if err != nil {
		return netip.Addr{}
	}
	addr := with.Addr().Unmap()
	if addr.Is4() {
		return addr
	}
	prefix, _ := addr.Prefix(subnet) // an IPv6 address has one of this length
	return prefix.Addr()
}
