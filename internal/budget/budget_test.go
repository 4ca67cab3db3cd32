package budget

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/quota"
)

// TestGrowSaysWhoseShareIsFull has a lease refused beside others. It is for the peer's own share
// only if that holds more with other leases.
func TestGrowSaysWhoseShareIsFull(t *testing.T) {
	b := New(100)
	one, two, other := b.Lease(netip.MustParseAddr("192.0.2.1")), b.Lease(netip.MustParseAddr("192.0.2.1")), b.Lease(netip.MustParseAddr("192.0.2.2"))
	require.NoError(t, one.Grow(Free+50))
	err := one.Grow(1)
	assert.Truef(t, errors.Is(err, ErrFull) && !errors.Is(err, quota.ErrShare), "a request that is too large by itself: %v", err)
	err = two.Grow(Free + 1)
	assert.Truef(t, errors.Is(err, ErrFull) && errors.Is(err, quota.ErrShare), "a second request of the peer: %v", err)
	err = other.Grow(Free + 26)
	assert.Truef(t, errors.Is(err, ErrFull) && !errors.Is(err, quota.ErrShare), "a request of another peer: %v", err)
}
