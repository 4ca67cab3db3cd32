package main

import (
	"bytes"
	"context"
	crand "crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

var flips = flag.String("flips", "300", "number of flips that TestFlips tries, or all")

// A flip is one byte of one file with some of its bits inverted.
type flip struct {
	folder, file string
	offset       int
	mask         byte
}

// Outcomes of a flip.
const (
	found     = "found by riffle log check"
	unchecked = "riffle log check fails"
	refused   = "found only by the service, which refuses to start"
	harmless  = "harmless"
	harmful   = "HARMFUL" // unnoticed, and the log differs
)

// TestFlips flips single bytes of a store. Each flip must be detected or harmless, and never a
// silently shorter log (F7): riffle log check finds it, or the service refuses to start, or the log
// has all its contents and accepts new records.
//
// The bytes are from riffle.db after a stop, and from the write-ahead log, the second copy of the
// checkpoint and the keys after a kill. With -flips all, each byte is inverted, and then a single
// bit of it; a sample does one of the two.
func TestFlips(t *testing.T) {
	for _, name := range []string{"RIFFLE_STORE", "RIFFLE_KEY_FILE", "RIFFLE_SEED_KEY", "RIFFLE_SEED_KEY_FILE"} {
		t.Setenv(name, "")
	}
	parent := t.TempDir()
	makeFolders(t, parent)
	folders := map[string]map[string][]byte{}
	for _, name := range []string{"data", "killed"} {
		folders[name] = readFolder(t, filepath.Join(parent, name))
	}
	f := &flipper{t: t, folders: folders, counts: map[string]map[string]int{}}
	var err error
	f.want, err = f.use(filepath.Join(parent, "data"))
	require.NoError(t, err)
	killed, err := f.use(filepath.Join(parent, "killed"))
	require.Truef(t, err == nil && reflect.DeepEqual(killed, f.want), "the two stores differ: %v", err)
	require.Len(t, f.want.Entries, madeRecords, "there")
	began, list := time.Now(), f.choose()
	work := make(chan flip)
	var workers sync.WaitGroup
	for range 2 * runtime.GOMAXPROCS(0) { // since workers also wait for the disk
		folder := t.TempDir()
		workers.Go(func() {
			for v := range work {
				f.try(v, folder)
			}
		})
	}
	for _, v := range list {
		work <- v
	}
	close(work)
	workers.Wait()
	t.Logf("%d flips in %s", len(list), time.Since(began).Round(time.Second))
	for _, file := range slices.Sorted(maps.Keys(f.counts)) {
		t.Logf("%s, %d bytes: %v", file, f.size(file), f.counts[file])
	}
}

// A flipper tries flips on copies of folders and counts their outcomes.
type flipper struct {
	t       *testing.T
	folders map[string]map[string][]byte // files by folder and name
	want    *contents                    // of the log without a flip

	mu     sync.Mutex
	counts map[string]map[string]int // flips by file and outcome
}

// folderOf returns the folder in which a file is flipped: the one in which all its bytes matter.
func folderOf(file string) string {
	if file == "riffle.db" {
		return "data"
	}
	return "killed"
}

// size returns the length of a file.
func (f *flipper) size(file string) int { return len(f.folders[folderOf(file)][file]) }

// choose returns the flips to try, the same on every run. Nine tenths of a sample are in the two
// large files. Each record also gets a flip in its time, which only the record's hash protects.
func (f *flipper) choose() (list []flip) {
	r := rand.New(rand.NewPCG(7, 7))
	const store, time = "riffle.db", `"time":"20`
	data := f.folders[folderOf(store)][store]
	for _, e := range f.want.Entries {
		if at := bytes.Index(data, e.Record); at >= 0 {
			at += bytes.Index(e.Record, []byte(time)) + len(time)
			list = append(list, flip{folder: folderOf(store), file: store, offset: at, mask: 1})
		}
	}
	assert.NotEmpty(f.t, list, "no record was found in the store")
	for _, file := range storeFiles {
		size := f.size(file)
		offsets := r.Perm(size)
		if *flips != "all" {
			n, err := strconv.Atoi(*flips)
			require.NoError(f.t, err, "-flips must be a number or all")
			share := n * 9 / 20
			if size < 4096 {
				share = n / 20
			}
			offsets = offsets[:min(share, size)]
		}
		for _, offset := range offsets {
			masks := []byte{0xff, 1 << r.IntN(8)}
			if *flips != "all" {
				masks = masks[r.IntN(2):][:1]
			}
			for _, mask := range masks {
				list = append(list, flip{folder: folderOf(file), file: file, offset: offset, mask: mask})
			}
		}
	}
	return list
}

// try tries a flip in the given scratch folder and counts its outcome.
func (f *flipper) try(v flip, folder string) {
	outcome, err := f.outcome(v, folder)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.counts[v.file] == nil {
		f.counts[v.file] = map[string]int{}
	}
	f.counts[v.file][outcome]++
	if outcome == harmful {
		data := f.folders[v.folder][v.file]
		f.t.Errorf("%s/%s, byte %d ^ %#02x, in %q|%q: %v", v.folder, v.file, v.offset, v.mask,
			data[max(0, v.offset-24):v.offset], data[v.offset:min(len(data), v.offset+24)], err)
	}
}

// outcome returns the outcome of a flip, and for a harmful one the reason.
func (f *flipper) outcome(v flip, folder string) (outcome string, err error) {
	defer func() {
		if p := recover(); p != nil {
			outcome, err = harmful, fmt.Errorf("panic: %v", p)
		}
	}()
	f.write(v, folder)
	if err := check(f.t.Context(), folder); errors.Is(err, errFindings) {
		return found, nil
	} else if err != nil {
		return unchecked, nil
	}
	f.write(v, folder)
	got, err := f.use(folder)
	var wrong *wrongError
	switch {
	case errors.As(err, &wrong):
		return harmful, err
	case err != nil:
		return refused, nil
	case !reflect.DeepEqual(got, f.want):
		return harmful, errors.New("the contents of the log differ")
	}
	return harmless, nil
}

// check runs riffle log check.
func check(ctx context.Context, folder string) error {
	return run(ctx, []string{"log", "check", "--data", folder}, io.Discard, io.Discard)
}

// write replaces the files in the folder with copies in which the byte is flipped.
func (f *flipper) write(v flip, folder string) {
	old, err := os.ReadDir(folder)
	if err != nil {
		panic(err)
	}
	for _, file := range old {
		if err := os.Remove(filepath.Join(folder, file.Name())); err != nil {
			panic(err)
		}
	}
	for name, data := range f.folders[v.folder] {
		if name == v.file {
			data = bytes.Clone(data)
			data[v.offset] ^= v.mask
		}
		if err := os.WriteFile(filepath.Join(folder, name), data, 0o600); err != nil {
			panic(err)
		}
	}
}

// contents are what a log holds.
type contents struct {
	Verifier, Checkpoint string
	Entries              []ledger.StoredEntry
}

// A wrongError is the failure of a log that did open.
type wrongError struct{ error }

// use opens the log in a folder, reads its contents, appends records, closes it, and runs riffle
// log check.
func (f *flipper) use(folder string) (c *contents, err error) {
	ctx, cancel := context.WithTimeout(f.t.Context(), time.Minute)
	defer cancel()
	store, err := sqlite.Open(ctx, filepath.Join(folder, "riffle.db"))
	if err != nil {
		return nil, err
	}
	l, err := ledger.Open(ctx, store, ledger.Options{Folder: folder})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	c, err = read(ctx, store, l)
	if err == nil {
		err = appendRecord(l, c)
	}
	if err = errors.Join(err, l.Close()); err == nil {
		err = check(ctx, folder)
	}
	if err != nil {
		return nil, &wrongError{err}
	}
	return c, nil
}

// read reads the contents of a log. Its check has compared the indexes with them.
func read(ctx context.Context, store ledger.Store, l *ledger.Log) (c *contents, err error) {
	c = &contents{Verifier: l.Verifier(), Checkpoint: string(l.Checkpoint(ctx))}
	c.Entries, err = store.Select(ctx, ledger.Range(0, 2*madeRecords))
	return c, err
}

// appendRecord appends a shuffle with a reference.
func appendRecord(l *ledger.Log, c *contents) error {
	decks, err := deck.Builtin()
	if err != nil {
		return err
	}
	d := services.New(l, &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1000, Results: 1000}}, services.Options{Random: crand.Reader})
	result, err := d.Dealer.Shuffle(context.Background(), request(plan.Request{Size: ptr(4), Reference: "table 1"}))
	if err == nil && result.LogIndex != uint64(len(c.Entries)) {
		err = fmt.Errorf("a log of %d records gave the next one index %d", len(c.Entries), result.LogIndex)
	}
	return err
}
