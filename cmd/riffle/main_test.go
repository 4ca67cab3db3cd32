package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/rogpeppe/go-internal/testscript"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/postgres/postgrestest"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"riffle": main, "orders": orders})
}

// TestScripts runs the scripts in testdata. Each finds these folders: data, of a service that was
// stopped; killed, with the same log, of one that was killed with its last records in the
// write-ahead log; older, a backup from before those records; forked, that backup continued with
// other records and signed with the same key; tall, another log with more records than a tile; and
// proofs, with proof files.
func TestScripts(t *testing.T) {
	folders := t.TempDir()
	makeFolders(t, folders)
	fork(t, folders)
	makeTall(t, folders)
	makeProofs(t, folders)
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		RequireUniqueNames: true,
		Setup:              func(env *testscript.Env) error { return os.CopyFS(env.WorkDir, os.DirFS(folders)) },
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits, "flip": flipByte, "sql": execSQL, "hold": hold,
		},
	})
}

// exits runs a command and requires its exit code: exits 1 riffle log check.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	got := 0
	err := ts.Exec(args[1], args[2:]...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("the exit code is %d, want %s", got, args[0])
	}
}

// flipByte inverts the byte at an offset of a file: flip data/checkpoint 10.
func flipByte(ts *testscript.TestScript, _ bool, args []string) {
	data := []byte(ts.ReadFile(args[0]))
	offset, err := strconv.Atoi(args[1])
	ts.Check(err)
	data[offset] ^= 0xff
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), data, 0o600))
}

// execSQL tampers with a store: sql data/riffle.db 'DELETE FROM head'. It fails if no row changes.
func execSQL(ts *testscript.TestScript, _ bool, args []string) {
	db, err := sql.Open("sqlite", ts.MkAbs(args[0]))
	ts.Check(err)
	result, err := db.Exec(strings.Join(args[1:], " "))
	ts.Check(errors.Join(err, db.Close()))
	if rows, err := result.RowsAffected(); err != nil || rows == 0 {
		ts.Fatalf("%d rows were changed, %v", rows, err)
	}
}

