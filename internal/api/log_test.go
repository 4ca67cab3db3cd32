package api_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	tessera "github.com/transparency-dev/tessera/api"

	"riffle/internal/ledger"
)

// mustShuffleMany makes n shuffles, up to 64 at a time so that they share commits, and waits until
// they are published.
func (s *service) mustShuffleMany(t testing.TB, n int) []shuffleResult {
	t.Helper()
	made := make([]shuffleResult, n)
	var asking sync.WaitGroup
	for first := range min(n, 64) {
		asking.Go(func() {
			for i := first; i < n; i += 64 {
				body, err := io.ReadAll(s.do(post(t, "/shuffle", `{"deck":"standard52"}`)).Body)
				if err := errors.Join(err, json.Unmarshal(body, &made[i])); err != nil || made[i].AuditID == "" {
					t.Errorf("%s (%v)", body, err)
				}
			}
		})
	}
	asking.Wait()
	s.waitPublished(t)
	return made
}

// fill appends n records of any content, as many at a time as the queue holds.
func (s *service) fill(t testing.TB, n int) {
	t.Helper()
	const atOnce = 4000
	for done := 0; done < n; done += atOnce {
		var appending sync.WaitGroup
		for i := done; i < min(n, done+atOnce); i++ {
			appending.Go(func() {
				if _, err := s.log.Append(ledger.Entry{ID: uuid.New(), Record: fmt.Append(nil, i)}); err != nil {
					t.Error(err)
				}
			})
		}
		appending.Wait()
	}
	s.waitPublished(t)
}

// A recordingServer serves a service over HTTP and records the status of each path.
type recordingServer struct {
	*httptest.Server
	mu      sync.Mutex
	fetched map[string]int // last status by path; guarded by mu
}

// serve starts a server that runs until the test ends.
func serve(t *testing.T, s *service) *recordingServer {
	w := &recordingServer{fetched: map[string]int{}}
	w.Server = httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		s.ServeHTTP(&statusRecorder{rw, w, r.URL.Path}, r)
	}))
	t.Cleanup(w.Close)
	return w
}

// A statusRecorder records the status of one response.
type statusRecorder struct {
	http.ResponseWriter
	server *recordingServer
	path   string
}

func (a *statusRecorder) WriteHeader(status int) {
	a.server.mu.Lock()
	a.server.fetched[a.path] = status
	a.server.mu.Unlock()
	a.ResponseWriter.WriteHeader(status)
}

// checkFetched checks that each of the paths was fetched, and that every fetch succeeded.
func (w *recordingServer) checkFetched(t *testing.T, paths ...string) {
	t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, path := range paths {
		if w.fetched[path] == 0 {
			t.Errorf("%s was not fetched", path)
		}
	}
	for path, status := range w.fetched {
		if status != http.StatusOK {
			t.Errorf("%s was answered %d", path, status)
		}
	}
}

// get fetches a path, which must succeed.
func (w *recordingServer) get(t *testing.T, path string) []byte {
	t.Helper()
	answer, err := w.Client().Get(w.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	body := readBody(t, answer)
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: %d %s", path, answer.StatusCode, body)
	}
	return body
}

