package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"strings"
	"time"

	"riffle/internal/access"
	"riffle/internal/config"
	"riffle/internal/dealer"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
)

// options are the settings of the service. Each is a flag, an environment variable and a key of the
// configuration file, which take precedence in this order.
type options struct {
	flags *flag.FlagSet // sets the other fields

	logOptions // of the main log
	more       []*logOptions
	moreFlags  []*flag.FlagSet // which set more

	addr           string
	adminAddr      string
	hosts          access.Hosts
	origins        access.Origins
	proxies        access.Proxies
	callers        callers
	tls            *config.TLS // nil for plain HTTP
	deckOfCards    bool
	pages          bool
	queue          int
	patience       time.Duration
	maxItems       uint64
	maxResults     uint64
	maxBody        int64
	memory         int64
	maxConnections int
	timeouts       httpserver.Timeouts
	drain          time.Duration
	grace          time.Duration
	accessLog      bool
	logLevel       slog.Level

	config string

	checkConfig, healthcheck, version, help bool
}

// Values of -create.
const (
	createAuto  = "auto"
	createNever = "never"
)

// parse reads the settings from flags; where a flag is not given, from its RIFFLE_ variable; and
// where that is not set either, from its key in the configuration file. It writes help and usage to
// stderr.
func parse(args []string, env func(string) string, stderr io.Writer) (*options, error) {
	o := newOptions(stderr)
	f := o.flags
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
	overridden := given(f)
	file := &config.File{}
	if o.config != "" && !o.version {
		file = o.fromFile()
	}
	var errs []error
	refuse := func(err error, flags ...string) {
		flags = slices.DeleteFunc(flags, func(name string) bool { return overridden[name] })
		if !file.Refuse(err, flags...) {
			errs = append(errs, err)
		}
	}
	if key := env("RIFFLE_SEED_KEY"); key != "" {
		var err error
		if o.seedKey, err = ledger.ParseSeedKey(key); err != nil {
			return nil, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		if o.seedKeyFile != "" {
			refuse(errors.New("the key that encrypts seeds is set twice: set RIFFLE_SEED_KEY, or a file with -seed-key or RIFFLE_SEED_KEY_FILE"), "seed-key")
		}
	}
	o.callers = callers{file.Keys, file.Anonymous}
	o.tls = file.TLS
	o.completeLogs(file)
	o.checkEach(refuse)
	o.checkLogs(file)
	if len(errs) == 0 && file.Err() == nil {
		o.checkTogether(refuse)
		if err := checkTLS(o.tls); err != nil {
			refuse(err, "tls")
		}
	}
	if !o.healthcheck { // a mistake in the file is no reason to restart a service that runs
		errs = append(errs, file.Err())
	}
	return o, errors.Join(errs...)
}

// newOptions returns the settings at their defaults.
func newOptions(stderr io.Writer) *options {
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	o := &options{flags: f, logOptions: logOptions{name: access.MainLog}}
	f.SetOutput(stderr)
	f.Usage = func() {
		_, _ = fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	f.StringVar(&o.addr, "addr", "localhost:8080", "listen on this `address`; :8080 is all interfaces")
	f.StringVar(&o.adminAddr, "admin-addr", "", "serve /metrics and /debug/pprof on this `address`, such as localhost:9090, by plain HTTP and without keys, and /healthz and /readyz as well (default /metrics on -addr, and no profiles)")
	f.TextVar(&o.hosts, "hosts", access.Hosts{}, "Host `names` to answer under, separated by commas, such as riffle.example; on a loopback address in addition to localhost and the like (default any, on a loopback address none but these)")
	f.TextVar(&o.origins, "cors-origins", access.Origins{}, "web `origins`, separated by commas, such as https://game.example, whose pages may shuffle and deal; those of any origin may read")
	f.TextVar(&o.proxies, "trusted-proxies", access.Proxies{}, "`addresses` or networks of proxies, separated by commas, such as 10.0.0.0/8, whose X-Forwarded-For says where a request comes from")
	f.StringVar(&o.data, "data", "./data", "data `folder`, created if missing")
	o.addFlags(f)
	f.BoolVar(&o.deckOfCards, "deckofcards", true, "serve clients of deckofcardsapi under /api/deck/")
	f.BoolVar(&o.pages, "pages", true, "serve pages for browsers: / and those that it links")
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
	f.BoolVar(&o.accessLog, "access-log", true, "log each request at level info, on one line")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "lowest `level` that is logged: debug, info, warn or error")
	f.StringVar(&o.config, "config", "", "configuration `file` in YAML, such as deploy/riffle.yaml, which names every key; SIGHUP reads it again")
	f.BoolVar(&o.checkConfig, "check-config", false, "say what is wrong with the configuration file and exit, with 0 if nothing is")
	f.BoolVar(&o.healthcheck, "healthcheck", false, "exit with 0 if the service at -addr is ready, and with 1 if not")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	return o
}

// addFlags adds the settings that each log has to a set of flags, at their defaults.
func (l *logOptions) addFlags(f *flag.FlagSet) {
	f.StringVar(&l.create, "create", createAuto, "`when` to begin a new log: auto, if there is none; never, so that the service refuses to start without its log")
	f.StringVar(&l.store, "store", "", "`URL` of a PostgreSQL database for the log, postgres://user@host/name (default SQLite in the data folder)")
	f.StringVar(&l.key, "key", "", "`file` of the log's private key, created with the log; all replicas of a log need it (default log.key in the data folder)")
	f.StringVar(&l.seedKeyFile, "seed-key", "", "`file` of the key that encrypts seeds, created with the log; all replicas of a log need it. RIFFLE_SEED_KEY holds the key itself, 64 hex digits (default seed.key beside the log's key)")
	f.StringVar(&l.origin, "origin", "", "`name` of a new log in its checkpoints, such as riffle.example/poker (default riffle/ and random digits)")
	f.DurationVar(&l.deadline, "deadline", dealer.DefaultDeadline, "time to live of a commitment; an unused one is then void")
	f.StringVar(&l.decks, "decks", "", "`folder` of your own deck types, one JSON file each")
}

// usage precedes the list of flags in the help.
const usage = `Usage: server [flags]

Each setting is a flag, an environment variable or a key of the configuration file that -config names, in this order of
precedence: -addr is RIFFLE_ADDR and addr, -max-items is RIFFLE_MAX_ITEMS and max-items. Two variables have other names:
-key is RIFFLE_KEY_FILE, and -seed-key is RIFFLE_SEED_KEY_FILE.

`

// fromEnvironment sets the flags that were not given from their variables. The flags that do not
// serve, -check-config, -healthcheck and -version, have none.
func fromEnvironment(f *flag.FlagSet, env func(string) string) error {
	given := given(f)
	var errs []error
	f.VisitAll(func(fl *flag.Flag) {
		if !hasKey(fl.Name) && fl.Name != "config" {
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

// given returns the names of the flags that have been set.
func given(f *flag.FlagSet) map[string]bool {
	names := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { names[fl.Name] = true })
	return names
}

// fromFile sets the flags that have not been set from their keys in the file, and the logs that it
// lists. Other keys are checked all the same, so that a file is valid or not wherever it is used.
func (o *options) fromFile() *config.File {
	f := o.flags
	given, trial := given(f), newOptions(io.Discard).flags
	settings := map[string]config.Setting{}
	f.VisitAll(func(fl *flag.Flag) {
		if !hasKey(fl.Name) {
			return
		}
		set := func(value string) error {
			err := setFlag(trial, fl, value) // a flag that refuses a value may have changed
			if err == nil && !given[fl.Name] {
				return f.Set(fl.Name, value)
			}
			return err
		}
		settings[fl.Name] = config.Setting{List: isList(fl.Name), Set: set}
	})
	return config.Read(o.config, settings, o.newLog)
}

// setFlag sets a flag of a set. The error says what the default is.
func setFlag(f *flag.FlagSet, fl *flag.Flag, value string) error {
	err := f.Set(fl.Name, value)
	switch {
	case err == nil:
		return nil
	case fl.DefValue != "":
		err = fmt.Errorf("%w; the default is %s", err, fl.DefValue)
	}
	return fmt.Errorf("%s: invalid value %.80q: %w", fl.Name, value, err)
}

// callers are those that the configuration file lets in.
type callers struct {
	keys      []access.Key
	anonymous *access.Grant
}

// policy returns what the callers may do.
func (c callers) policy() *access.Policy { return access.NewPolicy(c.keys, c.anonymous) }

// given reports whether the file says anything of callers.
func (c callers) given() bool { return len(c.keys) > 0 || c.anonymous != nil }

// names returns the names of the keys.
func (c callers) names() []string {
	names := []string{}
	for _, k := range c.keys {
		names = append(names, k.Name)
	}
	return names
}

// isList reports whether the key of a flag takes a list.
func isList(flag string) bool {
	return flag == "hosts" || flag == "cors-origins" || flag == "trusted-proxies"
}

// hasKey reports whether a flag has a key in the configuration file.
func hasKey(flag string) bool {
	switch flag {
	case "config", "check-config", "healthcheck", "version":
		return false
	}
	return true
}

// variable returns the environment variable of a flag.
func variable(flag string) string {
	switch flag {
	case "key", "seed-key": // a variable named KEY would be taken for the key itself
		flag += "-file"
	}
	return "RIFFLE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// checkEach refuses the settings that the service cannot run with, whatever the others are. It
// calls refuse with the reason and the flag.
func (o *options) checkEach(refuse func(err error, flags ...string)) {
	for _, c := range []struct {
		flag    string
		invalid bool
		must    string // what the value must be
		got     any
	}{
		{"max-connections", o.maxConnections < 2, "at least 2", o.maxConnections},
		{"queue", o.queue < 1, "at least 1", o.queue},
		{"patience", o.patience < time.Second, "at least 1s, such as the default 2m", o.patience},
		{"max-items", o.maxItems < 1 || o.maxItems > 1<<31, fmt.Sprintf("from 1 to %d", 1<<31), o.maxItems},
		{"max-body", o.maxBody < 1 || o.maxBody > 1<<30, fmt.Sprintf("from 1 to %d bytes", 1<<30), o.maxBody},
		{"header-timeout", o.timeouts.Header <= 0, "longer than 0", o.timeouts.Header},
		{"read-timeout", o.timeouts.Read <= 0, "longer than 0", o.timeouts.Read},
		{"write-timeout", o.timeouts.Write <= 0, "longer than 0", o.timeouts.Write},
		{"idle-timeout", o.timeouts.Idle <= 0, "longer than 0", o.timeouts.Idle},
	} {
		if c.invalid {
			refuse(fmt.Errorf("-%s must be %s, got %v", c.flag, c.must, c.got), c.flag)
		}
	}
	o.check(func(err error, setting string) { refuse(err, setting) })
}

// checkTogether refuses settings that are valid, but not with each other. It calls refuse with the
// reason and the flags.
func (o *options) checkTogether(refuse func(err error, flags ...string)) {
	if o.maxResults < o.maxItems {
		refuse(fmt.Errorf("-max-results must be at least -max-items, %d, got %d", o.maxItems, o.maxResults), "max-results", "max-items")
	}
	if o.memory < o.leastMemory() {
		refuse(fmt.Errorf("-memory must be at least 8 times -max-body, and 6 times -max-body and 80 times -max-items together, %d bytes, got %d: the longest request would never fit into half of it, which is what one caller can have", o.leastMemory(), o.memory),
			"memory", "max-body", "max-items")
	}
}

// leastMemory returns twice what the longest request can take up, since a peer alone can have half
// of the memory.
func (o *options) leastMemory() int64 {
	return max(8*o.maxBody, 6*o.maxBody+80*int64(o.maxItems))
}
