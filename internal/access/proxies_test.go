package access

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestProxies(t *testing.T) {
	var p Proxies
	require.NoError(t, p.UnmarshalText([]byte("10.0.0.0/8, ::1,192.0.2.7 ,")))
	text, _ := p.MarshalText()
	assert.Equalf(t, "10.0.0.0/8,::1/128,192.0.2.7/32", string(text), "the proxies are %s", text)
	for _, list := range []string{"10.0.0.1/8", "proxy.example", "10.0.0.0/33", "*", "10.0.0.7:80"} {
		assert.Errorf(t, p.UnmarshalText([]byte(list)), "%q is taken for proxies: %v", list, p)
	}
}

// The peer is found behind proxies, however they write addresses, and no caller can choose it.
func TestProxiesClient(t *testing.T) {
	var p Proxies
	require.NoError(t, p.UnmarshalText([]byte("10.0.0.0/8,fd00::/8")))
	for _, v := range []struct {
		from      string
		forwarded []string
		want      string
	}{
		{"10.0.0.1:80", []string{"203.0.113.7"}, "203.0.113.7"},
		{"10.0.0.1:80", []string{"203.0.113.7:4711"}, "203.0.113.7"},
		{"10.0.0.1:80", []string{"2001:db8::1"}, "2001:db8::1"},
		{"10.0.0.1:80", []string{"[2001:db8::1]:443"}, "2001:db8::1"},
		{"10.0.0.1:80", []string{"[2001:db8::1]"}, "2001:db8::1"},
		{"10.0.0.1:80", []string{"::ffff:203.0.113.7"}, "203.0.113.7"},
		{"[fd00::1%eth0]:80", []string{"fe80::1%eth0"}, "fe80::1"},
		{"10.0.0.1:80", []string{"198.51.100.1, 203.0.113.7:1, 10.9.9.9:2", "[fd00::2]:3,, "}, "203.0.113.7"},
		{"192.0.2.1:80", []string{"203.0.113.7"}, "192.0.2.1"}, // which is no proxy
		{"10.0.0.1:80", nil, "invalid IP"},
		{"10.0.0.1:80", []string{"10.0.0.2:80"}, "invalid IP"},
		{"10.0.0.1:80", []string{"203.0.113.7, unknown"}, "invalid IP"},
		{"10.0.0.1:80", []string{"203.0.113.7, 1.2.3.4:5:6"}, "invalid IP"},
		{"@", []string{"203.0.113.7"}, "invalid IP"},
	} {
		assert.Equalf(t, v.want, p.Client(v.from, v.forwarded).String(), "from %s, forwarded for %q", v.from, v.forwarded)
	}
}
