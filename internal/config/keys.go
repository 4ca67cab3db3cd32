package config

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"slices"
	"strconv"

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
	names, hashes := map[string]int{}, map[access.Digest]int{} // their lines
	for _, node := range list.Content {
		var key access.Key
		before := len(f.mistakes)
		fields := f.grant(&key.Grant)
		fields["name"] = func(value *yaml.Node) {
			name, ok := f.scalar("name", value)
			if !ok {
				return
			}
			if err := access.CheckName(name); err != nil {
				f.mistake(at(value), "%v", err)
				return
			}
			key.Name = name
			if line, duplicate := names[key.Name]; duplicate {
				f.mistake(at(value), "duplicate name %.80q; the key in line %d has it already", key.Name, line)
			}
			names[key.Name] = value.Line
		}
		fields["sha256"] = func(value *yaml.Node) {
			text, ok := f.scalar("sha256", value)
			hash, err := hex.DecodeString(text)
			if !ok {
				return
			}
			if err != nil || len(hash) != sha256.Size { // text may be the token, which is secret
				f.mistake(at(value), "sha256 must be the SHA-256 of the token, %d hex digits", 2*sha256.Size)
				return
			}
			key.Digest = access.Digest(hash)
			if line, duplicate := hashes[key.Digest]; duplicate {
				f.mistake(at(value), "duplicate sha256; the key in line %d has it already", line)
			}
			hashes[key.Digest] = value.Line
		}
		if f.mapping(node, "each of keys", fields); len(f.mistakes) > before {
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

func (f *File) readAnonymous(value *yaml.Node) {
	f.Anonymous = &access.Grant{}
	f.mapping(value, "anonymous", f.grant(f.Anonymous))
}

// grant returns the functions that read the keys of a grant.
func (f *File) grant(g *access.Grant) map[string]func(*yaml.Node) {
	return map[string]func(*yaml.Node){
		"may":     func(value *yaml.Node) { g.May = f.scopes(value) },
		"logs":    func(value *yaml.Node) { g.Logs = f.grantedLogs(value) },
		"rate":    func(value *yaml.Node) { g.Requests = f.number("rate", value) },
		"burst":   func(value *yaml.Node) { g.Burst = int(f.whole("burst", value)) },
		"records": func(value *yaml.Node) { g.Records = f.number("records", value) },
		"bytes":   func(value *yaml.Node) { g.Bytes = f.number("bytes", value) },
	}
}

// grantedLogs returns the names of a grant's logs. checkLogNames checks them later.
func (f *File) grantedLogs(value *yaml.Node) []string {
	names := f.texts("logs", value)
	if len(names) == len(value.Content) {
		f.logNames = append(f.logNames, value.Content...)
	}
	if value.Kind == yaml.SequenceNode && len(value.Content) == 0 {
		f.mistake(at(value), "logs has no log; leave it out for every log")
	}
	return names
}

// number reads a number from 0.
func (f *File) number(name string, value *yaml.Node) float64 {
	text, ok := f.scalar(name, value)
	if !ok {
		return 0
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(n) || n < 0 || math.IsInf(n, 0) {
		f.mistake(at(value), "%s must be a number from 0, such as 50 or 0.5, got %.80q", name, text)
		return 0
	}
	return n
}

// whole reads a whole number from 0.
func (f *File) whole(name string, value *yaml.Node) int32 {
	text, ok := f.scalar(name, value)
	if !ok {
		return 0
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 0 {
		f.mistake(at(value), "%s must be a whole number from 0, such as 100, got %.80q", name, text)
		return 0
	}
	return int32(n)
}

// scopes reads a list of scopes.
func (f *File) scopes(value *yaml.Node) (scopes []access.Scope) {
	var known []string
	for _, scope := range access.Scopes() {
		known = append(known, string(scope))
	}
	before := len(f.mistakes)
	texts := f.texts("may", value)
	if len(f.mistakes) > before {
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

// texts reads a list of single values. The result is not nil.
func (f *File) texts(name string, list *yaml.Node) []string {
	texts := []string{}
	if f.isList(name, list) {
		for _, item := range list.Content {
			if text, ok := f.scalar("each of "+name, item); ok {
				texts = append(texts, text)
			}
		}
	}
	return texts
}

// isList reports whether a value is a list, or adds a mistake.
func (f *File) isList(name string, value *yaml.Node) bool {
	if !f.isPlain(value) {
		return false
	}
	if value.Kind != yaml.SequenceNode {
		f.mistake(at(value), "%s must be a list", name)
		return false
	}
	return true
}
