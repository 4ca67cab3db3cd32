// Package access decides which requests the service answers, before it decodes them.
//
// [Hosts] are the accepted Host names. A [Policy] identifies callers by token or address, grants
// scopes and limits rates.
package access

import (
	"fmt"
	"iter"
	"maps"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

// Hosts are the accepted Host names. The zero value has none.
//
// They prevent DNS rebinding: a page on evil.example, a name that suddenly resolves to 127.0.0.1,
// could send requests to a local service past the same-origin policy. Their Host is still
// evil.example.
type Hosts struct{ set }

// UnmarshalText parses names and IP addresses without ports, separated by commas, such as
// "riffle.example, 10.0.0.7".
func (h *Hosts) UnmarshalText(list []byte) error {
	*h = Hosts{set{}}
	for entry := range entries(string(list)) {
		name := normalize(entry)
		if _, err := netip.ParseAddr(name); err != nil && (name == "" || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") != "") {
			return fmt.Errorf("%q is not a host name; accepted are names and IP addresses without scheme, port or wildcard, such as riffle.example", entry)
		}
		h.set[name] = true
	}
	return nil
}

// entries yields the entries of a comma-separated list, trimmed. It skips empty entries.
func entries(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for entry := range strings.SplitSeq(list, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !yield(entry) {
				return
			}
		}
	}
}

// A set of names is marshalled as a list that its type parses.
type set map[string]bool

// MarshalText returns the sorted names, separated by commas.
func (s set) MarshalText() ([]byte, error) {
	return []byte(strings.Join(slices.Sorted(maps.Keys(s)), ",")), nil
}

// Allow reports whether a request with this Host is accepted on a connection to the address local.
//
// A loopback address accepts localhost, its subdomains, loopback addresses and the names of h. Any
// other address accepts the names of h, or every name if h has none. The port is ignored. A request
// without Host is accepted: HTTP/1.0 permits it, and no browser sends one.
func (h Hosts) Allow(local net.Addr, host string) bool {
	name := normalize(withoutPort(host))
	switch {
	case host == "" || h.set[name]:
		return true
	case IsLoopback(local):
		return isLocal(name)
	}
	return len(h.set) == 0
}

// IsLoopback reports whether only this machine can connect to an address.
func IsLoopback(local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// isLocal reports whether a name always means this machine: browsers resolve localhost and its
// subdomains without DNS (RFC 6761, 6.3).
func isLocal(name string) bool {
	address, err := netip.ParseAddr(name)
	if err != nil {
		return name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	return address.Unmap().IsLoopback()
}

func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// normalize returns a name or address in lower case, without the root's dot or an IPv6 address's
// brackets.
func normalize(name string) string {
	if inner, ok := strings.CutPrefix(name, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

// Origins are the web origins whose pages may write (Fetch Standard, 3.2). The zero value has none.
type Origins struct{ set }

// UnmarshalText parses origins, separated by commas, such as "https://game.example".
func (o *Origins) UnmarshalText(list []byte) error {
	*o = Origins{set{}}
	for entry := range entries(string(list)) {
		u, err := url.Parse(entry)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Contains(u.Host, "*") || entry != strings.ToLower(u.Scheme+"://"+u.Host) {
			return fmt.Errorf("%q is not an origin; accepted are scheme and host in lower case, with a port unless it is the usual one, such as https://game.example", entry)
		}
		o.set[entry] = true
	}
	return nil
}

// Allow reports whether an origin's pages may write.
func (o Origins) Allow(origin string) bool { return o.set[origin] }

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
	address, _ := netip.ParseAddr(strings.TrimSuffix(strings.TrimPrefix(withoutPort(text), "["), "]"))
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