// hold keeps a store open until the script ends, as a running service does: hold data/riffle.db.
func hold(ts *testscript.TestScript, _ bool, args []string) {
	store, err := sqlite.Open(context.Background(), ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Defer(func() { ts.Check(store.Close()) })
}

func TestStoreNameHasNoCredentials(t *testing.T) {
	for _, v := range []struct{ location, want string }{
		{"postgres://riffle:hunter2@db.example.com:5432/log?sslmode=require", "postgres://db.example.com:5432/log"},
		{"postgresql:///log?host=/run/postgresql&user=riffle&password=hunter2", "postgresql:///log"},
		{"postgres://riffle:hunter%2@db.example.com/log", "the database"},
	} {
		assert.Equalf(t, v.want, nameOf(v.location), "%s is called", v.location)
	}
}

// TestProgressIsShownAndErased shows progress on a terminal line that is erased afterwards, and not
// in the output.
func TestProgressIsShownAndErased(t *testing.T) {
	parent := t.TempDir()
	makeFolders(t, parent)
	var out, progress strings.Builder
	check := logCheck{logSource: logSource{Data: filepath.Join(parent, "data")}}
	require.NoError(t, check.Run(t.Context(), &console{out: &out, progress: &progress}))
	assert.Equal(t, clearLine+"46 of 46 records, 0s left"+clearLine, progress.String(), "the progress")
	assert.NotContainsf(t, out.String(), clearLine, "the output contains progress:\n%s", &out)
}

// TestCancelledCheckHasNoVerdict cancels a check midway. It must not report findings or success.
func TestCancelledCheckHasNoVerdict(t *testing.T) {
	parent := t.TempDir()
	makeFolders(t, parent)
	ctx, cancel := context.WithCancel(t.Context())
	var out strings.Builder
	check := logCheck{logSource: logSource{Data: filepath.Join(parent, "data")}}
	err := check.Run(ctx, &console{out: &out, progress: writerFunc(cancel)})
	assert.ErrorIs(t, err, context.Canceled)
	assert.Equal(t, exitUnchecked, exitCode(err))
	assert.NotContainsf(t, out.String(), "WRONG", "the cancelled check printed:\n%s", &out)
	assert.NotContainsf(t, out.String(), "The log", "the cancelled check printed:\n%s", &out)
}

// TestCheckOfPostgreSQL checks a database that is sound, tampered with, and unreachable.
func TestCheckOfPostgreSQL(t *testing.T) {
	cluster, folder := postgrestest.For(t), t.TempDir()
	name := cluster.NewDatabase(t)
	location := cluster.URL(name)
	check := func(want int) string {
		t.Helper()
		var out strings.Builder
		err := run(t.Context(), []string{"log", "check", "--data", folder, "--store", location}, &out, io.Discard)
		code := 0
		if err != nil {
			code = exitCode(err)
		}
		assert.Equal(t, want, code, "the exit code")
		assert.NotContains(t, fmt.Sprint(out.String(), err), postgrestest.Password(), "the exit code")
		return out.String()
	}
	store, err := postgres.Open(t.Context(), location)
	require.NoError(t, err)
	l, d := openLogOn(t, store, folder)
	for range 5 {
		deal(t, d, request(plan.Request{Deck: "undercover", Reference: "table 1"}), true)
	}
	require.NoError(t, l.Close())
	assert.Contains(t, check(0), "all 10 match the signed root", "the output")
	primary := location
	location = cluster.Standby(t).URL(name)
	assert.Contains(t, check(0), "all 10 match the signed root", "of a standby")
	location = cluster.URL(cluster.NewDatabase(t))
	assert.NotContains(t, check(exitUnchecked), "WRONG", "an empty database")
	location = primary
	conn, err := pgx.Connect(t.Context(), location)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE entries SET record = convert_to(replace(convert_from(record, 'UTF8'), 'table 1', 'table 2'), 'UTF8') WHERE idx = 4")
	require.NoError(t, errors.Join(err, conn.Close(t.Context())))
	assert.Contains(t, check(exitFindings), "record 4 does not have its hash", "the output")
	require.NoError(t, cluster.Stop(postgrestest.Fast))
	check(exitUnchecked)
}

// A writerFunc is called on each write, and discards it.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// madeRecords is the number of records in the log of makeFolders.
const madeRecords = 46

// makeFolders makes three data folders. data was closed; killed was copied while data was open,
// with the last records only in the write-ahead log; older was copied before those were appended.
// The log has 42 small shuffles, most with a reference, some with an idempotency key, and one that
// used a commitment; two reveals; and two commitments, one of them open.
func makeFolders(t *testing.T, parent string) {
	t.Helper()
	folder := filepath.Join(parent, "data")
	l, d := openLog(t, folder)
	for i := range 39 {
		r := request(plan.Request{Deck: "undercover"})
		switch i % 5 {
		case 1:
			r = request(plan.Request{Items: &plan.Items{Count: 3, Digest: sha256.Sum256([]byte(`["a","b","c"]`))}})
		case 2:
			r = request(plan.Request{Size: ptr(6), Draw: ptr(2), Repeat: ptr(3), ClientSeed: "seven of hearts"})
		case 3:
			r = request(plan.Request{Size: ptr(5), RevealNow: true, Algorithm: "sattolo"})
		}
		if i%4 != 0 {
			r.Reference = "table " + strconv.Itoa(i%7)
		}
		if i%6 == 0 {
			r.Key = journal.NewIdempotencyKey(strconv.Itoa(i))
		}
		deal(t, d, r, i == 10)
	}
	require.NoError(t, l.Close())
	copyFolder(t, folder, filepath.Join(parent, "older"))
	l, d = openLog(t, folder)
	deal(t, d, request(plan.Request{Size: ptr(4)}), false)
	deal(t, d, request(plan.Request{Deck: "undercover", Reference: "table 1"}), true)
	commit(t, d)
	deal(t, d, request(plan.Request{CommitmentID: commit(t, d), ClientSeed: "seven of hearts"}), false)
	copyFolder(t, folder, filepath.Join(parent, "killed"))
	verifier := []byte(l.Verifier() + "\n")
	require.NoError(t, errors.Join(l.Close(), os.WriteFile(filepath.Join(parent, "log.pub"), verifier, 0o600)))
}

// fork makes the folder forked: the older backup continued with other records, as whoever has the
// key can do.
func fork(t *testing.T, parent string) {
	t.Helper()
	folder := filepath.Join(parent, "forked")
	copyFolder(t, filepath.Join(parent, "older"), folder)
	l, d := openLog(t, folder)
	for range 8 {
		deal(t, d, request(plan.Request{Deck: "undercover", Reference: "table 1"}), false)
	}
	require.NoError(t, l.Close())
}

// makeTall makes the folder tall, with a log of 300 records. They are appended concurrently to
// share commits.
func makeTall(t *testing.T, parent string) {
	t.Helper()
	l, d := openLog(t, filepath.Join(parent, "tall"))
	var callers sync.WaitGroup
	for range 300 {
		callers.Go(func() {
			r := request(plan.Request{Size: ptr(4), Reference: "table 1"})
			_, err := d.Dealer.Shuffle(context.Background(), r)
			assert.NoError(t, err)
		})
	}
	callers.Wait()
	require.NoError(t, l.Close())
}

// copyFolder copies the files that a killed service leaves.
func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	require.NoError(t, os.Mkdir(to, 0o700))
	for name, data := range readFolder(t, from) {
		require.NoError(t, os.WriteFile(filepath.Join(to, name), data, 0o600))
	}
}

