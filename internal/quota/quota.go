// Package quota divides a limited amount, such as bytes or connections, among peers, so that none
// of them can take it all.
package quota

import (
	"errors"
	"fmt"
	"net/netip"
	"sync"
)

// ErrShare marks the refusal of a peer for what else it holds: see [Pool.Refusal].
var ErrShare = errors.New("the peer's own share is full")

// A Pool is an amount that peers take from and return to. A peer may hold at most the amount that is left: one
// peer can take half, a second one half of the rest, and so on, so that something remains for the next.
//
// This is the dynamic threshold of Choudhury and Hahne (IEEE/ACM Transactions on Networking 6(2), 1998) with
// a factor of 1. Its methods may be called concurrently.
type Pool struct {
	mu   sync.Mutex
	left int64
	held map[netip.Addr]int64 // by peer, above 0
}

// NewPool returns a pool of an amount.
func NewPool(amount int64) *Pool { return &Pool{left: amount, held: map[netip.Addr]int64{}} }

// Take takes an amount for a peer. It returns false if the peer would then hold more than is left.
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

// Refusal returns the error of a peer that Take refused an amount: full, which is also [ErrShare]
// if the peer would have got the amount beside the others, had it held no more than kept.
func (p *Pool) Refusal(full error, peer netip.Addr, kept, amount int64) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	more := p.held[peer] - kept
	if more > 0 && kept+amount <= p.left+more-amount {
		return fmt.Errorf("%w: %w", full, ErrShare)
	}
	return full
}

// Return returns an amount that a peer took.
func (p *Pool) Return(peer netip.Addr, amount int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.left += amount
	if p.held[peer] -= amount; p.held[peer] == 0 {
		delete(p.held, peer)
	}
}

// Held returns the amount a peer holds.
func (p *Pool) Held(peer netip.Addr) int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.held[peer]
}

// Left returns the free amount.
func (p *Pool) Left() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.left
}

// subnet is the length of a peer's IPv6 prefix: a customer gets at least that many addresses (RFC 6177).
const subnet = 64

// Peer returns the peer of a remote address such as "192.0.2.1:1234": its IPv4 address, or the
// first address of its IPv6 subnet. Non-IP addresses share the zero Addr.
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
