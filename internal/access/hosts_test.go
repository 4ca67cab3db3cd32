package access

import (
	"maps"
	"net"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostsAllow(t *testing.T) {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	loopback6 := &net.TCPAddr{IP: net.IPv6loopback, Port: 8080}
	outside := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}
	for _, v := range []struct {
		hosts string
		local net.Addr
		host  string
		want  bool
	}{
		{"", loopback, "localhost", true},
		{"", loopback, "localhost:8080", true},
		{"", loopback, "LocalHost.:8080", true},
		{"", loopback, "riffle.localhost", true},
		{"", loopback, "127.0.0.1:1", true},
		{"", loopback, "127.255.3.4", true},
		{"", loopback, "[::1]:8080", true},
		{"", loopback, "[::1]", true},
		{"", loopback6, "localhost", true},
		{"", loopback, "", true},
		{"", loopback, "evil.example", false},
		{"", loopback, "evil.example:8080", false},
		{"", loopback6, "evil.example", false},
		{"", loopback, "localhost.evil.example", false},
		{"", loopback, "evillocalhost", false},
		{"", loopback, "127.0.0.1.evil.example", false},
		{"", loopback, "127.1", false},
		{"", loopback, "0.0.0.0:8080", false},
		{"", loopback, "10.0.0.7", false},
		{"", loopback, "localhost:8080:evil.example", false},
		{"", loopback, "localhost@evil.example", false},
		{"riffle.example", loopback, "riffle.example", true},
		{"riffle.example", loopback, "Riffle.Example:443", true},
		{"riffle.example", loopback, "localhost", true},
		{"riffle.example", loopback, "www.riffle.example", false},

		{"", outside, "evil.example", true},
		{"", nil, "evil.example", true},
		{"riffle.example, 10.0.0.7", outside, "riffle.example.:80", true},
		{"riffle.example, 10.0.0.7", outside, "10.0.0.7:8080", true},
		{"riffle.example", outside, "localhost", false},
		{"riffle.example", outside, "evil.example", false},
		{"[FD00::7]", outside, "[fd00::7]:8080", true},
	} {
		var h Hosts
		require.NoError(t, h.UnmarshalText([]byte(v.hosts)))
		assert.Equalf(t, v.want, h.Allow(v.local, v.host),
			"hosts %q, on %v: Host %q is allowed", v.hosts, v.local, v.host)
	}
	if !(Hosts{}).Allow(loopback, "localhost") || (Hosts{}).Allow(loopback, "evil.example") {
		t.Error("the zero value does not allow local names alone on loopback")
	}
}

// TestHostsMarshalText formats and parses hosts.
func TestHostsMarshalText(t *testing.T) {
	for list, want := range map[string]string{"": "", "riffle.example": "riffle.example", "[FD00::7], b.Example. ,a.example": "a.example,b.example,fd00::7"} {
		var h Hosts
		require.NoError(t, h.UnmarshalText([]byte(list)))
		text, err := h.MarshalText()
		require.NoErrorf(t, err, "%q is formatted as %q", list, text)
		assert.Equalf(t, want, string(text), "%q is formatted as %q", list, text)
		var again Hosts
		if err := again.UnmarshalText(text); err != nil || !maps.Equal(again.set, h.set) {
			t.Errorf("%q is parsed as %v, %v, want %v", text, again, err, h)
		}
	}
}

func TestHostsRejects(t *testing.T) {
	for _, list := range []string{"https://riffle.example", "riffle.example:8080", "*.riffle.example", "a b", "riffle.example,/", "*", "."} {
		assert.Errorf(t, new(Hosts).UnmarshalText([]byte(list)), "%q is taken for hosts", list)
	}
}
