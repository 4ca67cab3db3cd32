package anchor

import (
	"context"
	"crypto/sha256"
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

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

// An objects server holds one object. It signs each request again and compares the signatures.
type objects struct {
	t      *testing.T
	signed bool
	object []byte
}

func (o *objects) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if digest := sha256.Sum256(body); o.signed {
		again, err := http.NewRequestWithContext(o.t.Context(), r.Method, "http://"+r.Host+r.RequestURI, nil)
		assert.NoError(o.t, err)
		for _, name := range []string{"If-Match", "If-None-Match", "X-Amz-Content-Sha256", "Content-Length"} {
			if value := r.Header.Get(name); value != "" {
				again.Header.Set(name, value)
			}
		}
		again.ContentLength = max(r.ContentLength, 0)
		at, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		assert.NoError(o.t, err)
		key := aws.Credentials{AccessKeyID: "id", SecretAccessKey: "secret"}
		assert.NoError(o.t, v4.NewSigner(func(s *v4.SignerOptions) { s.DisableURIPathEscaping = true }).
			SignHTTP(o.t.Context(), key, again, hex.EncodeToString(digest[:]), "s3", "eu-1", at))
		assert.Equal(o.t, again.Header.Get("Authorization"), r.Header.Get("Authorization"), r.Method)
		assert.Equal(o.t, "/bucket/a%20key", r.RequestURI)
	}
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
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	web, bucket := httptest.NewServer(&objects{t: t}), httptest.NewServer(&objects{t: t, signed: true})
	defer web.Close()
	defer bucket.Close()
	c := postgrestest.For(t)
	database := c.URL(c.NewDatabase(t))
	folder := t.TempDir()
	for _, location := range []string{
		filepath.Join(folder, "path"), "file://" + filepath.Join(folder, "url"), web.URL + "/anchor",
		"s3://bucket/a%20key?region=eu-1&endpoint=" + bucket.URL, database,
	} {
		one, err := Parse(location)
		require.NoError(t, err)
		two, err := Parse(location)
		require.NoError(t, err)
		assert.NotContains(t, one.Name, "?")
		assert.NotContains(t, one.Name, postgrestest.Password())
		note, tag, err := one.Read(t.Context())
		assert.NoError(t, err, location)
		assert.Empty(t, note, location)
		if location == database {
			assert.Error(t, c.Exec(t.Context(), "SELECT FROM riffle_anchor"), "reading creates nothing")
		}
		for _, next := range []string{"first", "second"} {
			assert.NoError(t, one.Replace(t.Context(), []byte(next), tag), location)
			assert.ErrorIs(t, two.Replace(t.Context(), []byte("other"), tag), ErrReplaced, location)
			note, tag, err = two.Read(t.Context())
			assert.NoError(t, err, location)
			assert.Equal(t, next, string(note), location)
		}
	}
}

// TestPlacesAsText splits a list whose URL of a database has several hosts.
func TestPlacesAsText(t *testing.T) {
	var p Places
	require.NoError(t, p.UnmarshalText([]byte("/a/b, ,postgres://u:secret@one:5432,two:5432/x,https://host/c?d,")))
	var names []string
	for _, place := range p {
		names = append(names, place.Name)
	}
	assert.Equal(t, []string{"/a/b", "postgres://one:5432,two:5432/x", "https://host/c"}, names)
	for _, location := range []string{"relative", "ftp://host/x", "s3://bucket", "https:///x", "file://host/x", "postgres://u:secret@"} {
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

// TestRedirectsAreErrors has a server redirect every request, as S3 does for a bucket of another
// region.
func TestRedirectsAreErrors(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "id")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret")
	web := httptest.NewServer(http.RedirectHandler("/elsewhere", http.StatusTemporaryRedirect))
	defer web.Close()
	for _, location := range []string{web.URL + "/anchor", "s3://bucket/anchor?endpoint=" + web.URL} {
		p, err := Parse(location)
		require.NoError(t, err)
		_, _, err = p.Read(t.Context())
		assert.ErrorContains(t, err, "it answered 307", location)
		assert.ErrorContains(t, p.Replace(t.Context(), []byte("note"), ""), "it answered 307", location)
	}
}
