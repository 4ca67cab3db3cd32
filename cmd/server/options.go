package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/dealer"
	"riffle/internal/ledger"
)

// options are the settings of the service. Each is a flag and an environment variable; the flag
// takes precedence.
type options struct {
	addr           string
	data           string
	store          string
	create         string
	key            string
	origin         string
	deadline       time.Duration
	hosts          access.Hosts
	decks          string
	deckOfCards    bool
	queue          int
	patience       time.Duration
	maxItems       uint64
	maxResults     uint64
	maxBody        int64
	memory         int64
	maxConnections int
	timeouts       api.Timeouts
	drain          time.Duration
	grace          time.Duration
	logLevel       slog.Level

	seedKey     []byte
	seedKeyFile string

	healthcheck, version, help bool
}

// Values of -create.
const (
	createAuto  = "auto"
	createNever = "never"
)

// parse reads the settings from flags and, where a flag is not given, from its RIFFLE_ variable. It
// writes help and usage to stderr.
func parse(args []string, env func(string) string, stderr io.Writer) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.addr, "addr", "localhost:8080", "listen on this `address`; :8080 is all interfaces")
	f.Func("hosts", "Host `names` to answer under, separated by commas, such as riffle.example; on a loopback address in addition to localhost and the like (default any, on a loopback address none but these)", func(list string) (err error) {
		o.hosts, err = access.ParseHosts(list)
		return err
	})
	f.StringVar(&o.data, "data", "./data", "data `folder`, created if missing")
	f.StringVar(&o.create, "create", createAuto, "`when` to begin a new log: auto, if there is none; never, so that the service refuses to start without its log")
	f.StringVar(&o.store, "store", "", "`URL` of a PostgreSQL database for the log, postgres://user@host/name (default SQLite in the data folder)")
	f.StringVar(&o.key, "key", "", "`file` of the log's private key, created with the log; all replicas of a log need it (default log.key in the data folder)")
	f.StringVar(&o.seedKeyFile, "seed-key", "", "`file` of the key that encrypts seeds, created with the log; all replicas of a log need it. RIFFLE_SEED_KEY holds the key itself, 64 hex digits (default seed.key beside the log's key)")
	f.StringVar(&o.origin, "origin", "", "`name` of a new log in its checkpoints, such as riffle.example/poker (default riffle/ and random digits)")
	f.DurationVar(&o.deadline, "deadline", dealer.DefaultDeadline, "time to live of a commitment; an unused one is then void")
	f.StringVar(&o.decks, "decks", "", "`folder` of your own deck types, one JSON file each")
	f.BoolVar(&o.deckOfCards, "deckofcards", true, "serve clients of deckofcardsapi under /api/deck/")
	f.IntVar(&o.queue, "queue", 4096, "most records waiting for a commit; further requests are answered 503")
	f.DurationVar(&o.patience, "patience", 2*time.Minute, "time that a record in flight waits for a database that cannot be reached; then the service ends")
	f.Uint64Var(&o.maxItems, "max-items", 1_000_000, "most items in a shuffle, and in the answer to a draw")
	f.Uint64Var(&o.maxResults, "max-results", 10_000_000, "most items in one answer: repeat times draw")
	f.Int64Var(&o.maxBody, "max-body", 16<<20, "most `bytes` in a request body")
	f.Int64Var(&o.memory, "memory", 512<<20, "most `bytes` held for long requests in flight; further ones are answered 503")
	f.IntVar(&o.maxConnections, "max-connections", 10_000, "most open connections, fewer where -memory or the limit on open files is low; beyond them one that is idle is closed, or health checks alone are answered")
	f.DurationVar(&o.timeouts.Header, "header-timeout", 5*time.Second, "time for a request's header to arrive")
	f.DurationVar(&o.timeouts.Read, "read-timeout", 30*time.Second, "time for a whole request to arrive")
	f.DurationVar(&o.timeouts.Write, "write-timeout", 30*time.Second, "time for the client to accept an answer; a longer one has a second more for every 64 KiB accepted")
	f.DurationVar(&o.timeouts.Idle, "idle-timeout", 2*time.Minute, "time that a connection may stay idle")
	f.DurationVar(&o.drain, "drain", 0, "time to go on serving after a stop signal, while /readyz answers 503")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "time for requests in flight to finish after a stop signal")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "lowest `level` that is logged: debug, info, warn or error")
	f.BoolVar(&o.healthcheck, "healthcheck", false, "exit with 0 if the service at -addr is ready, and with 1 if not")
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
			return nil, errors.New("the key that encrypts seeds is set twice: set RIFFLE_SEED_KEY, or a file with -seed-key or RIFFLE_SEED_KEY_FILE")
		}
	}
	return o, o.check()
}

