package archive_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/transparency-dev/merkle/rfc6962"
	"github.com/transparency-dev/tessera/api"
	"github.com/transparency-dev/tessera/client"
	"github.com/transparency-dev/tessera/fsck"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
)

// export returns a folder with the archive of a log, and its chain. Several batches begin claims.
func export(t *testing.T) (string, *ledgertest.Chain) {
	t.Helper()
	from, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riffle.db"))
	require.NoError(t, err)
	c := ledgertest.NewChain(t)
	c.Append(from)
	for _, n := range []int{1, 300, 1200, 50} {
		entries := ledgertest.Entries(strings.Repeat("n", n), n)
		entries[0].Claims = []ledger.Claim{{Name: entries[0].ID.String(), Due: 7}}
		entries[0].Reference = "game"
		entries[n/2].Sidecar = nil
		c.Append(from, entries...)
	}
	folder := archive.Folder(t.TempDir())
	a, err := archive.Open(t.Context(), folder)
	require.NoError(t, err)
	require.NoError(t, c.Copied().Run(t.Context(), from, a))
	head, err := a.Head(t.Context())
	require.NoError(t, err)
	require.NoError(t, a.WriteTiles(t.Context(), head.Size))
	assert.False(t, archive.Exists(folder), "before the last file")
	require.NoError(t, a.Finish(head.Checkpoint))
	assert.True(t, archive.Exists(folder))
	require.NoError(t, a.Close())
	require.NoError(t, from.Close())
	return folder, c
}

func open(t *testing.T, folder string) *archive.Store {
	t.Helper()
	a, err := archive.Open(t.Context(), folder)
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, a.Close()) })
	return a
}

// An archive answers like the store that it was made from, and Tessera's own client reads its files from a
// web server.
func TestArchiveHasTheLog(t *testing.T) {
	folder, c := export(t)
	a := open(t, folder)
	c.CheckLog(a)
	for _, e := range []*ledger.Entry{&c.Entries[0], &c.Entries[301]} {
		got, err := ledger.FirstOrNotFound(a.Select(t.Context(), ledger.ByID(e.ID)))
		require.NoError(t, err)
		assert.Equal(t, e.Record, got.Record)
	}
	list, err := a.Select(t.Context(), ledger.ByReference("game", 1, 2))
	require.NoError(t, err)
	require.Len(t, list, 2)
	assert.Equal(t, c.Entries[list[1].Index].Record, list[1].Record)
	assert.ErrorIs(t, a.Append(t.Context(), c.Next(ledgertest.Entries("later", 1)...)), ledger.ErrConflict)

	server := httptest.NewServer(http.FileServer(http.Dir(folder)))
	defer server.Close()
	root, err := url.Parse(server.URL + "/")
	require.NoError(t, err)
	fetcher, err := client.NewHTTPFetcher(root, server.Client())
	require.NoError(t, err)
	hashEntries := func(data []byte) (hashes [][]byte, err error) {
		var bundle api.EntryBundle
		err = bundle.UnmarshalText(data)
		for _, e := range bundle.Entries {
			hashes = append(hashes, rfc6962.DefaultHasher.HashLeaf(e))
		}
		return hashes, err
	}
	require.NoError(t, fsck.New(c.Verify.Name(), c.Verify, fetcher, hashEntries, fsck.Opts{N: 2}).Check(t.Context()))
}

// A web server may have all files but checkpoint and index. Its answers are never trusted.
func TestArchiveOnAWebServer(t *testing.T) {
	folder, c := export(t)
	handler := http.FileServer(http.Dir(folder))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { handler.ServeHTTP(w, r) }))
	near := t.TempDir()
	for _, name := range []string{"index.db", "checkpoint"} {
		require.NoError(t, os.Link(filepath.Join(folder, name), filepath.Join(near, name)))
	}
	lacking, err := archive.OpenReader(t.Context(), near)
	require.NoError(t, err)
	_, err = lacking.Select(t.Context(), ledger.Range(0, 1))
	require.ErrorIs(t, err, ledger.ErrCorrupt, "without the files")
	require.NoError(t, lacking.Close())
	require.NoError(t, os.WriteFile(filepath.Join(near, "url"), []byte(server.URL+"/\n"), 0o600))
	a := open(t, near)
	c.CheckLog(a)
	for name, answer := range map[string]func(w http.ResponseWriter){
		"the store cannot be reached":     func(w http.ResponseWriter) { w.WriteHeader(http.StatusInternalServerError) },
		"does not have 256 whole entries": func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>Please log in</html>")) },
	} {
		handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) })
		_, err := a.Select(t.Context(), ledger.Range(0, 1))
		assert.ErrorContains(t, err, name)
	}
	server.Close()
	_, err = ledger.FirstOrNotFound(a.Select(t.Context(), ledger.ByID(c.Entries[0].ID)))
	assert.ErrorIs(t, err, ledger.ErrUnavailable)
}

// A check finds each changed byte of a record, and a bundle with too few or too many.
func TestArchiveIsDamaged(t *testing.T) {
	folder, c := export(t)
	a := open(t, folder)
	path := filepath.Join(folder, "tile", "entries", "003")
	whole, err := os.ReadFile(path)
	require.NoError(t, err)
	changed := append([]byte{}, whole...)
	changed[20] ^= 1
	for _, text := range [][]byte{changed, whole[:len(whole)-1], append(whole[:len(whole):len(whole)], 0), {}} {
		require.NoError(t, os.WriteFile(path, text, 0o600))
		result, err := ledger.Check{Verifier: c.Verify}.Run(t.Context(), a)
		if err == nil {
			assert.NotEmpty(t, result.Findings)
		} else {
			assert.ErrorIs(t, err, ledger.ErrCorrupt)
		}
	}
}

// Sidecars are replaced, and then forgotten while the archive is open.
func TestSidecarsOfAnArchive(t *testing.T) {
	folder, c := export(t)
	a := open(t, folder)
	var changed []ledger.StoredEntry
	for _, i := range []uint64{300, 301, 0, 1550} {
		c.Entries[i].Sidecar = []byte("another")
		changed = append(changed, ledger.StoredEntry{Index: i, Entry: ledger.Entry{Sidecar: c.Entries[i].Sidecar}})
	}
	require.NoError(t, a.Reseal(t.Context(), []byte("key"), changed))
	head, err := a.Head(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "key", string(head.SeedKey))
	list, err := a.Select(t.Context(), ledger.Range(0, len(c.Entries)))
	require.NoError(t, err)
	for i, e := range list {
		require.Equal(t, string(c.Entries[i].Sidecar), string(e.Sidecar))
	}
	copied := archive.Folder(t.TempDir())
	require.NoError(t, archive.Copy(folder, copied))
	require.NoError(t, archive.ForgetSeeds(folder))
	e, err := ledger.FirstOrNotFound(a.Select(t.Context(), ledger.ByID(c.Entries[300].ID)))
	require.NoError(t, err)
	assert.True(t, e.Forgotten)
	assert.Equal(t, tlog.RecordHash(e.Record), c.Entries[300].Hash)
	require.NoError(t, a.Reseal(t.Context(), []byte("key"), changed))
	assert.NoDirExists(t, filepath.Join(folder, "sidecars"))
	e, err = ledger.FirstOrNotFound(open(t, copied).Select(t.Context(), ledger.ByID(c.Entries[300].ID)))
	require.NoError(t, err)
	assert.Equal(t, "another", string(e.Sidecar))
}
