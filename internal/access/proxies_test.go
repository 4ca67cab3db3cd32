package access

import "testing"

func TestProxies(t *testing.T) {
	var p Proxies
	if err := p.UnmarshalText([]byte("10.0.0.0/8, ::1,192.0.2.7 ,")); err != nil {
		t.Fatal(err)
	}
	if text, _ := p.MarshalText(); string(text) != "10.0.0.0/8,::1/128,192.0.2.7/32" {
		t.Errorf("the proxies are %s", text)
	}
	for _, list := range []string{"10.0.0.1/8", "proxy.example", "10.0.0.0/33", "*", "10.0.0.7:80"} {
		if p.UnmarshalText([]byte(list)) == nil {
			t.Errorf("%q is taken for proxies: %v", list, p)
		}
	}
}
