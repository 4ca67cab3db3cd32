package access

import (
	"maps"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestHostsAllow(t *testing.T) {
	loopback := &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 8080}
	loopback6 := &net.TCPAddr{IP: net.IPv6loopback, Port: 8080}
	outside := &net.TCPAddr{IP: net.IPv4(10, 0, 0, 7), Port: 8080}
	for _, v := range []struct {
		hosts            string
		local            net.Addr
		allowed, refused string // values of Host
	}{
		{
			"", loopback, "localhost localhost:8080 LocalHost.:8080 riffle.localhost 127.0.0.1:1 127.255.3.4 [::1]:8080 [::1]",
			"evil.example evil.example:8080 localhost.evil.example evillocalhost 127.0.0.1.evil.example 127.1 0.0.0.0:8080 10.0.0.7 " +
				"localhost:8080:evil.example localhost@evil.example",
		},
		{"", loopback6, "localhost", "evil.example"},
		{"riffle.example", loopback, "riffle.example Riffle.Example:443 localhost", "www.riffle.example"},
		{"", outside, "evil.example", ""},
		{"", nil, "evil.example", ""},
		{"riffle.example, 10.0.0.7", outside, "riffle.example.:80 10.0.0.7:8080", ""},
		{"riffle.example", outside, "", "localhost evil.example"},
		{"[FD00::7]", outside, "[fd00::7]:8080", ""},
	} {
		var h Hosts
		require.NoError(t, h.UnmarshalText([]byte(v.hosts)))
		for host := range strings.FieldsSeq(v.allowed) {
			assert.Truef(t, h.Allow(v.local, host), "hosts %q, on %v: Host %q is refused", v.hosts, v.local, host)
		}
		for host := range strings.FieldsSeq(v.refused) {
			assert.Falsef(t, h.Allow(v.local, host), "hosts %q, on %v: Host %q is allowed", v.hosts, v.local, host)
		}
	}
	assert.True(t, (&Hosts{}).Allow(loopback6, ""), "a request without Host is refused")
	assert.True(t, (Hosts{}).Allow(loopback, "localhost") && !(Hosts{}).Allow(loopback, "evil.example"),
		"the zero value does not allow local names alone on loopback")
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
		err = again.UnmarshalText(text)
		assert.Truef(t, err == nil && maps.Equal(again.set, h.set), "%q is parsed as %v, %v, want %v", text, again, err, h)
	}
}

func TestHostsRejects(t *testing.T) {
	for _, list := range []string{"https://riffle.example", "riffle.example:8080", "*.riffle.example", "a b", "riffle.example,/", "*", "."} {
		assert.Errorf(t, new(Hosts).UnmarshalText([]byte(list)), "%q is taken for hosts", list)
	}
}
