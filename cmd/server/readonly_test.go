package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// onReadOnlyMount mounts the folder $1 read-only and executes the rest as the user of the image.
const onReadOnlyMount = `mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec setpriv --reuid=65532 --regid=65532 --clear-groups "$@"`

// TestReadOnlyFolder serves a folder from a read-only mount as another user. Each read is answered as the
// writing service answered it, and what would write is refused.
func TestReadOnlyFolder(t *testing.T) {
	t.Parallel()
	unshare := requireTool(t, "unshare")
	requireTool(t, "setpriv")
	root, err := os.MkdirTemp("", "riffle-read-only")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(root) })
	require.NoError(t, os.Chmod(root, 0o755))
	binary, data := filepath.Join(root, "server"), filepath.Join(root, "data")
	require.NoError(t, os.Link(program, binary))
	s := launch{data: data, args: []string{"--deckofcards"}}.start(t)
	reads, writes := fillForReadOnly(t, s)
	s.stop()
	require.NoError(t, filepath.Walk(data, func(path string, _ os.FileInfo, err error) error {
		require.NoError(t, err)
		return os.Chown(path, 65532, 65532)
	}))
	before := sizesOf(t, data)
	l := launch{
		data: data, program: binary, args: []string{"--deckofcards", "--read-only"},
		wrapper: []string{unshare, "--mount", "sh", "-c", onReadOnlyMount, "sh", data},
	}
	checkReadOnly(t, l, reads, writes)
	assert.Equal(t, before, sizesOf(t, data))

	launch{data: data, args: []string{"--read-only", "--origin", "another"}}.refused(t, "the origin of a log cannot change")
	launch{data: filepath.Join(root, "none"), args: []string{"--read-only"}}.refused(t, "--read-only creates none")
	assert.NoDirExists(t, filepath.Join(root, "none"))
}

// TestReadOnlyDatabase serves a database by a role that may only read it.
func TestReadOnlyDatabase(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	data := filepath.Join(t.TempDir(), "data")
	s := launch{data: data, args: []string{"--deckofcards", "--store", db.url}}.start(t)
	reads, writes := fillForReadOnly(t, s)
	s.stop()
	role := "reader_" + db.name
	conn, err := pgx.Connect(t.Context(), db.url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "CREATE ROLE "+role+" LOGIN PASSWORD 'reader'; GRANT SELECT ON ALL TABLES IN SCHEMA public TO "+role)
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))
	location, err := url.Parse(db.url)
	require.NoError(t, err)
	location.User = url.UserPassword(role, "reader")
	checkReadOnly(t, launch{data: data, args: []string{"--deckofcards", "--read-only", "--store", location.String()}}, reads, writes)
}

// checkReadOnly starts a service that only reads, and sends it reads with their answers, and writes.
func checkReadOnly(t *testing.T, l launch, reads map[string]*answer, writes []request) {
	t.Helper()
	s := l.start(t)
	for path, want := range reads {
		got := s.get(path)
		got.body = bytes.ReplaceAll(got.body, []byte(s.addr), []byte("HOST"))
		assert.Truef(t, got.status == want.status && bytes.Equal(got.body, want.body), "GET %s:\n%v\nwant\n%v", path, got, want)
	}
	for _, r := range writes {
		got := s.must(r.method, r.path, r.body)
		assert.Truef(t, got.status == http.StatusForbidden && strings.Contains(string(got.body), "takes no more records"), "%s %s: %v", r.method, r.path, got)
	}
	assert.Equal(t, http.StatusOK, s.get("/readyz").status)
	s.stop()
	assert.NotContains(t, s.log.String(), `"level":"ERROR"`)
}

// A request is one that would write.
type request struct{ method, path, body string }

