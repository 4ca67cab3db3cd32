package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"riffle/internal/api"
	"riffle/internal/dealer"
	"riffle/internal/ledger"
)

// options are the settings of the service. Each is a flag and an environment variable; the flag wins.
type options struct {
	addr        string
	data        string
	store       string
	key         string
	origin      string
	deadline    time.Duration
	decks       string
	deckOfCards bool
	queue       int
	maxItems    uint64
	maxResults  uint64
	maxBody     int64
	memory      int64
	timeouts    api.Timeouts
	drain       time.Duration
	grace       time.Duration
	logLevel    slog.Level

	seedKey     []byte
	seedKeyFile string

	healthcheck, version, help bool
}

// parse reads the settings from flags and, for flags that are not given, from RIFFLE_ variables.
func parse(args []string, env func(string) string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = fmt.Fprintln(stderr, "Usage: server [flags]\n\nEach setting is a flag or an environment variable: -addr is RIFFLE_ADDR, -max-items is RIFFLE_MAX_ITEMS, but -key is RIFFLE_KEY_FILE and -seed-key is RIFFLE_SEED_KEY_FILE.")
		f.PrintDefaults()
	}
	f.StringVar(&o.addr, "addr", "localhost:8080", "`address` to listen at; :8080 for all interfaces")
	f.StringVar(&o.data, "data", "./data", "`folder` of the ledger; made if it is not there")
	f.StringVar(&o.store, "store", "", "`URL` of the PostgreSQL database that has the ledger (postgres://...); SQLite in the data folder unless given")
	f.StringVar(&o.key, "key", "", "`file` of the log's private key; log.key in the data folder unless given. Made with the log; replicas of one log share it")
	f.StringVar(&o.seedKeyFile, "seed-key", "", "`file` of the key that seeds are encrypted under; seed.key beside the log's key unless given. Made with the log; replicas share it. RIFFLE_SEED_KEY has the key itself, 64 hex digits")
	f.StringVar(&o.origin, "origin", "", "`name` of the log in its checkpoints, for a new log; one with random digits unless given")
	f.DurationVar(&o.deadline, "deadline", dealer.DefaultDeadline, "how long a commitment can be used; then it is void")
	f.StringVar(&o.decks, "decks", "", "`folder` with deck types of your own, one JSON file each")
	f.BoolVar(&o.deckOfCards, "deckofcards", true, "answer clients of deckofcardsapi at /api/deck/...")
	f.IntVar(&o.queue, "queue", 4096, "how many shuffles may wait for the next commit before requests are answered 503")
	f.Uint64Var(&o.maxItems, "max-items", 1_000_000, "how many items one shuffle may have, and how many a draw may answer")
	f.Uint64Var(&o.maxResults, "max-results", 10_000_000, "how many items a request may be answered over all: repeat times draw")
	f.Int64Var(&o.maxBody, "max-body", 16<<20, "the longest request body, in `bytes`")
	f.Int64Var(&o.memory, "memory", 512<<20, "how much memory long requests may take up together, in `bytes`, before more of them are answered 503")
	f.DurationVar(&o.timeouts.Header, "header-timeout", 5*time.Second, "how long a request's header may take to arrive")
	f.DurationVar(&o.timeouts.Read, "read-timeout", 30*time.Second, "how long a request may take to arrive")
	f.DurationVar(&o.timeouts.Write, "write-timeout", 30*time.Second, "how long a part of an answer may take to be accepted")
	f.DurationVar(&o.timeouts.Idle, "idle-timeout", 2*time.Minute, "how long a connection may be idle")
	f.DurationVar(&o.drain, "drain", 0, "how long to go on taking requests after a stop signal, while /readyz says no")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "how long to answer accepted requests after a stop signal")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "least `level` that is logged: debug, info, warn or error")
	f.BoolVar(&o.healthcheck, "healthcheck", false, "ask the service at -addr whether it is ready, and exit with 0 or 1")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		return &options{help: true}, nil
	} else if err != nil {
		return nil, err
	}
	if f.NArg() > 0 {
		return nil, fmt.Errorf("unknown argument %q; see -help", f.Arg(0))
	}
	if err := fromEnvironment(f, env); err != nil {
		return nil, err
	}
	if key := env("RIFFLE_SEED_KEY"); key != "" {
		var err error
		if o.seedKey, err = ledger.ParseSeedKey(key); err != nil {
			return nil, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		if o.seedKeyFile != "" {
			return nil, errors.New("the key of the seeds is given twice: by RIFFLE_SEED_KEY, and by a file with -seed-key or RIFFLE_SEED_KEY_FILE")
		}
	}
	return o, o.check()
}

// fromEnvironment sets the flags that are not given, but for those that ask for something else than to serve.
func fromEnvironment(f *flag.FlagSet, env func(string) string) error {
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	var errs []error
	names := map[string]string{"key": "KEY_FILE", "seed-key": "SEED_KEY_FILE"} // where the name of the variable says more
	f.VisitAll(func(fl *flag.Flag) {
		if fl.Name == "healthcheck" || fl.Name == "version" {
			return
		}
		name, ok := names[fl.Name]
		if !ok {
			name = strings.ToUpper(strings.ReplaceAll(fl.Name, "-", "_"))
		}
		name = "RIFFLE_" + name
		if value := env(name); value != "" && !given[fl.Name] {
			if err := f.Set(fl.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// check refuses settings that cannot be meant.
func (o *options) check() error {
	switch {
	case o.store != "" && !strings.HasPrefix(o.store, "postgres://") && !strings.HasPrefix(o.store, "postgresql://"):
		return errors.New("-store is the URL of a database, postgres://..., or is left out for SQLite in the data folder")
	case o.deadline < time.Second || o.deadline > 30*24*time.Hour:
		return errors.New("-deadline is from 1s to 720h")
	case o.queue < 1:
		return errors.New("-queue is at least 1")
	case o.maxItems < 1 || o.maxItems > 1<<31:
		return errors.New("-max-items is from 1 to 2147483648")
	case o.maxResults < o.maxItems:
		return errors.New("-max-results is at least -max-items")
	case o.maxBody < 1 || o.maxBody > 1<<30:
		return errors.New("-max-body is from 1 to 1073741824 bytes")
	case o.memory < 8*o.maxBody || o.memory < 64*int64(o.maxItems):
		return errors.New("-memory is at least 8 times -max-body and 64 times -max-items, or the longest request could never be answered")
	case o.timeouts.Header <= 0 || o.timeouts.Read <= 0 || o.timeouts.Write <= 0 || o.timeouts.Idle <= 0:
		return errors.New("timeouts are longer than 0")
	}
	return nil
}
