package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
	_ "modernc.org/sqlite" // the engine of the bare insert is that of the store

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/service"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// commitsCommand measures what the ledger adds to a durable commit, and what sharing commits gains:
//
//   - a bare insert: one row into one table of SQLite, in a durable transaction;
//   - the store's commit: the rows of one record, with its indexes, its hash and the head of the
//     log, ready to be written;
//   - the log with one caller: that, and hashing, signing and the second copy of the checkpoint;
//   - the log with many callers, who share commits.
//
// What sharing gains depends on what an fsync costs. Where it costs next to nothing, for example
// because the disk is a cache of the host, strace can make each take as long as on a disk.
type commitsCommand struct {
	timing
	Callers int           `default:"64" help:"Callers that share commits."`
	Sync    time.Duration `help:"Delay of each fsync, such as 200us; needs strace."`
}

// Run measures commits and prints their rates and ratios.
func (cmd *commitsCommand) Run(ctx context.Context) error {
	if cmd.Sync > 0 {
		return cmd.runDelayed(ctx)
	}
	return service.WithEnv(ctx, func(env *service.Env) (err error) {
		bare, closeBare, err := bareInsert(ctx, env.Folder)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, closeBare()) }()
		store, err := newStore(ctx, env.Path("store.db"))
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		log, err := openLog(ctx, env.Folder)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, log.Close()) }()
		results, err := measure.Alternate(ctx, cmd.runs(),
			bare, store.commits(ctx, "the store's commit of one record"), appends(log, 1), appends(log, cmd.Callers))
		if err != nil {
			return err
		}
		printResults("SQLite, without HTTP", cmd.runs(), results)
		insert, commit, lone, shared := &results[0], &results[1], &results[2], &results[3]
		printRatios( // of one caller, times are the inverse of rates
			ratio{"one caller's time, to the store's commit", commit, lone},
			ratio{"one caller's time, to a bare insert", insert, lone},
			ratio{"rate of shared commits, to one commit per record", shared, lone},
			ratio{"rate of shared commits, to bare inserts", shared, insert},
		)
		return nil
	})
}

// runDelayed runs this program under strace, which delays each fsync.
func (cmd *commitsCommand) runDelayed(ctx context.Context) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	traced := exec.CommandContext(ctx, "strace", "-f", "-qq", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=fsync,fdatasync",
		"-e", fmt.Sprintf("inject=fsync,fdatasync:delay_enter=%d", cmd.Sync.Microseconds()),
		self, "commits", "--runs", fmt.Sprint(cmd.Runs), "--length", cmd.Length.String(), "--callers", fmt.Sprint(cmd.Callers))
	traced.Stdout, traced.Stderr = os.Stdout, os.Stderr
	fmt.Printf("each fsync takes %s longer\n", cmd.Sync)
	return traced.Run()
}

// newEntry returns an entry of the usual size.
func newEntry() ledger.Entry {
	record := bytes.Repeat([]byte("record, "), 50)
	return ledger.Entry{ID: uuid.Must(uuid.NewV7()), Reference: "table 12, game 7", Record: record, Sidecar: make([]byte, 64)}
}

func bareInsert(ctx context.Context, folder string) (*measure.Contender, func() error, error) {
	query := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(FULL)"}}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(folder, "bare.db")+"?"+query.Encode())
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, "CREATE TABLE records (idx INTEGER PRIMARY KEY, record BLOB NOT NULL)"); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	insert, err := db.PrepareContext(ctx, "INSERT INTO records (record) VALUES (?)")
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	record := newEntry().Record
	return measure.Loop("a bare insert", func() (time.Duration, error) {
		began := time.Now()
		_, err := insert.ExecContext(ctx, record)
		return time.Since(began), err
	}), func() error { return errors.Join(insert.Close(), db.Close()) }, nil
}

// A store is one of SQLite's whose log has begun, to measure commits of one record without the
// service.
type store struct {
	*sqlite.Store
	tree ledger.Tree
	key  *ledger.Key
}

func newStore(ctx context.Context, path string) (*store, error) {
	private, _, err := note.GenerateKey(rand.Reader, "bench")
	if err != nil {
		return nil, err
	}
	s := &store{}
	if s.key, err = ledger.ParseKey(private); err != nil {
		return nil, err
	}
	if s.Store, err = sqlite.Open(ctx, path); err != nil {
		return nil, err
	}
	first, err := s.tree.NextBatch(nil, s.key)
	if err == nil {
		err = s.Append(ctx, first)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// commits returns a contender that commits batches of one record. Hashing and signing do not count.
func (s *store) commits(ctx context.Context, name string) *measure.Contender {
	return measure.Loop(name, func() (time.Duration, error) {
		e := newEntry()
		e.Hash = tlog.RecordHash(e.Record)
		batch, err := s.tree.NextBatch([]ledger.Entry{e}, s.key)
		if err != nil {
			return 0, err
		}
		began := time.Now()
		err = s.Append(ctx, batch)
		return time.Since(began), err
	})
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

// appends returns a contender of callers, each of whom waits for its commit before it appends the
// next record.
func appends(log *ledger.Log, callers int) *measure.Contender {
	one := measure.Loop("", func() (time.Duration, error) {
		began := time.Now()
		_, err := log.Append(newEntry())
		return time.Since(began), err
	})
	run := func(ctx context.Context) (*load.Tally, error) {
		return load.Together(callers, func() (*load.Tally, error) { return one.Run(ctx) })
	}
	return &measure.Contender{Name: "the log", Connections: callers, Run: run}
}