// verifier fetches the log's public key.
func (w *recordingServer) verifier(t *testing.T) note.Verifier {
	t.Helper()
	v, err := note.NewVerifier(strings.TrimSuffix(string(w.get(t, "/log/key")), "\n"))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// Tessera's own client reads the whole log over HTTP, hashes every record and compares every tile,
// at sizes with full and partial tiles of three levels.
func TestTesseraClientVerifiesTheLog(t *testing.T) {
	s := start(t, setup{})
	server := serve(t, s)
	root, err := url.Parse(server.URL + "/log/")
	if err != nil {
		t.Fatal(err)
	}
	fetcher, err := client.NewHTTPFetcher(root, server.Client())
	if err != nil {
		t.Fatal(err)
	}
	verifier := server.verifier(t)
	hashEntries := func(data []byte) ([][]byte, error) {
		var bundle tessera.EntryBundle
		if err := bundle.UnmarshalText(data); err != nil {
			return nil, err
		}
		var hashes [][]byte
		for _, e := range bundle.Entries {
			hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(e))
		}
		return hashes, nil
	}
	check := func() {
		t.Helper()
		if err := fsck.New(verifier.Name(), verifier, fetcher, hashEntries, fsck.Opts{N: 4}).Check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}

	made := s.mustShuffleMany(t, 300)
	tracker, err := client.NewLogStateTracker(t.Context(), fetcher.ReadTile, nil, verifier, verifier.Name(),
		client.UnilateralConsensus(fetcher.ReadCheckpoint))
	if err != nil {
		t.Fatal(err)
	}
	check()
	checkGrowth := func(want uint64) {
		t.Helper()
		_, consistency, _, err := tracker.Update(t.Context()) // checks that the log is append-only
		if err != nil || len(consistency) == 0 || tracker.Latest().Size != want {
			t.Fatalf("size %d, want %d, with a consistency proof of %d hashes: %v", tracker.Latest().Size, want, len(consistency), err)
		}
		check()
	}
	made = append(made, s.mustShuffleMany(t, 350)...)
	checkGrowth(650)
	server.checkFetched(t, "/log/checkpoint", "/log/tile/0/000", "/log/tile/0/001.p/44", "/log/tile/0/001", "/log/tile/0/002.p/138",
		"/log/tile/1/000.p/1", "/log/tile/1/000.p/2", "/log/tile/entries/000", "/log/tile/entries/001.p/44",
		"/log/tile/entries/001", "/log/tile/entries/002.p/138")

	t.Run("inclusion", func(t *testing.T) {
		latest := tracker.Latest()
		builder, err := client.NewProofBuilder(t.Context(), latest.Size, fetcher.ReadTile)
		if err != nil {
			t.Fatal(err)
		}
		bundles := map[uint64]tessera.EntryBundle{}
		for _, m := range made {
			if _, ok := bundles[m.LogIndex/256]; !ok {
				if bundles[m.LogIndex/256], err = client.GetEntryBundle(t.Context(), fetcher.ReadEntryBundle, m.LogIndex/256, latest.Size); err != nil {
					t.Fatal(err)
				}
			}
			record := bundles[m.LogIndex/256].Entries[m.LogIndex%256]
			if shown := getAudit(t, s, m.AuditID); string(shown.Record) != string(record) {
				t.Fatalf("record %d is %s in the log, and %s in its audit", m.LogIndex, record, shown.Record)
			}
			path, err := builder.InclusionProof(t.Context(), m.LogIndex)
			if err != nil {
				t.Fatal(err)
			}
			if err := proof.VerifyInclusion(rfc6962.DefaultHasher, m.LogIndex, latest.Size, rfc6962.DefaultHasher.HashLeaf(record), path, latest.Hash); err != nil {
				t.Errorf("record %d: %v", m.LogIndex, err)
			}
		}
	})

	s.fill(t, 256*256+300-650)
	checkGrowth(256*256 + 300)
	server.checkFetched(t, "/log/tile/0/255", "/log/tile/0/257.p/44", "/log/tile/1/000", "/log/tile/1/001.p/1", "/log/tile/2/000.p/1",
		"/log/tile/entries/255", "/log/tile/entries/257.p/44")
}

// A monitor written with golang.org/x/mod/sumdb checks every record against the signed checkpoint.
func TestMonitorVerifiesTheLog(t *testing.T) {
	s := start(t, setup{})
	server := serve(t, s)
	verifier := server.verifier(t)
	s.mustShuffleMany(t, 270)
	earlier := openTree(t, server.get(t, "/log/checkpoint"), verifier)
	s.mustShuffleMany(t, 350)
	tree := openTree(t, server.get(t, "/log/checkpoint"), verifier)
	if earlier.N != 270 || tree.N != 620 {
		t.Fatalf("checkpoints of %d and %d records, want 270 and 620", earlier.N, tree.N)
	}
	reader := tlog.TileHashReader(tree, tileReader{t, server, map[string][]byte{}})
	records := server.records(t, tree.N)
	for i, record := range records {
		path, err := tlog.ProveRecord(tree.N, int64(i), reader)
		if err == nil {
			err = tlog.CheckRecord(path, tree.N, tree.Hash, int64(i), tlog.RecordHash(record))
		}
		if err != nil {
			t.Fatalf("record %d: %v", i, err)
		}
	}
	consistency, err := tlog.ProveTree(tree.N, earlier.N, reader)
	if err == nil {
		err = tlog.CheckTree(consistency, tree.N, tree.Hash, earlier.N, earlier.Hash)
	}
	if err != nil {
		t.Errorf("the tree of %d records does not extend that of %d: %v", tree.N, earlier.N, err)
	}
}

