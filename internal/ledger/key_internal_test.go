package ledger

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
)

// Another process creates the key file while this one generates a key.
func TestOpenUsesKeyOfConcurrentStart(t *testing.T) {
	path := filepath.Join(t.TempDir(), KeyName)
	theirs, _, err := note.GenerateKey(nil, "example.com/theirs")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, []byte(theirs+"\n"), 0o600))
	key, err := makeKey(path, "example.com/ours")
	require.NoError(t, err)
	assert.Equal(t, "example.com/theirs", key.Name(), "the log")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	assert.Equal(t, theirs+"\n", string(text), "the key file of the other process was overwritten")
}
