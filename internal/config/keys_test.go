package config

import (
	"crypto/sha256"
	"encoding/hex"
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
anonymous: {may: [read], rate: 50, burst: 100}
keys:
  - name: table-server
    sha256: `+aHash+`
    may: [shuffle, deal, read, metrics]
    rate: 0.5
    burst: 1000
    records: 200
    bytes: 1e6
  - {name: monitor, sha256: `+strings.ToUpper(bHash)+`, may: [metrics], expires: 2027-01-31}
  - {name: guest, sha256: `+strings.Repeat("00", 31)+`01, may: [read], expires: "2027-01-31T18:00:00+01:00", bytes: 64KiB}
`)
	wantKeys := []access.APIKey{
		{Name: "table-server", Digest: aSum, Grant: access.Grant{
			May: access.Scopes(), Rates: access.Rates{Requests: 0.5, Burst: 1000, Records: 200, Bytes: 1e6},
		}},
		{Name: "monitor", Digest: bSum, Grant: access.Grant{May: []access.Scope{access.Metrics}}, Expires: time.Date(2027, 1, 31, 0, 0, 0, 0, time.UTC)},
		{Name: "guest", Digest: access.Digest{31: 1}, Grant: access.Grant{May: []access.Scope{access.Read}, Rates: access.Rates{Bytes: 64 << 10}}},
	}
	if len(f.Keys) == 3 && f.Keys[2].Expires.Equal(time.Date(2027, 1, 31, 17, 0, 0, 0, time.UTC)) {
		f.Keys[2].Expires = time.Time{}
	}
	wantAnonymous := &access.Grant{May: []access.Scope{access.Read}, Rates: access.Rates{Requests: 50, Burst: 100}}
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
