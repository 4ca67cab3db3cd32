package config

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"riffle/internal/access"
)

// aHash and bHash are hashes of tokens.
var (
	aSum  = sha256.Sum256([]byte("rfl_a"))
	bSum  = sha256.Sum256([]byte("rfl_b"))
	aHash = hex.EncodeToString(aSum[:])
	bHash = hex.EncodeToString(bSum[:])
)

func TestReadKeys(t *testing.T) {
	f, _ := readText(t, `
anonymous: {may: [read], logs: [main], rate: 50, burst: 100}
keys:
  - name: table-server
    sha256: `+aHash+`
    may: [shuffle, deal, read, metrics]
    logs: [main]
    rate: 0.5
    burst: 1000
    records: 200
    bytes: 1e6
  - {name: monitor, sha256: `+strings.ToUpper(bHash)+`, may: [metrics], expires: 2027-01-31}
  - {name: guest, sha256: `+strings.Repeat("00", 31)+`01, may: [read], expires: "2027-01-31T18:00:00+01:00", bytes: 64KiB}
`)
	wantKeys := []access.Key{
		{Name: "table-server", Digest: aSum, Grant: access.Grant{
			May: access.Scopes(), Logs: []string{"main"}, Rates: access.Rates{Requests: 0.5, Burst: 1000, Records: 200, Bytes: 1e6},
		}},
		{Name: "monitor", Digest: bSum, Grant: access.Grant{May: []access.Scope{access.Metrics}}, Expires: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)},
		{Name: "guest", Digest: access.Digest{31: 1}, Grant: access.Grant{May: []access.Scope{access.Read}, Rates: access.Rates{Bytes: 64 << 10}}},
	}
	if len(f.Keys) == 3 && f.Keys[2].Expires.Equal(time.Date(2027, 1, 31, 17, 0, 0, 0, time.UTC)) {
		f.Keys[2].Expires = time.Time{}
	}
	wantAnonymous := &access.Grant{May: []access.Scope{access.Read}, Logs: []string{"main"}, Rates: access.Rates{Requests: 50, Burst: 100}}
	if f.Err() != nil || !reflect.DeepEqual(f.Keys, wantKeys) || !reflect.DeepEqual(f.Anonymous, wantAnonymous) {
		t.Errorf("%+v, %+v, %v", f.Keys, f.Anonymous, f.Err())
	}
	f, _ = readText(t, "data: a")
	if f.Keys != nil || f.Anonymous != nil || f.Err() != nil {
		t.Errorf("without keys: %+v, %+v, %v", f.Keys, f.Anonymous, f.Err())
	}
	f, _ = readText(t, "anonymous: {}")
	if f.Err() != nil || f.Anonymous == nil || f.Anonymous.May != nil {
		t.Errorf("with anonymous callers who may do nothing: %+v, %v", f.Anonymous, f.Err())
	}
}

