package main_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFilesOfOthersAreProtected starts the program on a data folder that others may read. The
// service's own files get their modes back; keys elsewhere and the folder cause a warning.
func TestFilesOfOthersAreProtected(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	data, key := filepath.Join(folder, "data"), filepath.Join(folder, "secret.key")
	l := launch{data: data, args: []string{"-key", key, "-seed-key", filepath.Join(data, "seed.key")}}
	s := l.start(t)
	s.stop()
	assert.EqualValues(t, 0o700, modeOf(t, data), "the data folder has mode")
	assert.NotContainsf(t, s.log.String(), "others", "a new folder causes a warning:\n%s", s.log)
	ours := []string{"riffle.db", "checkpoint", "seed.key"}
	for _, name := range ours {
		chmod(t, filepath.Join(data, name), 0o644)
	}
	chmod(t, key, 0o640)
	chmod(t, data, 0o755)
	s = l.start(t)
	defer s.stop()
	for _, name := range ours {
		path := filepath.Join(data, name)
		if mode := modeOf(t, path); mode != 0o600 || !strings.Contains(s.log.String(), `"file":"`+path+`","from":"-rw-r--r--"`) {
			t.Errorf("%s has mode %#o, want 0600 and a warning:\n%s", name, mode, s.log)
		}
	}
	for path, mode := range map[string]os.FileMode{key: 0o640, data: 0o755} {
		got := modeOf(t, path)
		assert.Truef(t, got == mode && strings.Contains(s.log.String(), `"path":"`+path+`"`), "%s has mode %#o, want %#o and a warning:\n%s", path, got, mode, s.log)
	}
}

func chmod(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	require.NoError(t, os.Chmod(path, mode))
}

func modeOf(t *testing.T, path string) os.FileMode {
	t.Helper()
	info, err := os.Stat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}