// usage precedes the list of flags in the help.
const usage = `Usage: server [flags]

Each setting is a flag or an environment variable: -addr is RIFFLE_ADDR, -max-items is RIFFLE_MAX_ITEMS. Two names differ:
-key is RIFFLE_KEY_FILE, and -seed-key is RIFFLE_SEED_KEY_FILE.

`

// fromEnvironment sets the flags that were not given from their variables. The flags that do not
// serve, -healthcheck and -version, have none.
func fromEnvironment(f *flag.FlagSet, env func(string) string) error {
	given := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { given[fl.Name] = true })
	var errs []error
	f.VisitAll(func(fl *flag.Flag) {
		if fl.Name == "healthcheck" || fl.Name == "version" {
			return
		}
		name := variable(fl.Name)
		if value := env(name); value != "" && !given[fl.Name] {
			if err := f.Set(fl.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	return errors.Join(errs...)
}

// variable returns the environment variable of a flag.
func variable(flag string) string {
	switch flag {
	case "key", "seed-key": // a variable named KEY would be taken for the key itself
		flag += "-file"
	}
	return "RIFFLE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// check returns an error for a setting that the service cannot run with.
func (o *options) check() error {
	switch {
	case o.store != "" && !strings.HasPrefix(o.store, "postgres://") && !strings.HasPrefix(o.store, "postgresql://"):
		return errors.New("-store must be the URL of a PostgreSQL database, such as postgres://user@host/name; leave it out for SQLite in the data folder")
	case o.create != createAuto && o.create != createNever:
		return fmt.Errorf("-create must be auto or never, got %q", o.create)
	case o.deadline < time.Second || o.deadline > 30*24*time.Hour:
		return fmt.Errorf("-deadline must be from 1s to 720h, got %s", o.deadline)
	case o.maxConnections < 2:
		return fmt.Errorf("-max-connections must be at least 2, got %d", o.maxConnections)
	case o.queue < 1:
		return fmt.Errorf("-queue must be at least 1, got %d", o.queue)
	case o.patience < time.Second:
		return fmt.Errorf("-patience must be at least 1s, such as the default 2m, got %s", o.patience)
	case o.maxItems < 1 || o.maxItems > 1<<31:
		return fmt.Errorf("-max-items must be from 1 to %d, got %d", 1<<31, o.maxItems)
	case o.maxResults < o.maxItems:
		return fmt.Errorf("-max-results must be at least -max-items, %d, got %d", o.maxItems, o.maxResults)
	case o.maxBody < 1 || o.maxBody > 1<<30:
		return fmt.Errorf("-max-body must be from 1 to %d bytes, got %d", 1<<30, o.maxBody)
	case o.memory < o.leastMemory():
		return fmt.Errorf("-memory must be at least 8 times -max-body, and 6 times -max-body and 80 times -max-items together, %d bytes, got %d: the longest request would never fit into half of it, which is what one caller can have", o.leastMemory(), o.memory)
	}
	for _, timeout := range []struct {
		flag string
		time time.Duration
	}{
		{"-header-timeout", o.timeouts.Header},
		{"-read-timeout", o.timeouts.Read},
		{"-write-timeout", o.timeouts.Write},
		{"-idle-timeout", o.timeouts.Idle},
	} {
		if timeout.time <= 0 {
			return fmt.Errorf("%s must be longer than 0, got %s", timeout.flag, timeout.time)
		}
	}
	return nil
}

// leastMemory returns twice what the longest request can take up, since a peer alone can have half
// of the memory.
func (o *options) leastMemory() int64 {
	return max(8*o.maxBody, 6*o.maxBody+80*int64(o.maxItems))
}
