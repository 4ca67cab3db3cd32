package config

import (
	"errors"
	"reflect"
	"testing"
)

func TestReadTLS(t *testing.T) {
	for text, want := range map[string]*TLS{
		"data: a":                               nil,
		"tls: {cert: cert.pem, key: key.pem}":   {Cert: "cert.pem", Key: "key.pem"},
		"tls:\n  acme:\n    hosts:\n    - a.de": {ACME: &ACME{Hosts: []string{"a.de"}}},
		"tls: {acme: {hosts: [a.example, xn--bcher-kva.example], email: ops@a.example, cache: /acme, directory: 'https://ca.example/dir'}}": {
			ACME: &ACME{Hosts: []string{"a.example", "xn--bcher-kva.example"}, Email: "ops@a.example", Cache: "/acme", Directory: "https://ca.example/dir"},
		},
	} {
		if f, _ := readText(t, text); f.Err() != nil || !reflect.DeepEqual(f.TLS, want) {
			t.Errorf("%s: %+v, %v", text, f.TLS, f.Err())
		}
	}
	f, _ := readText(t, "data: a\ntls: {cert: a, key: b}")
	if !f.Refuse(errors.New("no such file"), "tls") || f.Err().Error() != "riffle.yaml:2:6: no such file" {
		t.Errorf("a refused certificate is the mistake %v", f.Err())
	}
}
