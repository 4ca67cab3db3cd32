package anchor

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An objects server holds one object.
type objects struct{ object []byte }

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	tag := fmt.Sprintf("%q", hex.EncodeToString(o.object))
	switch {
	case r.Method == http.MethodGet && o.object == nil:
		w.WriteHeader(http.StatusNotFound)
	case r.Method == http.MethodGet:
		w.Header().Set("ETag", tag)
		_, _ = w.Write(o.object)
	case o.object == nil && r.Header.Get("If-None-Match") == "*" || o.object != nil && r.Header.Get("If-Match") == tag:
		o.object = body
	default:
		w.WriteHeader(http.StatusPreconditionFailed)
	}
}

// TestPlacesAreReplacedOnce has two processes replace one version of the checkpoint of each kind of place.
func TestPlacesAreReplacedOnce(t *testing.T) {
	web := httptest.NewServer(&objects{})
	defer web.Close()
	for _, location := range []string{filepath.Join(t.TempDir(), "anchor"), web.URL + "/anchor?key=secret"} {
		one, err := Parse(location)
		require.NoError(t, err)
		two, err := Parse(location)
		require.NoError(t, err)
		assert.NotContains(t, one.Name, "secret")
		note, tag, err := one.Read(t.Context())
		assert.NoError(t, err, location)
		assert.Empty(t, note, location)
		for _, next := range []string{"first", "second"} {
			assert.NoError(t, one.Replace(t.Context(), []byte(next), tag), location)
			assert.ErrorIs(t, two.Replace(t.Context(), []byte("other"), tag), ErrReplaced, location)
			note, tag, err = two.Read(t.Context())
			assert.NoError(t, err, location)
			assert.Equal(t, next, string(note), location)
		}
	}
}

// TestPlacesAsText splits a list. A checkpoint crosses a network over TLS alone.
func TestPlacesAsText(t *testing.T) {
	var p Places
	require.NoError(t, p.UnmarshalText([]byte("/a/b, ,https://u:secret@host/c?d,http://localhost:8000/x,http://[::1]/x,")))
	var names []string
	for _, place := range p {
		names = append(names, place.Name)
	}
	assert.Equal(t, []string{"/a/b", "https://host/c", "http://localhost:8000/x", "http://[::1]/x"}, names)
	for _, location := range []string{"relative", "ftp://host/x", "https:///x", "file:///x", "http://u:secret@host/x", "http://192.0.2.1/x"} {
		err := p.UnmarshalText([]byte(location))
		assert.ErrorContains(t, err, "not an anchor", location)
		assert.NotContains(t, err.Error(), "secret")
	}
}

// TestUnmountedFolder reads a file whose folder is missing, which is not an empty anchor.
func TestUnmountedFolder(t *testing.T) {
	p, err := Parse(filepath.Join(t.TempDir(), "missing", "anchor"))
	require.NoError(t, err)
	_, _, err = p.Read(t.Context())
	assert.ErrorContains(t, err, "no such file")
}

// TestFileThatHangs uses a pipe in place of a volume that does not answer: no use waits longer than
// its time, and no second one begins.
func TestFileThatHangs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "anchor")
	require.NoError(t, exec.CommandContext(t.Context(), "mkfifo", path).Run())
	p, err := Parse(path)
	require.NoError(t, err)
	for range 3 {
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		_, _, err = p.Read(ctx)
		assert.ErrorContains(t, err, "does not answer")
		assert.ErrorContains(t, p.Replace(ctx, []byte("next"), ""), "does not answer")
		cancel()
	}
	out, err := os.OpenFile(path, os.O_WRONLY, 0) // waits for the reader that is there
	require.NoError(t, err)
	require.NoError(t, out.Close())
}

// TestUnreadableFile has a folder where the checkpoint should be. Nobody has replaced it.
func TestUnreadableFile(t *testing.T) {
	p, err := Parse(t.TempDir())
	require.NoError(t, err)
	err = p.Replace(t.Context(), []byte("next"), "")
	require.Error(t, err)
	assert.NotErrorIs(t, err, ErrReplaced)
}

// TestRedirectsAreErrors has a server redirect every request.
func TestRedirectsAreErrors(t *testing.T) {
	web := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	defer web.Close()
	p, err := Parse(web.URL + "/anchor")
	require.NoError(t, err)
	_, _, err = p.Read(t.Context())
	assert.ErrorContains(t, err, "it answered 307")
	assert.ErrorContains(t, p.Replace(t.Context(), []byte("note"), ""), "it answered 307")
}