// readFolder reads those storeFiles that exist.
func readFolder(t *testing.T, folder string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, file := range storeFiles {
		data, err := os.ReadFile(filepath.Join(folder, file))
		if errors.Is(err, os.ErrNotExist) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		files[file] = data
	}
	return files
}

// storeFiles are the files of a data folder whose service was killed.
var storeFiles = []string{"riffle.db", "riffle.db-wal", ledger.CheckpointName, ledger.KeyName, ledger.SeedKeyName}

func openLog(t *testing.T, folder string) (*ledger.Log, *services.Services) {
	t.Helper()
	require.NoError(t, os.MkdirAll(folder, 0o700))
	store, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	require.NoError(t, err)
	return openLogOn(t, store, folder)
}

func openLogOn(t *testing.T, store ledger.Store, folder string) (*ledger.Log, *services.Services) {
	t.Helper()
	l, err := ledger.Open(t.Context(), store, ledger.Options{Folder: folder, Origin: "example.com/log"})
	require.NoError(t, err)
	decks, err := deck.Builtin()
	require.NoError(t, err)
	rules := &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1000, Results: 1000}}
	return l, services.New(l, rules, services.Options{Random: rand.Reader})
}

// request returns a request that cannot be repeated.
func request(r plan.Request) *dealer.Request { return &dealer.Request{Request: r} }

func deal(t *testing.T, d *services.Services, r *dealer.Request, reveal bool) {
	t.Helper()
	result, err := d.Dealer.Shuffle(context.Background(), r)
	if err == nil && reveal {
		_, err = d.Disclosure.Reveal(t.Context(), result.ID, result.Statement.Seed, nil)
	}
	require.NoError(t, err)
}

// commit commits to a shuffle and returns the id.
func commit(t *testing.T, d *services.Services) uuid.UUID {
	t.Helper()
	c, err := d.Dealer.Commit(t.Context(), request(plan.Request{Deck: "undercover", Reference: "table 1"}))
	require.NoError(t, err)
	return c.ID
}

func ptr(n uint64) *uint64 { return &n }
