// Package access decides which requests the service answers at all, before it looks at what they
// ask for. [Hosts] are the names under which it may be addressed. A [Policy] knows callers by their
// tokens or addresses, says what each of them may do, and counts how much they do.
package access

import (
	"fmt"
	"iter"
	"maps"
	"net"
	"net/netip"
	"slices"
	"strings"
)

// Hosts are the Host names under which the service answers. The zero value has none of its own.
//
// They stop DNS rebinding: a page on evil.example whose name suddenly resolves to 127.0.0.1 has the
// visitor's browser talk to a local service as if to its own site, past the same-origin policy. The
// Host header of those requests still says evil.example.
type Hosts struct{ names map[string]bool }

// ParseHosts parses a list of names and IP addresses without ports, separated by commas, such as
// "riffle.example, 10.0.0.7". An empty list has none.
func ParseHosts(list string) (Hosts, error) {
	h := Hosts{map[string]bool{}}
	for entry := range entries(list) {
		name := normal(entry)
		if !isAddress(name) && !isName(name) {
			return Hosts{}, fmt.Errorf("%q is not a host name; accepted are names and IP addresses without scheme, port or wildcard, such as riffle.example", entry)
		}
		h.names[name] = true
	}
	return h, nil
}

// entries yields the entries of a list that are separated by commas, without white space around
// them. Empty ones are passed over.
func entries(list string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for entry := range strings.SplitSeq(list, ",") {
			if entry = strings.TrimSpace(entry); entry != "" && !yield(entry) {
				return
			}
		}
	}
}

// MarshalText returns the names in the form that [ParseHosts] accepts, sorted.
func (h Hosts) MarshalText() ([]byte, error) {
	return []byte(strings.Join(slices.Sorted(maps.Keys(h.names)), ",")), nil
}

// UnmarshalText is [ParseHosts].
func (h *Hosts) UnmarshalText(list []byte) (err error) {
	*h, err = ParseHosts(string(list))
	return err
}

// Allow reports whether a request with the Host header host may be answered on a connection whose
// local address is local.
//
// On a loopback address these are localhost, names below it, loopback addresses and the names of h.
// On any other address they are the names of h, or all if h has none. The port does not matter. A
// request without a Host is allowed: HTTP/1.0 permits it, and no browser sends one.
func (h Hosts) Allow(local net.Addr, host string) bool {
	if host == "" {
		return true
	}
	name := normal(withoutPort(host))
	if h.names[name] {
		return true
	}
	if isLoopback(local) {
		return isLocal(name)
	}
	return len(h.names) == 0
}

// isLoopback reports whether an address is one that only this machine can connect to.
func isLoopback(local net.Addr) bool {
	tcp, ok := local.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// isLocal reports whether a name can only mean this machine: browsers resolve localhost and the
// names below it without asking DNS (RFC 6761, 6.3).
func isLocal(name string) bool {
	address, err := netip.ParseAddr(name)
	if err != nil {
		return name == "localhost" || strings.HasSuffix(name, ".localhost")
	}
	return address.Unmap().IsLoopback()
}

// withoutPort returns the name or address in a Host header.
func withoutPort(host string) string {
	if name, _, err := net.SplitHostPort(host); err == nil {
		return name
	}
	return host
}

// normal returns a name or an address in one form: lower case, without the dot of a root or the
// brackets of an IPv6 address.
func normal(name string) string {
	if inner, ok := strings.CutPrefix(name, "["); ok {
		name = strings.TrimSuffix(inner, "]")
	}
	return strings.ToLower(strings.TrimSuffix(name, "."))
}

func isAddress(name string) bool {
	_, err := netip.ParseAddr(name)
	return err == nil
}

// isName reports whether a normalized name has the characters of a host name.
func isName(name string) bool {
	return name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-_.") == ""
}