// fillForReadOnly makes records of all kinds. It returns reads with their answers, and writes.
func fillForReadOnly(t *testing.T, s *server) (reads map[string]*answer, writes []request) {
	t.Helper()
	secret := s.shuffle(`{"size": 52, "draw": 5, "reference": "table 7"}`)
	shown := s.shuffle(`{"size": 6, "draw": 1, "reveal": "now", "reference": "table 7"}`)
	revealed := s.shuffle(`{"size": 3}`)
	s.wantOK(s.post("/audits/"+revealed.AuditID+"/reveal", fmt.Sprintf(`{"seed": %q}`, revealed.Seed)))
	used, open := s.commit(`{"size": 6, "draw": 1}`), s.commit(`{"size": 6, "draw": 1}`)
	s.wantOK(s.useCommitment(used.ID))
	shoe, closed := s.newShoe(`{"deck": "standard52"}`), s.newShoe(`{"deck": "standard52", "cut": 26}`)
	for _, path := range []string{"/shoes/" + shoe.ID + "/draw", "/shoes/" + closed.ID + "/draw"} {
		s.wantOK(s.post(path, `{"count": 3}`))
	}
	s.wantOK(s.post("/shoes/"+shoe.ID+"/draw", `{"count": 2, "to": "north"}`))
	s.wantOK(s.post("/shoes/"+closed.ID+"/close", `{}`))
	deck := textMember(t, s.get("/api/deck/new/shuffle/"), "deck_id")
	var size uint64
	until(t, "all is published", func() bool {
		lines := strings.Split(string(s.get("/log/checkpoint").body), "\n")
		_ = json.Unmarshal([]byte(lines[1]), &size)
		return size == sizeInMetrics(t, s)
	})
	reads = map[string]*answer{}
	for _, path := range []string{
		"/audits/" + secret.AuditID, "/audits/" + secret.AuditID + "/proof", "/audits/" + secret.AuditID + "/proof?format=tlog-proof",
		"/audits/" + shown.AuditID, "/audits/" + shown.AuditID + "/proof", "/audits/" + shown.AuditID + "/picture.png",
		"/audits/" + revealed.AuditID, "/audits/" + revealed.AuditID + "/proof", "/audits?reference=table+7",
		"/commitments/" + used.ID, "/commitments/" + open.ID, "/commitments?status=used", "/commitments?status=open",
		"/shoes/" + shoe.ID, "/shoes/" + shoe.ID + "/dealt", "/shoes/" + shoe.ID + "/dealt?proof=true", "/shoes/" + shoe.ID + "/piles", "/shoes/" + shoe.ID + "/piles/north", "/shoes/" + shoe.ID + "/proof",
		"/shoes/" + closed.ID, "/shoes/" + closed.ID + "/proof", "/api/deck/" + deck + "/",
		"/log/checkpoint", "/log/key", fmt.Sprintf("/log/tile/0/000.p/%d", size), fmt.Sprintf("/log/tile/entries/000.p/%d", size),
		"/a/" + secret.AuditID, "/explore", "/decks", "/cards/standard52/AS.svg",
		"/audits/" + used.ID + "x", "/shoes/" + secret.AuditID,
	} {
		reads[path] = s.get(path)
		reads[path].body = bytes.ReplaceAll(reads[path].body, []byte(s.addr), []byte("HOST"))
	}
	return reads, []request{
		{http.MethodPost, "/shuffle", `{"size": 3}`},
		{http.MethodPost, "/shuffle", fmt.Sprintf(`{"commitment_id": %q, "client_seed": "late"}`, open.ID)},
		{http.MethodGet, "/decks/standard52", ""},
		{http.MethodPost, "/commitments", `{"size": 3}`},
		{http.MethodPost, "/shoes", `{"deck": "standard52"}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/draw", `{}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/return", `{"cards":"all"}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/reshuffle", `{}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/close", `{}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/piles/north/draw", `{}`},
		{http.MethodPost, "/shoes/" + shoe.ID + "/piles/north/shuffle", `{}`},
		{http.MethodPost, "/audits/" + secret.AuditID + "/reveal", fmt.Sprintf(`{"seed": %q}`, secret.Seed)},
		{http.MethodGet, "/api/deck/new/", ""},
		{http.MethodGet, "/api/deck/" + deck + "/draw/", ""},
	}
}

// sizeInMetrics returns the number of records by the metrics.
func sizeInMetrics(t *testing.T, s *server) (size uint64) {
	t.Helper()
	for line := range strings.Lines(string(s.get("/metrics").body)) {
		if _, err := fmt.Sscanf(line, "riffle_log_size %d", &size); err == nil {
			return size
		}
	}
	t.Fatal("the metrics do not have the size of the log")
	return 0
}

// sizesOf returns the sizes and times of the files in a folder, by name.
func sizesOf(t *testing.T, folder string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(folder)
	require.NoError(t, err)
	files := map[string]string{}
	for _, entry := range entries {
		info, err := entry.Info()
		require.NoError(t, err)
		files[entry.Name()] = fmt.Sprint(info.Size(), info.ModTime())
	}
	return files
}
