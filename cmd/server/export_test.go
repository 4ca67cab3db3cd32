package main_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExportKilledAtAnyWrite kills an export at its writes. The service goes on with the store until an
// export is whole, and with the archive then.
func TestExportKilledAtAnyWrite(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"--rotate", "300"}}.start(t)
	l := newLife(s, cutShoe)
	s.fillLogsBefore(2)
	killed, folder := 0, filepath.Join(s.data, "archive")
	wantRiffle(t, 2, "riffle.db is in use", "log", "export", "--data", s.data, "--remove")
	s.stop()
	require.NoError(t, os.RemoveAll(folder))
	for _, call := range []string{"pwrite64", "write", "rename", "fsync"} {
		for n := 1; ; n += 1 + n {
			under, _ := strace(t, fmt.Sprintf("%s:signal=KILL:when=%d", call, n))
			if code, _ := riffle(t, under, "log", "export", "--data", s.data); code == 0 {
				break
			}
			killed++
			if n == 1 {
				s = launch{data: s.data}.start(t)
				l.goOn(s)
				s.stop()
			}
		}
		wantRiffle(t, 0, "match the signed root", "log", "export", "--data", s.data)
		wantRiffle(t, 0, "The log adds up.", "log", "check", "--data", s.data)
		require.NoError(t, os.Rename(folder, folder+" by "+call))
	}
	assert.Greater(t, killed, 8)
	require.NoError(t, os.Rename(folder+" by write", folder))
	s = launch{data: s.data}.start(t)
	wantRiffle(t, 0, "removed", "log", "export", "--data", s.data, "--remove")
	wantRiffle(t, 0, "riffle.db, before", "log", "export", "--data", s.data, "--remove")
	l.goOn(s)
}
