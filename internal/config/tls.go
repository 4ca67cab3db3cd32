package config

import (
	"net/netip"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// TLS is the source of the certificate: two files, or an authority.
type TLS struct {
	Cert, Key string // PEM files
	ACME      *ACME  // nil for files
}

// ACME configures certificates from an authority (RFC 8555).
type ACME struct {
	Hosts     []string
	Email     string // contact for the authority; may be empty
	Cache     string // folder of account and certificates; empty for one in the data folder
	Directory string // the authority's URL; empty for Let's Encrypt
}

func (f *File) readTLS(value *yaml.Node) {
	t := &TLS{}
	f.TLS, f.values["tls"] = t, at(value)
	if !f.mapping(value, "tls", map[string]func(*yaml.Node){
		"cert": f.text("cert", &t.Cert),
		"key":  f.text("key", &t.Key),
		"acme": func(value *yaml.Node) { t.ACME = f.readACME(value) },
	}) {
		return
	}
	switch {
	case t.ACME != nil && (t.Cert != "" || t.Key != ""):
		f.mistake(at(value), "tls has both files and acme; keep cert and key, or acme")
	case t.ACME == nil && (t.Cert == "" || t.Key == ""):
		f.mistake(at(value), "tls must have cert and key, such as {cert: cert.pem, key: key.pem}, or acme, such as {acme: {hosts: [riffle.example]}}")
	}
}

func (f *File) readACME(value *yaml.Node) *ACME {
	a := &ACME{}
	ok := f.mapping(value, "acme", map[string]func(*yaml.Node){
		"hosts": func(value *yaml.Node) {
			hosts, ok := f.list("hosts", value)
			a.Hosts = hosts
			for i, host := range hosts {
				if ok && !isDomain(host) {
					f.mistake(at(value.Content[i]), "%.80q is not a name that an authority issues certificates for; accepted are domain names in lower case without wildcard, such as riffle.example", host)
				}
			}
		},
		"email": f.text("email", &a.Email),
		"cache": f.text("cache", &a.Cache),
		"directory": func(value *yaml.Node) {
			if f.text("directory", &a.Directory)(value); a.Directory != "" && !strings.HasPrefix(a.Directory, "https://") {
				f.mistake(at(value), "directory must be the https URL of an authority, such as https://acme-v02.api.letsencrypt.org/directory, got %.80q", a.Directory)
			}
		},
	})
	if len(a.Hosts) == 0 && ok {
		f.mistake(at(value), "acme has no hosts; add hosts: [riffle.example]")
	}
	return a
}

// isDomain reports whether a name can be in a certificate: lower case, with several labels.
func isDomain(name string) bool {
	labels := strings.Split(name, ".")
	_, notAddress := netip.ParseAddr(name)
	return len(labels) > 1 && !slices.Contains(labels, "") && notAddress != nil &&
		strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-.") == ""
}

// text returns a function that reads a single value into to.
func (f *File) text(name string, to *string) func(*yaml.Node) {
	return func(value *yaml.Node) { *to, _ = f.scalar(name, value) }
}
