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
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	_ "modernc.org/sqlite" // the engine of the bare insert is that of the store

	"riffle/bench/contest"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

func main() { contest.Main("commits", run) }

func run(ctx context.Context) (err error) {
	runs := flag.Int("runs", 7, "runs of each, after one that is not counted")
	length := flag.Duration("length", time.Second, "length of a run")
	callers := flag.Int("callers", 64, "callers who share commits")
	sync := flag.Duration("sync", 0, "how much longer each fsync is to take; by strace")
	flag.Parse()
	if *sync > 0 {
		return again(ctx, *sync, *runs, *length, *callers)
	}
	folder, err := contest.Folder()
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
	lone := &contest.Contender{Name: "log, one caller", Run: appending(log, 1)}
	shared := &contest.Contender{Name: fmt.Sprintf("log, %d callers", *callers), Run: appending(log, *callers)}
	contenders := []*contest.Contender{bare, commit, lone, shared}
	if err := contest.Hold(ctx, *runs, *length, contenders...); err != nil {
		return err
	}
	fmt.Printf("%s; SQLite, %d runs of %s each, alternating\n\n", contest.Machine(), *runs, *length)
	for _, c := range contenders {
		median, least, most := c.Rate()
		fmt.Printf("%-50s %8.0f/s (%.0f to %.0f), %s each\n", c.Name, median, least, most, time.Duration(1e9/median).Round(time.Microsecond))
	}
	fmt.Println()
	contest.Compare("one caller's time, of the store's commit", commit, lone) // times are the inverse of rates where one asks
	contest.Compare("one caller's time, of a bare insert's", bare, lone)
	contest.Compare("sharing, of one commit a record", shared, lone)
	contest.Compare("sharing, of bare inserts", shared, bare)
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

// newEntry returns an entry of the usual size.
func newEntry() ledger.Entry { return contest.NewEntry("table 12, game 7") }

func bareInsert(ctx context.Context, folder string) (*contest.Contender, func() error, error) {
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
	return &contest.Contender{Name: "a bare insert", Run: func(limited context.Context) (o contest.Outcome, err error) {
		insert, err := db.PrepareContext(ctx, "INSERT INTO records (record) VALUES (?)")
		if err != nil {
			return o, err
		}
		defer func() { err = errors.Join(err, insert.Close()) }()
		for ; limited.Err() == nil; o.Done++ {
			began := time.Now()
			if _, err := insert.ExecContext(ctx, record); err != nil {
				return o, err
			}
			o.Took += time.Since(began)
		}
		return o, nil
	}}, db.Close, nil
}

// storeCommit commits batches of one record. That they are made and signed does not count.
func storeCommit(ctx context.Context, folder string) (*contest.Contender, func() error, error) {
	store, err := contest.NewStore(ctx, filepath.Join(folder, "store.db"))
	if err != nil {
		return nil, nil, err
	}
	return &contest.Contender{Name: "the store's commit of one record", Run: func(limited context.Context) (o contest.Outcome, err error) {
		for ; limited.Err() == nil; o.Done++ {
			took, err := store.Commit(ctx, newEntry())
			if err != nil {
				return o, err
			}
			o.Took += took
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
func appending(log *ledger.Log, callers int) func(context.Context) (contest.Outcome, error) {
	return func(limited context.Context) (o contest.Outcome, err error) {
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
			o.Done += p.records
			err = errors.Join(err, p.err)
		}
		o.Took = time.Since(began)
		return o, err
	}
}
