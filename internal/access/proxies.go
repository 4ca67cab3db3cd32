package access

import (
	"fmt"
	"net/netip"
	"strings"
)

// Proxies are the addresses whose X-Forwarded-For is believed. The zero value has none.
type Proxies []netip.Prefix

// MarshalText returns the networks, separated by commas.
func (p Proxies) MarshalText() ([]byte, error) { return []byte(strings.Join(p.Texts(), ",")), nil }

// Texts returns the networks, such as "10.0.0.0/8".
func (p Proxies) Texts() []string {
	var texts []string
	for _, network := range p {
		texts = append(texts, network.String())
	}
	return texts
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
			return fmt.Errorf("%q is no address or network, such as 10.0.0.7 or 10.0.0.0/8", entry)
		}
		*p = append(*p, network)
	}
	return nil
}
