// Commits measures what the ledger adds to a durable commit, and what sharing commits gains, side by side:
//
//   - a bare insert: one row into one table of SQLite, in a durable transaction of its own, and nothing around it;
//   - the store's commit: the rows of one record, with its indexes, its hash and the head of the log, ready to be written;
//   - the log with one caller: that, and hashing, signing and the second copy of the checkpoint;
//   - the log with 64 callers, who share commits.
//
// Runs alternate, so that a machine that slows down slows all; the figures that count are the medians of the ratios, run
// by run.
//
//	go run ./bench/commits
//
// What sharing gains depends on what an fsync costs. Where it costs next to nothing, because the disk is a cache of the host
// say, strace can make each take as long as on a disk:
//
//	go run ./bench/commits -sync 200us
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	_ "modernc.org/sqlite" // the engine of the bare insert is that of the store

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "commits:", err)
		os.Exit(1)
	}
}

// A contender is what is measured.
type contender struct {
	name  string
	run   func(context.Context) (outcome, error) // until the context ends
	rates []float64                              // records a second, run by run; the first is not counted
}

type outcome struct {
	records int
	took    time.Duration
}

func run(ctx context.Context) (err error) {
	runs := flag.Int("runs", 7, "runs of each, after one that is not counted")
	length := flag.Duration("length", time.Second, "length of a run")
	callers := flag.Int("callers", 64, "callers who share commits")
	sync := flag.Duration("sync", 0, "how much longer each fsync is to take; by strace")
	flag.Parse()
	if *sync > 0 {
		return again(ctx, *sync, *runs, *length, *callers)
	}
	folder, err := os.MkdirTemp(".", "bench-data-") // beside the sources, for /tmp may be memory
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	bare, closeBare, err := bareInsert(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeBare()) }()
	commit, closeStore, err := storeCommit(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	log, err := openLog(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	lone := &contender{name: "log, one caller", run: appending(log, 1)}
	shared := &contender{name: fmt.Sprintf("log, %d callers", *callers), run: appending(log, *callers)}
	contenders := []*contender{bare, commit, lone, shared}
	for range *runs + 1 {
		for _, c := range contenders {
			limited, cancel := context.WithTimeout(ctx, *length)
			o, err := c.run(limited)
			cancel()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.rates = append(c.rates, float64(o.records)/o.took.Seconds())
		}
	}
	fmt.Printf("%s %s/%s, %d CPUs; SQLite, %d runs of %s each, alternating\n\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), *runs, *length)
	for _, c := range contenders {
		rates := c.rates[1:]
		fmt.Printf("%-34s %8.0f/s (%.0f to %.0f), %s each\n", c.name, median(rates), slices.Min(rates), slices.Max(rates),
			time.Duration(1e9/median(rates)).Round(time.Microsecond))
	}
	fmt.Println()
	compare("one caller's time, of the store's commit", commit, lone) // times are the inverse of rates where one asks
	compare("one caller's time, of a bare insert's", bare, lone)
	compare("sharing, of one commit a record", shared, lone)
	compare("sharing, of bare inserts", shared, bare)
	return nil
}

// again runs this program with slower fsyncs.
func again(ctx context.Context, sync time.Duration, runs int, length time.Duration, callers int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	slowly := exec.CommandContext(ctx, "strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_enter=%d", sync.Microseconds()),
		self, "-runs", fmt.Sprint(runs), "-length", length.String(), "-callers", fmt.Sprint(callers))
	slowly.Stdout, slowly.Stderr = os.Stdout, os.Stderr
	fmt.Printf("each fsync takes %s longer\n", sync)
	return slowly.Run()
}

func compare(what string, a, b *contender) {
	var ratios []float64
	for i := range a.rates[1:] {
		ratios = append(ratios, a.rates[1+i]/b.rates[1+i])
	}
	fmt.Printf("%-42s %6.2fx (%.2f to %.2f)\n", what, median(ratios), slices.Min(ratios), slices.Max(ratios))
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// newEntry returns an entry of the usual size.
func newEntry() ledger.Entry {
	return ledger.Entry{ID: uuid.Must(uuid.NewV7()), Reference: "table 12, game 7", Record: bytes.Repeat([]byte("record, "), 50), Secret: make([]byte, 64)}
}

func bareInsert(ctx context.Context, folder string) (*contender, func() error, error) {
	query := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "bare.db")+"?"+query.Encode())
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE records (idx INTEGER PRIMARY KEY, record BLOB NOT NULL)"); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	record := newEntry().Record
	return &contender{name: "a bare insert", run: func(limited context.Context) (o outcome, err error) {
		insert, err := db.PrepareContext(ctx, "INSERT INTO records (record) VALUES (?)")
		if err != nil {
			return o, err
		}
		defer func() { err = errors.Join(err, insert.Close()) }()
		for ; limited.Err() == nil; o.records++ {
			began := time.Now()
			if _, err := insert.ExecContext(ctx, record); err != nil {
				return o, err
			}
			o.took += time.Since(began)
		}
		return o, nil
	}}, db.Close, nil
}

// storeCommit commits batches of one record. That they are made and signed does not count.
func storeCommit(ctx context.Context, folder string) (*contender, func() error, error) {
	private, _, err := note.GenerateKey(rand.Reader, "bench/commits")
	if err != nil {
		return nil, nil, err
	}
	key, err := ledger.ParseKey(private)
	if err != nil {
		return nil, nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(folder, "store.db"))
	if err != nil {
		return nil, nil, err
	}
	var tree ledger.Tree
	first, err := tree.Seal(nil, key)
	if err == nil {
		err = store.Append(ctx, first)
	}
	if err != nil {
		return nil, nil, errors.Join(err, store.Close())
	}
	return &contender{name: "the store's commit of one record", run: func(limited context.Context) (o outcome, err error) {
		for ; limited.Err() == nil; o.records++ {
			e := newEntry()
			e.Hash = tlog.RecordHash(e.Record)
			batch, err := tree.Seal([]ledger.Entry{e}, key)
			if err != nil {
				return o, err
			}
			began := time.Now()
			if err := store.Append(ctx, batch); err != nil {
				return o, err
			}
			o.took += time.Since(began)
		}
		return o, nil
	}}, store.Close, nil
}

func openLog(ctx context.Context, folder string) (*ledger.Log, error) {
	store, err := sqlite.Open(ctx, filepath.Join(folder, "riffle.db"))
	if err != nil {
		return nil, err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: folder})
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return log, nil
}

// appending returns what so many callers do, each of whom waits for the commit before the next record.
func appending(log *ledger.Log, callers int) func(context.Context) (outcome, error) {
	return func(limited context.Context) (o outcome, err error) {
		type part struct {
			records int
			err     error
		}
		parts := make(chan part)
		began := time.Now()
		for range callers {
			go func() {
				var p part
				for ; limited.Err() == nil && p.err == nil; p.records++ {
					_, p.err = log.Append(newEntry())
				}
				parts <- p
			}()
		}
		for range callers {
			p := <-parts
			o.records += p.records
			err = errors.Join(err, p.err)
		}
		o.took = time.Since(began)
		return o, err
	}
}
