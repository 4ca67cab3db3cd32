package deckofcards

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Published clients of the other service pass their own examples against this one. They are
// installed as their authors published them; testdata/clients pins them and all that they need.
func TestPublishedClients(t *testing.T) {
	t.Parallel()
	fail := t.Fatalf // in CI; elsewhere a tool or the registry may be missing
	if os.Getenv("CI") == "" {
		fail = t.Skipf
	}
	for _, tool := range []string{"node", "npm"} { // .ci/tools installs them
		if _, err := exec.LookPath(tool); err != nil {
			fail("%v", err)
		}
	}
	folder := t.TempDir()
	require.NoError(t, os.CopyFS(folder, os.DirFS("testdata/clients")))
	install := exec.CommandContext(t.Context(), "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline")
	install.Dir = folder
	if text, err := install.CombinedOutput(); err != nil {
		fail("the clients cannot be installed: %v\n%s", err, text)
	}
	server := httptest.NewServer(newSite(t))
	t.Cleanup(server.Close)
	for _, script := range []string{"deckofcardsapi-client.mjs", "deckofcards-api.mjs"} {
		t.Run(script, func(t *testing.T) {
			run := exec.CommandContext(t.Context(), "node", filepath.Join(folder, script), server.URL)
			text, err := run.CombinedOutput()
			assert.NoErrorf(t, err, "%v\n%s", err, text)
		})
	}
}
