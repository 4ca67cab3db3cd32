package api_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// mustShuffleMany makes n shuffles, up to 64 at a time so that they share commits, and waits until
// they are published.
func (s *service) mustShuffleMany(t testing.TB, n int) {
	t.Helper()
	var asking sync.WaitGroup
	for first := range min(n, 64) {
		asking.Go(func() {
			for i := first; i < n; i += 64 {
				answer := s.send(t, post(t, "/shuffle", `{"deck":"standard52"}`))
				assert.Equal(t, http.StatusOK, answer.status, answer.body)
			}
		})
	}
	asking.Wait()
	s.waitPublished(t)
}

// fill appends n records of any content, as many at a time as the queue holds.
func (s *service) fill(t testing.TB, n int) {
	t.Helper()
	const atOnce = 4000
	for done := 0; done < n; done += atOnce {
		var appending sync.WaitGroup
		for i := done; i < min(n, done+atOnce); i++ {
			appending.Go(func() {
				_, err := s.log.Append(ledger.Entry{ID: uuid.New(), Record: fmt.Append(nil, i)})
				assert.NoError(t, err)
			})
		}
		appending.Wait()
	}
	s.waitPublished(t)
}

// A recordingServer serves a service over HTTP and records the status of each path.
type recordingServer struct {
	*httptest.Server
	fetched sync.Map // last status by path
}

// serve starts a server that runs until the test ends.
func serve(t *testing.T, s *service) *recordingServer {
	w := &recordingServer{}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		recorded := httptest.NewRecorder()
		s.ServeHTTP(recorded, r)
		w.fetched.Store(r.URL.Path, recorded.Code)
		maps.Copy(rw.Header(), recorded.Header())
		rw.WriteHeader(recorded.Code)
		_, _ = rw.Write(recorded.Body.Bytes())
	}))
	t.Cleanup(w.Close)
	return w
}

// checkFetched checks that each of the paths was fetched, and that every fetch succeeded.
func (w *recordingServer) checkFetched(t *testing.T, paths ...string) {
	t.Helper()
	for _, path := range paths {
		_, found := w.fetched.Load(path)
		assert.Truef(t, found, "%s was not fetched", path)
	}
	for path, status := range w.fetched.Range {
		assert.Equal(t, http.StatusOK, status, path)
	}
}

// get fetches a path, which must succeed.
func (w *recordingServer) get(t *testing.T, path string) []byte {
	t.Helper()
	answer, err := w.Client().Get(w.URL + path)
	require.NoError(t, err)
	body := readBody(t, answer)
	require.Equalf(t, http.StatusOK, answer.StatusCode, "%s: %d %s", path, answer.StatusCode, body)
	return body
}

// The checker of the Tessera project reads the whole log over HTTP, hashes every record and compares
// every tile, at sizes with full and partial tiles of three levels. docs/ledger.md shows it.
func TestTesseraChecksTheLog(t *testing.T) {
	fsck, _ := filepath.Glob("../../.bin/fsck-*") // a pattern without a mistake
	if len(fsck) == 0 && os.Getenv("CI") == "" {
		t.Skip("skipped: make test installs fsck")
	}
	require.NotEmpty(t, fsck)
	s := start(t, setup{})
	server := serve(t, s)
	key := filepath.Join(t.TempDir(), "log.pub")
	require.NoError(t, os.WriteFile(key, server.get(t, "/log/key"), 0o600))
	check := func(size int) {
		t.Helper()
		said, err := exec.CommandContext(t.Context(), fsck[0], "--storage_url", server.URL+"/log/", "--public_key", key, "--ui=false", "--N=4").CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.Contains(t, string(said), fmt.Sprintf("Successfully fsck'd log with size %d ", size))
	}
	s.mustShuffleMany(t, 300)
	check(300)
	s.mustShuffleMany(t, 350)
	check(650)
	server.checkFetched(t, "/log/checkpoint", "/log/tile/0/000", "/log/tile/0/001.p/44", "/log/tile/0/001", "/log/tile/0/002.p/138",
		"/log/tile/1/000.p/1", "/log/tile/1/000.p/2", "/log/tile/entries/000", "/log/tile/entries/001.p/44",
		"/log/tile/entries/001", "/log/tile/entries/002.p/138")

	s.fill(t, 256*256+300-650)
	check(256*256 + 300)
	server.checkFetched(t, "/log/tile/0/255", "/log/tile/0/257.p/44", "/log/tile/1/000", "/log/tile/1/001.p/1", "/log/tile/2/000.p/1",
		"/log/tile/entries/255", "/log/tile/entries/257.p/44")
}