// openTree verifies a signed checkpoint and returns the tree that it is of.
func openTree(t *testing.T, text []byte, verifier note.Verifier) (tree tlog.Tree) {
	t.Helper()
	n, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(n.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() || lines[3] != "" {
		t.Fatalf("the checkpoint is %q", n.Text)
	}
	if _, err := fmt.Sscanf(lines[1], "%d", &tree.N); err != nil {
		t.Fatal(err)
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	if err != nil || len(root) != tlog.HashSize {
		t.Fatalf("the root is %q (%v)", lines[2], err)
	}
	tree.Hash = tlog.Hash(root)
	return tree
}

// A tileReader is a tlog.TileReader that fetches each tile once.
type tileReader struct {
	t       *testing.T
	server  *recordingServer
	fetched map[string][]byte
}

func (tileReader) Height() int { return 8 }

func (r tileReader) ReadTiles(tiles []tlog.Tile) (data [][]byte, err error) {
	for _, tile := range tiles {
		// Paths of tlog have the height, 8, in front: the service follows tlog-tiles, which leaves
		// it out.
		path := "/log/tile/" + strings.TrimPrefix(tile.Path(), "tile/8/")
		if r.fetched[path] == nil {
			r.fetched[path] = r.server.get(r.t, path)
		}
		data = append(data, r.fetched[path])
	}
	return data, nil
}

func (tileReader) SaveTiles([]tlog.Tile, [][]byte) {}

// records fetches the first n records.
func (w *recordingServer) records(t *testing.T, n int64) (list [][]byte) {
	t.Helper()
	for int64(len(list)) < n {
		tile := tlog.Tile{H: 8, L: -1, N: int64(len(list)) / 256, W: int(min(256, n-int64(len(list))))}
		bundle := w.get(t, "/log/tile/"+strings.Replace(tile.Path(), "tile/8/data/", "entries/", 1))
		for len(bundle) > 0 {
			length := binary.BigEndian.Uint16(bundle)
			list = append(list, bundle[2:2+length])
			bundle = bundle[2+length:]
		}
		if want := 256*tile.N + int64(tile.W); int64(len(list)) != want {
			t.Fatalf("%s ends at record %d, not %d", tile.Path(), len(list), want)
		}
	}
	return list
}

// Each tile has one path. Every other path is answered as a tile that does not exist.
func TestTiles(t *testing.T) {
	c := loadContract(t)
	s := start(t, setup{})
	tile := func(name string) (*http.Response, []byte) {
		answer := s.do(get(t, "/log/tile/"+name))
		body := readBody(t, answer)
		if err := c.check("getTile", answer, body); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		return answer, body
	}
	missing := func(name string) {
		t.Helper()
		answer, body := tile(name)
		if answer.StatusCode != http.StatusNotFound || !equalsExample(t, body, c.examples("getTile", 404)["noSuchTile"]) ||
			answer.Header.Get("Content-Type") != "application/problem+json" || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d %v %.200s", name, answer.StatusCode, answer.Header, body)
		}
	}
	found := func(name string) []byte {
		t.Helper()
		answer, body := tile(name)
		if answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != "application/octet-stream" ||
			answer.Header.Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Fatalf("%s: %d %v %.200s", name, answer.StatusCode, answer.Header, body)
		}
		return body
	}
	for _, name := range []string{"0/000", "0/000.p/1", "1/000.p/1", "entries/000", "entries/000.p/1"} {
		missing(name) // the log is empty
	}

	s.mustShuffleMany(t, 300)
	hashes, records := found("0/001.p/44"), found("entries/001.p/44")
	if len(hashes) != 44*tlog.HashSize || len(found("0/000")) != 256*tlog.HashSize || len(found("1/000.p/1")) != tlog.HashSize {
		t.Error("tiles do not have 32 bytes for each hash")
	}
	for _, name := range []string{"0/000", "entries/000", "0/001.p/44", "entries/001.p/44"} {
		whole := found(name)
		kind, index := strings.SplitN(name, "/", 2)[0], strings.Split(name, ".p/")[0]
		part := found(index + ".p/3")
		if !bytes.HasPrefix(whole, part) || kind == "0" && len(part) != 3*tlog.HashSize || len(part) == len(whole) {
			t.Errorf("the partial tile of width 3 is not a prefix of %s", name)
		}
	}
	for _, name := range []string{
		// outside the tree
		"0/001", "0/001.p/45", "0/001.p/255", "0/002.p/1", "0/002", "1/000", "1/000.p/2", "1/001.p/1", "2/000.p/1", "7/000.p/1",
		"8/000.p/1", "63/000.p/1", "entries/001", "entries/001.p/45", "entries/002.p/1", "0/x001/x234/067", "entries/x001/000.p/1",
		"0/x018/x014/x398/x509/x481/983", "0/x018/x446/x744/x073/x709/x551/615", // 2^54-1 and 2^64-1
		"7/x018/x446/x744/x073/x709/x551/615.p/255", "entries/x018/x446/x744/x073/x709/x551/615.p/1",
		"0/x018/x446/x744/x073/x709/x551/616", "0/x999/x999/x999/x999/x999/x999/x999/999",
		// invalid levels
		"64/000", "255/000", "256/000", "-1/000", "+0/000", "00/000", "01/000.p/1", "0x0/000", "1e0/000", " 0/000", "zero/000",
		"tile/0/000", "8/0/000", "8/data/000", "data/000", "Entries/000", "ENTRIES/000", "entries/0/000", "entry/000",
		// numbers that are not in canonical form
		"0/0", "0/00", "0/0000", "0/1", "0/256", "0/x000", "0/x000/000", "0/x000/x000/000", "0/000/000", "0/x001", "0/x001/", "0/x001/x000",
		"0/X000/000", "0/000x", "0/xx000", "0/x00/000", "0/x0000/000", "0/x/000", "0/0x0", "0/x001/00", "0/-01", "0/+00", "0/000/", "0//000",
		"/0/000", "0/000//", "0/ 000", "0/000 ", "0/000\x00", "0/00a", "0/0_0", "0/٠٠٠", "0/０００",
		// invalid widths
		"0/000.p/0", "0/000.p/256", "0/000.p/257", "0/000.p/65537", "0/000.p/-1", "0/000.p/+1", "0/000.p/01", "0/000.p/", "0/000.p",
		"0/000.p/1/", "0/000.p/1.p/1", "0/000.p/1/000", "0/000.P/1", "0/000p/1", "0/000.p1", "0/000.p//1", "0/000/.p/1", "0/000.p/a", "0/000.p/1.0",
		"entries/000.p/0", "entries/000.p/256", "entries/000.p/", "entries/001.p/044",
		// other paths
		"", "0", "0/", "entries", "entries/", "0/000.json", "0/000.gz", ".", "..", "../checkpoint", "0/..", "0/../0/000", "0/./000", "./0/000",
		"0/000/..", "0/001/../000", "../tile/0/000", "../../log/tile/0/000", "0\\000", "0%2F000", "0%2f..%2f0%2f000",
	} {
		missing((&url.URL{Path: name}).EscapedPath())
	}
	for _, name := range []string{"%2E%2E/0/000", "0/%2e%2e/0/000", "0/..%2f0/000", "0%252F000", "0%5C000", "%2F0/000", "0/000%2F", "0/000%00"} {
		missing(name)
	}
	// Clients generated from OpenAPI escape the slashes of a path parameter.
	if !bytes.Equal(found("0%2F001.p%2f44"), hashes) {
		t.Error("an escaped path is answered with another tile")
	}

	s.mustShuffleMany(t, 211)
	missing("0/001") // incomplete by one record
	missing("entries/001")
	s.mustShuffleMany(t, 1)
	if !bytes.Equal(found("0/001.p/44"), hashes) || !bytes.HasPrefix(found("0/001"), hashes) {
		t.Error("a partial tile of hashes changed when the log grew")
	}
	if !bytes.Equal(found("entries/001.p/44"), records) || !bytes.HasPrefix(found("entries/001"), records) {
		t.Error("a partial bundle of records changed when the log grew")
	}
	missing("0/002.p/1")
}

