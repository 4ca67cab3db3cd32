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

func TestReadTLSMistakes(t *testing.T) {
	const either = "tls must have cert and key, such as {cert: cert.pem, key: key.pem}, or acme, such as {acme: {hosts: [riffle.example]}}"
	const names = " is not a name that an authority issues certificates for; accepted are domain names in lower case without wildcard, such as riffle.example"
	for _, v := range []struct{ text, want string }{
		{"tls: cert.pem", "riffle.yaml:1:6: tls must have keys and values, such as acme: ..."},
		{"tls: true", "riffle.yaml:1:6: tls must have keys and values, such as acme: ..."},
		{"tls: {}", "riffle.yaml:1:6: " + either},
		{"tls: {cert: cert.pem}", "riffle.yaml:1:6: " + either},
		{"tls: {cert: cert.pem, key: ''}", "riffle.yaml:1:6: " + either},
		{"tls: {cert: a, key: b, acme: {hosts: [a.example]}}", "riffle.yaml:1:6: tls has both files and acme; keep cert and key, or acme"},
		{"tls: {crt: a, key: b}", `riffle.yaml:1:7: unknown key "crt"; did you mean cert?`},
		{"tls: {cert: a, cert: b}", `riffle.yaml:1:16: duplicate key "cert"; it is set in line 1 already`},
		{"tls: {cert: [a], key: b}", "riffle.yaml:1:13: cert must be a single value, not a list"},
		{"tls: {acme: true}", "riffle.yaml:1:13: acme must have keys and values, such as cache: ..."},
		{"tls: {acme: {}}", "riffle.yaml:1:13: acme has no hosts; add hosts: [riffle.example]"},
		{"tls: {acme: {hosts: []}}", "riffle.yaml:1:13: acme has no hosts; add hosts: [riffle.example]"},
		{"tls: {acme: {hosts: a.example}}", "riffle.yaml:1:21: hosts must be a list"},
		{"tls: {acme: {host: [a.example]}}", `riffle.yaml:1:14: unknown key "host"; did you mean hosts?`},
		{"tls: {acme: {hosts: [a.example, '*.b.example']}}", `riffle.yaml:1:33: "*.b.example"` + names},
		{"tls: {acme: {hosts: [localhost]}}", `riffle.yaml:1:22: "localhost"` + names},
		{"tls: {acme: {hosts: [192.0.2.1]}}", `riffle.yaml:1:22: "192.0.2.1"` + names},
		{"tls: {acme: {hosts: ['a.example,b.example']}}", `riffle.yaml:1:22: "a.example,b.example"` + names},
		{"tls: {acme: {hosts: [a..example]}}", `riffle.yaml:1:22: "a..example"` + names},
		{"tls: {acme: {hosts: [A.example]}}", `riffle.yaml:1:22: "A.example"` + names},
		{"tls: {acme: {hosts: [a.example], directory: 'http://ca.example'}}", `riffle.yaml:1:45: directory must be the https URL of an authority, such as https://acme-v02.api.letsencrypt.org/directory, got "http://ca.example"`},
	} {
		f, _ := readText(t, v.text)
		if err := f.Err(); err == nil || err.Error() != v.want {
			t.Errorf("%s:\n%v\nwant\n%s", v.text, err, v.want)
		} else if f.TLS == nil {
			t.Errorf("%s: the file has no tls", v.text)
		}
	}
}
