package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLostFilesStopServer deletes, replaces or locks the files of a running server (H6). The server
// exits with an error that names the file.
func TestLostFilesStopServer(t *testing.T) {
	t.Parallel()
	replace := func(t *testing.T, path string) {
		t.Helper()
		other := path + ".other"
		content, err := os.ReadFile(path + ".copy")
		if err == nil {
			err = os.WriteFile(other, content, 0o600)
		}
		if err == nil {
			err = os.Rename(other, path)
		}
		require.NoError(t, err)
	}
	for _, c := range []struct {
		name, file, want string // file is relative to the data folder
		lose             func(t *testing.T, path string) error
	}{
		{"folder deleted", "", "was deleted or moved", func(_ *testing.T, path string) error { return os.RemoveAll(path) }},
		{"folder moved", "", "was deleted or moved", func(_ *testing.T, path string) error { return os.Rename(path, path+".moved") }},
		{"database deleted", "riffle.db", "was deleted or moved", func(_ *testing.T, path string) error { return os.Remove(path) }},
		{"database replaced", "riffle.db", "was replaced", func(t *testing.T, path string) error { replace(t, path); return nil }},
		{"database read-only", "riffle.db", "was made read-only", func(_ *testing.T, path string) error { return os.Chmod(path, 0o400) }},
		{"write-ahead log deleted", "riffle.db-wal", "while the service had it open", // a new reader makes it anew
			func(_ *testing.T, path string) error { return os.Remove(path) }},
		{"checkpoint deleted", "checkpoint", "was deleted or moved", func(_ *testing.T, path string) error { return os.Remove(path) }},
		{"checkpoint replaced", "checkpoint", "was replaced", func(t *testing.T, path string) error { replace(t, path); return nil }},
		{"folder read-only", "", "was made read-only", func(t *testing.T, path string) error {
			t.Cleanup(func() { _ = os.Chmod(path, 0o700) })
			return os.Chmod(path, 0o500)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			launch{data: data}.start(t).stop()
			for _, name := range []string{"riffle.db", "checkpoint"} { // not from the open files: see SQLite's locks
				content, err := os.ReadFile(filepath.Join(data, name))
				if err == nil {
					err = os.WriteFile(filepath.Join(data, name+".copy"), content, 0o600)
				}
				require.NoError(t, err)
			}
			s := launch{data: data}.start(t)
			s.shuffle(smallShuffle)
			path := filepath.Join(data, c.file)
			require.NoError(t, c.lose(t, path))
			code := s.wait()
			if text := s.log.String(); code != 1 || !strings.Contains(text, c.want) || !strings.Contains(text, path) {
				t.Errorf("the server exited with %d, want 1 and %q about %s:\n%s", code, c.want, path, text)
			}
		})
	}
}