// Tiles are immutable and may be cached for a year, the checkpoint for a second, and errors never.
func TestCacheControl(t *testing.T) {
	healthy := start(t, setup{})
	mustShuffle(t, healthy, `{"size":3}`)
	healthy.waitPublished(t)
	unavailable := unavailableStore(t)
	unreadable := start(t, setup{store: failingReads})
	mustShuffle(t, unreadable, `{"size":3}`)
	unreadable.waitPublished(t)
	for _, v := range []struct {
		on      *service
		path    string
		status  int
		caching string
	}{
		{healthy, "/log/tile/0/000.p/1", 200, "public, max-age=31536000, immutable"},
		{healthy, "/log/tile/entries/000.p/1", 200, "public, max-age=31536000, immutable"},
		{healthy, "/log/checkpoint", 200, "public, max-age=1"},
		{healthy, "/log/key", 200, "public, max-age=86400"},
		{healthy, "/log/tile/0/000.p/2", 404, "no-store"},
		{healthy, "/log/tile/entries/000", 404, "no-store"},
		{healthy, "/log/tile/0/0", 404, "no-store"},
		{healthy, "/log/tile/0/000.p/1?a=b", 400, "no-store"},
		{healthy, "/log/checkpoint?a=b", 400, "no-store"},
		{healthy, "/log/key?a=b", 400, "no-store"},
		{healthy, "/log/tile", 404, "no-store"},
		{healthy, "/log", 404, "no-store"},
		{healthy, "/log/", 404, "no-store"},
		{unavailable, "/log/tile/0/000.p/1", 503, "no-store"},
		{unavailable, "/log/tile/entries/000.p/1", 503, "no-store"},
		{unavailable, "/log/checkpoint", 200, "public, max-age=1"},
		{unreadable, "/log/tile/0/000.p/1", 500, "no-store"},
		{unreadable, "/log/tile/entries/000.p/1", 500, "no-store"},
	} {
		answer := v.on.do(get(t, v.path))
		body := readBody(t, answer)
		if got := answer.Header.Values("Cache-Control"); answer.StatusCode != v.status || !slices.Equal(got, []string{v.caching}) {
			t.Errorf("%s: %d %q, want %d %q: %s", v.path, answer.StatusCode, got, v.status, v.caching, body)
		}
	}
}