// Each tile has one path. Every other path is answered as a tile that does not exist.
func TestTiles(t *testing.T) {
	c := loadContract(t)
	s := start(t, setup{})
	tile := func(name string) response {
		answer := s.send(t, get(t, "/log/tile/"+name))
		assert.NoError(t, c.check("getTile", answer), name)
		return answer
	}
	missing := func(name string) {
		t.Helper()
		answer := tile(name)
		if answer.status != http.StatusNotFound || !equalsExample(t, answer.body, c.examples("getTile", 404)["noSuchTile"]) ||
			answer.header.Get("Content-Type") != "application/problem+json" || answer.header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %.200s", name, answer.status, answer.header, answer.body)
		}
	}
	found := func(name string) []byte {
		t.Helper()
		answer := tile(name)
		if answer.status != http.StatusOK || answer.header.Get("Content-Type") != "application/octet-stream" ||
			answer.header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Fatalf("%s: %d %v %.200s", name, answer.status, answer.header, answer.body)
		}
		return []byte(answer.body)
	}
	for _, name := range []string{"0/000", "0/000.p/1", "1/000.p/1", "entries/000", "entries/000.p/1"} {
		missing(name) // the log is empty
	}

	s.mustShuffleMany(t, 300)
	hashes, records := found("0/001.p/44"), found("entries/001.p/44")
	assert.True(t, len(hashes) == 44*tlog.HashSize && len(found("0/000")) == 256*tlog.HashSize && len(found("1/000.p/1")) == tlog.HashSize,
		"tiles do not have 32 bytes for each hash")
	for _, name := range []string{"0/000", "entries/000", "0/001.p/44", "entries/001.p/44"} {
		whole := found(name)
		kind, index := strings.SplitN(name, "/", 2)[0], strings.Split(name, ".p/")[0]
		part := found(index + ".p/3")
		if !bytes.HasPrefix(whole, part) || kind == "0" && len(part) != 3*tlog.HashSize || len(part) == len(whole) {
			t.Errorf("the partial tile of width 3 is not a prefix of %s", name)
		}
	}
	for _, name := range []string{ // FuzzParseTile compares many more spellings
		// outside the tree
		"0/001", "0/001.p/45", "0/001.p/255", "0/002.p/1", "0/002", "1/000", "1/000.p/2", "1/001.p/1", "2/000.p/1", "7/000.p/1",
		"8/000.p/1", "63/000.p/1", "entries/001", "entries/001.p/45", "entries/002.p/1", "0/x001/x234/067", "entries/x001/000.p/1",
		"0/x018/x014/x398/x509/x481/983", "0/x018/x446/x744/x073/x709/x551/615", // 2^54-1 and 2^64-1
		"7/x018/x446/x744/x073/x709/x551/615.p/255", "entries/x018/x446/x744/x073/x709/x551/615.p/1",
		// not names of tiles
		"64/000", "8/0/000", "data/000", "Entries/000", "0/1", "0/000/", "0//000", "/0/000", "0/000.p/0", "0/000.p/256", "entries/001.p/044",
		"", "0", "entries/", "0/000.json", "..", "../checkpoint", "0/../0/000", "./0/000", "../../log/tile/0/000", "0%2F000",
	} {
		missing((&url.URL{Path: name}).EscapedPath())
	}
	for _, name := range []string{"%2E%2E/0/000", "0/..%2f0/000", "0%252F000", "0%5C000", "%2F0/000", "0/000%2F", "0/000%00"} {
		missing(name)
	}
	// Clients generated from OpenAPI escape the slashes of a path parameter.
	assert.Equal(t, hashes, found("0%2F001.p%2f44"), "an escaped path is answered with another tile")

	s.mustShuffleMany(t, 211)
	missing("0/001") // incomplete by one record
	missing("entries/001")
	s.mustShuffleMany(t, 1)
	assert.Equal(t, hashes, found("0/001.p/44"), "a partial tile of hashes changed when the log grew")
	assert.True(t, bytes.HasPrefix(found("0/001"), hashes), "a partial tile of hashes changed when the log grew")
	assert.True(t, bytes.Equal(found("entries/001.p/44"), records) && bytes.HasPrefix(found("entries/001"), records),
		"a partial bundle of records changed when the log grew")
	missing("0/002.p/1")
}