func TestReadKeysMistakes(t *testing.T) {
	key := func(format string, args ...any) string { return "keys:\n- {" + fmt.Sprintf(format, args...) + "}\n" }
	valid := "name: a, sha256: " + aHash + ", may: [read]"
	for _, v := range []struct{ name, text, want string }{
		{"no value", "keys:", "riffle.yaml:1:6: keys must be a list"},
		{"no keys", "keys: []", "riffle.yaml:1:7: keys has no key; leave it out if callers need none"},
		{"mapping", "keys: {name: a}", "riffle.yaml:1:7: keys must be a list"},
		{"text for a key", "keys: [a]", "riffle.yaml:1:8: each of keys must have keys and values, such as burst: ..."},
		{"unknown member", key("nam: a"), `riffle.yaml:2:4: unknown key "nam"; did you mean name?`},
		{"duplicate member", key("%s, name: b", valid), `riffle.yaml:2:100: duplicate key "name"; it is set in line 2 already`},
		{"empty key", key(""), "riffle.yaml:2:3: the key has no name; add name: ..."},
		{"no hash", key("name: a, may: [read]"), "riffle.yaml:2:3: the key has no sha256; add sha256: ..."},
		{"no scope", key("name: a, sha256: %s", aHash), "riffle.yaml:2:3: the key has nothing it may do; add may: [read]"},
		{"empty scopes", key("name: a, sha256: %s, may: []", aHash), "riffle.yaml:2:3: the key has nothing it may do; add may: [read]"},
		{"a vague expiry", key("%s, expires: soon", valid), `riffle.yaml:2:109: expires must be a date such as 2027-01-31 or a time such as 2027-01-31T18:00:00Z, got "soon"`},
		{"no log", key("%s, logs: []", valid), "riffle.yaml:2:106: logs has no log; leave it out for every log"},
		{"a token for its hash", key("name: a, sha256: rfl_secret, may: [read]"), "riffle.yaml:2:21: sha256 must be the SHA-256 of the token, 64 hex digits"},
		{"name with a slash", key("name: a/b, sha256: %s, may: [read]", aHash), `riffle.yaml:2:10: a name has 1 to 64 letters, digits, dashes, underscores and, except at the start, dots, like table-server; got "a/b"`},
		{"unknown scope", key("name: a, sha256: %s, may: [read, suffle]", aHash), `riffle.yaml:2:99: unknown scope "suffle"; did you mean shuffle?`},
		{"text for scopes", "anonymous: {may: read}", "riffle.yaml:1:18: may must be a list"},
		{"negative rate", "anonymous: {rate: -1}", `riffle.yaml:1:19: rate must be a number from 0, such as 50 or 0.5, got "-1"`},
		{"endless rate", "anonymous: {rate: Inf, bytes: NaN}", `riffle.yaml:1:19: rate must be a number from 0, such as 50 or 0.5, got "Inf"` + "\n" +
			`riffle.yaml:1:31: bytes must be a number of bytes from 0, such as 1000000 or 1MiB, got "NaN"`},
		{"broken burst", "anonymous: {burst: 0.5}", `riffle.yaml:1:20: burst must be a whole number from 0, such as 100, got "0.5"`},
		{"anonymous name", "anonymous: {name: a}", `riffle.yaml:1:13: unknown key "name"; there are burst, bytes, logs, may, rate, records`},
		{"an anonymous log that there is not", "anonymous: {may: [read], logs: [mein]}", `riffle.yaml:1:33: unknown log "mein"; did you mean main?`},
		{"no anonymous log", "anonymous: {may: [read], logs: []}", "riffle.yaml:1:32: logs has no log; leave it out for every log"},
		{"a token for a name", key("name: rfl_secret, sha256: %s, may: [read]", aHash), "riffle.yaml:2:10: a name must not have a token in it, which is secret; choose one like table-server"},
		{"a token for a scope", "anonymous: {may: [rfl_secret]}", `riffle.yaml:1:19: unknown scope "rfl_..."; there are shuffle, deal, read, metrics`},
		{"a token for a member", "anonymous: {rfl_secret: 1}", `riffle.yaml:1:13: unknown key "rfl_..."; there are burst, bytes, logs, may, rate, records`},
		{"list for anonymous", "anonymous: [read]", "riffle.yaml:1:12: anonymous must have keys and values, such as burst: ..."},
		{"alias in a key", key("name: &x a, sha256: %s, may: [read]", aHash), "riffle.yaml:2:10: anchors (&) and aliases (*) are not accepted; quote a text that begins so"},
		{"duplicates", key("%s", valid) + "- {" + valid + "}", `riffle.yaml:3:10: duplicate name "a"; the key in line 2 has it already` + "\n" +
			"riffle.yaml:3:21: duplicate sha256; the key in line 2 has it already"},
	} {
		f, _ := readText(t, v.text)
		if err := f.Err(); err == nil || err.Error() != v.want {
			t.Errorf("%s: %v\nwant %s", v.name, err, v.want)
		}
	}
}