func TestLogMetrics(t *testing.T) {
	healthy, unpublished, conflicted := start(t, setup{}), unpublishedLog(t), start(t, setup{store: failingAppends(ledger.ErrConflict)})
	healthy.mustShuffleMany(t, 3)
	mustShuffle(t, unpublished, `{"size":3}`)
	readBody(t, conflicted.do(post(t, "/shuffle", `{"size":3}`)))
	for _, v := range []struct {
		on   *service
		want []string
	}{
		{healthy, []string{"riffle_log_size{log=\"main\"} 3", "riffle_log_published_size{log=\"main\"} 3", "riffle_commit_conflicts_total{log=\"main\"} 0"}},
		{unpublished, []string{"riffle_log_size{log=\"main\"} 1", "riffle_log_published_size{log=\"main\"} 0", "riffle_commit_conflicts_total{log=\"main\"} 0"}},
		{conflicted, []string{"riffle_log_size{log=\"main\"} 0", "riffle_log_published_size{log=\"main\"} 0", "riffle_commit_conflicts_total{log=\"main\"} 1"}},
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
		if encoding := answer.Header.Get("Content-Encoding"); (encoding == "gzip") != bundle {
			t.Fatalf("%s has the encoding %q", path, encoding)
		}
		if !bundle {
			continue
		}
		unzipped, err := gzip.NewReader(bytes.NewReader(got))
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(unzipped); err != nil || !bytes.Equal(text, want) || len(got) > len(want)/2 {
			t.Errorf("%d bytes, decompressed to %d (%v), want %d", len(got), len(text), err, len(want))
		}
		if plain.Header.Get("Vary") != "Accept-Encoding" || answer.Header.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Vary is %q, and %q if compressed", plain.Header.Get("Vary"), answer.Header.Get("Vary"))
		}
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
		if lines := strings.Split(note, "\n"); lines[1] != fmt.Sprint(want+1) {
			t.Errorf("the checkpoint after %d shuffles has size %s", want+1, lines[1])
		}
	}
}
