package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"riffle/internal/access"
)

func (f *File) readKeys(list *yaml.Node) {
	if !f.isList("keys", list) {
		return
	}
	if len(list.Content) == 0 { // it would permit everything
		f.mistake(at(list), "keys has no key; leave it out if callers need none")
	}
	names, digests := map[string]int{}, map[string]int{} // their lines
	for _, node := range list.Content {
		var key access.APIKey
		fields := f.grant(&key.Grant)
		fields["name"] = func(value *yaml.Node) { key.Name = f.name(value, names) }
		fields["expires"] = field(f, "expires", "a date such as 2027-01-31 or a time such as 2027-01-31T18:00:00Z", &key.Expires, access.ParseExpiry)
		fields["sha256"] = func(value *yaml.Node) {
			text, ok := f.scalar("sha256", value)
			digest, err := hex.DecodeString(text)
			switch {
			case !ok:
			case err != nil || len(digest) != sha256.Size: // text may be the token, which is secret
				f.mistake(at(value), "sha256 must be the SHA-256 of the token, %d hex digits", 2*sha256.Size)
			default:
				key.Digest = access.Digest(digest)
				f.once(value, "sha256", string(digest), digests)
			}
		}
		if !f.mapping(node, "each of keys", fields) {
			continue
		}
		switch {
		case key.Name == "":
			f.mistake(at(node), "the key has no name; add name: ...")
		case key.Digest == access.Digest{}:
			f.mistake(at(node), "the key has no sha256; add sha256: ...")
		case len(key.May) == 0:
			f.mistake(at(node), "the key has nothing it may do; add may: [read]")
		}
		f.Keys = append(f.Keys, key)
	}
}

// name reads the name of a key, which is in no earlier line. It returns "" with a mistake.
func (f *File) name(value *yaml.Node, lines map[string]int) string {
	name, ok := f.scalar("name", value)
	if !ok {
		return ""
	}
	if err := access.CheckName(name); err != nil {
		f.mistake(at(value), "%v", err)
		return ""
	}
	if !f.once(value, fmt.Sprintf("name %.80q", name), name, lines) {
		return ""
	}
	return name
}

// once reports whether no key in the lines has a value, and adds its own line, or a mistake. what
// names the value.
func (f *File) once(node *yaml.Node, what, value string, lines map[string]int) bool {
	if lines[value] > 0 {
		f.mistake(at(node), "duplicate %s; the key in line %d has it already", what, lines[value])
		return false
	}
	lines[value] = node.Line
	return true
}

func (f *File) readAnonymous(value *yaml.Node) {
	f.Anonymous = &access.Grant{}
	f.mapping(value, "anonymous", f.grant(f.Anonymous))
}

// grant returns the functions that read the keys of a grant.
func (f *File) grant(g *access.Grant) map[string]func(*yaml.Node) {
	const number = "a number from 0, such as 50 or 0.5"
	return map[string]func(*yaml.Node){
		"may":     func(value *yaml.Node) { g.May = f.scopes(value) },
		"rate":    field(f, "rate", number, &g.Requests, parseNumber),
		"burst":   field(f, "burst", "a whole number from 0, such as 100", &g.Burst, parseWhole),
		"records": field(f, "records", number, &g.Records, parseNumber),
		"bytes":   field(f, "bytes", "a number of bytes from 0, such as 1000000 or 1MiB", &g.Bytes, parseBytes),
	}
}

// parseNumber parses a number from 0.
func parseNumber(text string) (float64, error) {
	n, err := strconv.ParseFloat(text, 64)
	if !(n >= 0) || math.IsInf(n, 0) {
		err = strconv.ErrRange
	}
	return n, err
}

// parseBytes parses a number of bytes from 0.
func parseBytes(text string) (float64, error) {
	if n, err := parseNumber(text); err == nil {
		return n, nil
	}
	var b Bytes
	err := b.UnmarshalText([]byte(text))
	return float64(b), err
}

// parseWhole parses a whole number from 0.
func parseWhole(text string) (int, error) {
	n, err := strconv.ParseUint(text, 10, 31)
	return int(n), err
}

// scopes reads a list of scopes.
func (f *File) scopes(value *yaml.Node) (scopes []access.Scope) {
	var known []string
	for _, scope := range access.Scopes() {
		known = append(known, string(scope))
	}
	texts, ok := f.list("may", value)
	if !ok {
		return nil
	}
	for i, text := range texts {
		if !slices.Contains(known, text) {
			f.mistake(at(value.Content[i]), "%s", unknown("scope", text, known))
		}
		scopes = append(scopes, access.Scope(text))
	}
	return scopes
}

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
