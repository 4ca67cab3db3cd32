package access

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Proxies are the networks whose X-Forwarded-For is trusted. The zero value has none.
type Proxies []netip.Prefix

// MarshalText returns the networks, separated by commas.
func (p Proxies) MarshalText() ([]byte, error) {
	var texts []string
	for _, network := range p {
		texts = append(texts, network.String())
	}
	return []byte(strings.Join(texts, ",")), nil
}

// Client returns the client's address for a connection from this address and the values of
// X-Forwarded-For: the last hop that is not a proxy. It is invalid if every hop is a proxy, or if the
// last hop before the proxies is not an address.
func (p Proxies) Client(from string, forwarded []string) netip.Addr {
	hops := append(slices.Collect(entries(strings.Join(forwarded, ","))), from)
	for _, hop := range slices.Backward(hops) {
		address := parseHop(hop)
		if !address.IsValid() || !slices.ContainsFunc(p, func(proxy netip.Prefix) bool { return proxy.Contains(address) }) {
			return address
		}
	}
	return netip.Addr{}
}

// parseHop parses an address in X-Forwarded-For, with or without port or brackets. It removes an IPv6
// zone and unmaps IPv4 addresses.
func parseHop(text string) netip.Addr {
	if host, _, err := net.SplitHostPort(text); err == nil {
		text = host
	}
	address, _ := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(text, "["), "]"))
	return address.Unmap().WithZone("")
}

// UnmarshalText parses addresses and networks, separated by commas, such as "10.0.0.0/8, ::1".
func (p *Proxies) UnmarshalText(list []byte) error {
	*p = nil
	for entry := range entries(string(list)) {
		network, err := netip.ParsePrefix(entry)
		if address, single := netip.ParseAddr(entry); single == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil || network != network.Masked() {
			return fmt.Errorf("%q is not an address or network, such as 10.0.0.7 or 10.0.0.0/8", entry)
		}
		*p = append(*p, network)
	}
	return nil
}
