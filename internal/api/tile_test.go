package api

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

// FuzzParseTile compares parseTile with tlog.ParseTilePath. Paths of tlog also have the height,
// which is always 8 here, and "data" for "entries". Each tile has exactly one path.
func FuzzParseTile(f *testing.F) {
	for _, text := range []string{
		"0/000", "63/999", "64/000", "0/x001/x234/067.p/255", "0/x000/001", "entries/000", "entries/x001/000.p/1", "0/000.p/256",
		"0/000.p/0", "00/000", "0/000/", "0/1", "256/000", "-1/000", "+0/000", "0x0/000", " 0/000", "tile/0/000", "8/data/000", "data/000",
		"entries/0/000", "0/00", "0/0000", "0/x000/000", "0/x001/", "0/X000/000", "0/-01", "0/0_0", "0/٠٠٠", "0/000\x00", "0//000", "0/000//",
		"0/000.p/65537", "0/000.p/-1", "0/000.p/+1", "0/000.p/01", "0/000.p/", "0/000.p/1/", "0/000.p/1.p/1", "0/000.P/1", "0/000p/1", "0/x018/x446/x744/x073/x709/x551/615", "0/x018/x446/x744/x073/x709/x551/616", "",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, ok := parseTile(text)
		name := strings.Replace(strings.TrimPrefix(got.Path(), "tile/8/"), "data/", "entries/", 1)
		assert.Truef(t, !ok || name == text, "%q is parsed as %q", text, name)
		path, entries := strings.CutPrefix(text, "entries/")
		if entries {
			path = "data/" + path
		} else if strings.HasPrefix(text, "data/") {
			return
		}
		want, err := tlog.ParseTilePath("tile/8/" + path)
		require.Equalf(t, (err == nil), ok, "%q is valid: %t; for tlog: %v", text, ok, err)
		if ok && err == nil && (entries != (want.L < 0) || got != want) {
			t.Errorf("%q is %+v; for tlog %+v", text, got, want)
		}
	})
}