func TestLogMetrics(t *testing.T) {
	healthy, unpublished, conflicted := start(t, setup{}), unpublishedLog(t), start(t, setup{faults: failingAppends(ledger.ErrConflict)})
	healthy.mustShuffleMany(t, 3)
	mustShuffle(t, unpublished, `{"size":3}`)
	readBody(t, conflicted.do(post(t, "/shuffle", `{"size":3}`)))
	for _, v := range []struct {
		on   *service
		want []string
	}{
		{healthy, []string{"riffle_log_size 3", "riffle_log_published_size 3", "riffle_commit_conflicts_total 0"}},
		{unpublished, []string{"riffle_log_size 1", "riffle_log_published_size 0", "riffle_commit_conflicts_total 0"}},
		{conflicted, []string{"riffle_log_size 0", "riffle_log_published_size 0", "riffle_commit_conflicts_total 1"}},
	} {
		v.on.checkMetrics(t, v.want...)
	}
}

// Entry bundles are compressed for clients that accept gzip, and vary by Accept-Encoding so that
// caches do not mix the two. Hashes do not compress and are never compressed.
func TestEntryBundlesAreCompressed(t *testing.T) {
	s := start(t, setup{})
	s.mustShuffleMany(t, 20)
	for _, path := range []string{"/log/tile/entries/000.p/20", "/log/tile/0/000.p/20"} {
		plain := s.do(get(t, path))
		want := readBody(t, plain)
		request := get(t, path)
		request.Header.Set("Accept-Encoding", "br, gzip;q=0.9")
		answer := s.do(request)
		got := readBody(t, answer)
		bundle := strings.Contains(path, "entries")
		encoding := answer.Header.Get("Content-Encoding")
		require.Equalf(t, bundle, (encoding == "gzip"), "%s has the encoding %q", path, encoding)
		if !bundle {
			continue
		}
		unzipped, err := gzip.NewReader(bytes.NewReader(got))
		require.NoError(t, err)
		if text, err := io.ReadAll(unzipped); err != nil || !bytes.Equal(text, want) || len(got) > len(want)/2 {
			t.Errorf("%d bytes, decompressed to %d (%v), want %d", len(got), len(text), err, len(want))
		}
		assert.Equal(t, "Accept-Encoding", plain.Header.Get("Vary"), "Vary")
		assert.Equal(t, "Accept-Encoding", answer.Header.Get("Vary"), "Vary")
		if plain.Header.Get("Content-Length") != fmt.Sprint(len(want)) || answer.Header.Get("Cache-Control") != plain.Header.Get("Cache-Control") {
			t.Errorf("the headers are %v, and %v if compressed", plain.Header, answer.Header)
		}
	}
}

// A checkpoint that is fetched after an answer covers the record of the answer.
func TestCheckpointCoversAnsweredShuffles(t *testing.T) {
	s := start(t, setup{})
	for want := range 5 {
		mustShuffle(t, s, `{"size":3}`)
		note := string(readBody(t, s.do(get(t, "/log/checkpoint"))))
		assert.Equalf(t, fmt.Sprint(want+1), strings.Split(note, "\n")[1],
			"the checkpoint after %d shuffles has size", want+1)
	}
}
