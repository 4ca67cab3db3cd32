package main

import (
	"cmp"
	"context"
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"regexp"
	"slices"
	"strings"
	"time"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/config"
	"riffle/internal/dealer"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/openlog"
	"riffle/internal/suggest"
)

// options are the settings of the service: flags, environment variables and keys of the
// configuration file, in this order of precedence.
type options struct {
	flags *flag.FlagSet // sets the other fields

	log openlog.Settings

	api            api.Options     // what settings say of it
	shared         openlog.Options // of the log, likewise
	addr           string
	adminAddr      string
	callers        callers
	tls            *config.TLS // nil for plain HTTP
	deckOfCards    bool
	pages          bool
	memory         int64
	container      int64  // memory limit of the container, at most noContainer
	found          string // that limit as text, or why there is no limit
	maxConnections int
	timeouts       httpserver.Timeouts
	drain          time.Duration
	grace          time.Duration
	accessLog      bool
	logLevel       slog.Level
	coreDumps      bool

	config string

	checkConfig, healthcheck, version, help bool
	warnings                                []string // about files
}

// parse reads the settings and checks them, and with files also those files that they name. It returns
// those that it has read with an error, too.
func parse(args, environ []string, files bool) (*options, error) {
	o := newOptions()
	f := o.flags
	// A variable that is not set leaves a flag empty: there would be no keys, or another store.
	if i := slices.IndexFunc(args, isEmpty); i >= 0 {
		return o, fmt.Errorf("%s is empty: give it a value, or leave it out; see --help", cmp.Or(strings.TrimSuffix(args[i], "="), "an argument"))
	}
	if err := f.Parse(args); errors.Is(err, flag.ErrHelp) {
		o.help = true
		return o, nil
	} else if name, unknown := strings.CutPrefix(fmt.Sprint(err), "flag provided but not defined: -"); unknown {
		return o, fmt.Errorf("unknown flag --%s; %s", name, suggest.Or("--"+name, o.flagNames(), "see --help"))
	} else if err != nil {
		return o, fmt.Errorf("%s; see --help", flagInError.ReplaceAllString(err.Error(), "$1 --"))
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unknown argument %q; see --help", f.Arg(0))
	}
	env := variables(environ)
	if err := fromEnvironment(f, environ, env); err != nil {
		return o, err
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
		if o.log.SeedKey, err = ledger.ParseSeedKey(key); err != nil {
			return o, fmt.Errorf("RIFFLE_SEED_KEY: %w", err)
		}
		if o.log.SeedKeyFile != "" {
			refuse(errors.New("the key that encrypts seeds is set twice: set RIFFLE_SEED_KEY, or a file with --seed-key or RIFFLE_SEED_KEY_FILE"), "seed-key")
		}
	}
	o.callers = callers{file.Keys, file.Anonymous}
	o.tls = file.TLS
	o.fit(given(f))
	o.checkEach(refuse)
	if len(errs) == 0 && file.Err() == nil {
		o.checkContainer(refuse)
		o.checkTogether(refuse)
		if files && !o.healthcheck {
			o.checkFiles(refuse)
		}
	}
	if !o.healthcheck { // a mistake in the file must not make a container restart the running service
		errs = append(errs, file.Err())
	}
	return o, errors.Join(errs...)
}

// isEmpty reports whether an argument is a flag without a value after its =, or nothing.
func isEmpty(arg string) bool {
	return arg == "" || arg[0] == '-' && strings.Index(arg, "=") == len(arg)-1
}

// newOptions returns the settings at their defaults.
func newOptions() *options {
	f := flag.NewFlagSet("server", flag.ContinueOnError)
	o := &options{flags: f}
	l := &o.log
	f.SetOutput(io.Discard)
	f.StringVar(&o.addr, "addr", "localhost:8080", "listen on this `address`; :8080 is all interfaces")
	f.StringVar(&o.adminAddr, "admin-addr", "", "serve /metrics and /debug/pprof on this `address`, such as localhost:9090, by plain HTTP and without keys, and /healthz and /readyz as well (default /metrics on --addr, and no profiles)")
	f.TextVar(&o.api.Hosts, "hosts", access.Hosts{}, "Host `names` to answer under, separated by commas, such as riffle.example; on a loopback address in addition to localhost and the like (default any, on a loopback address none but these)")
	f.TextVar(&o.api.Origins, "cors-origins", access.Origins{}, "web `origins`, separated by commas, such as https://game.example, whose pages may shuffle and deal; those of any origin may read")
	f.TextVar(&o.api.Proxies, "trusted-proxies", access.Proxies{}, "`addresses` or networks of proxies, separated by commas, such as 10.0.0.0/8, whose X-Forwarded-For says where a request comes from")
	f.StringVar(&l.Folder, "data", "./data", "data `folder`, created if missing")
	f.BoolVar(&l.ReadOnly, "read-only", false, "serve a log that takes no more records: nothing is written to its folder or store, and what would write is answered 403")
	f.StringVar(&l.Create, "create", openlog.CreateAuto, "`when` to begin a new log: auto, if there is none; never, so that the service refuses to start without its log")
	f.StringVar(&l.Store, "store", "", "`URL` of a PostgreSQL database for the log, postgres://user@host/name (default SQLite in the data folder)")
	f.StringVar(&l.Key, "key", "", "`file` of the log's private key, created with the log; all replicas of a log need it (default log.key in the data folder)")
	f.StringVar(&l.SeedKeyFile, "seed-key", "", "`file` of the key that encrypts seeds, created with the log; all replicas of a log need it. RIFFLE_SEED_KEY holds the key itself, 64 hex digits (default seed.key beside the log's key)")
	f.StringVar(&l.KeyCommand, "key-command", "", "`command` that prints the log's key or the seed key, in place of files, such as 'cat /run/credentials/riffle.service/{}'; {} becomes log.key or seed.key. There is no shell")
	f.Func("anchor", "`places` that hold the log's last checkpoint too, separated by commas: an absolute path or https://host/path; see docs/operations/anchors.md", func(text string) error { return l.Anchors.UnmarshalText([]byte(text)) })
	f.BoolVar(&l.NewAnchors, "anchor-create", false, "start although the log has records and no anchor has its checkpoint, for the first start with --anchor")
	f.StringVar(&l.WitnessPolicy, "witness-policy", "", "`file` with the witnesses that cosign the log's checkpoints, and how many of them suffice, in C2SP's format tlog-policy; see docs/operations/witnesses.md")
	f.Func("beacon-relays", "`URLs` of relays of drand, separated by commas, such as https://api.drand.sh, which are asked for the signature of a beacon's round that a request leaves out (default none)", func(text string) error { return l.Relays.UnmarshalText([]byte(text)) })
	f.StringVar(&l.Origin, "origin", "", "`name` of a new log in its checkpoints, such as riffle.example/poker (default riffle/ and random digits)")
	f.DurationVar(&l.Deadline, "deadline", dealer.DefaultDeadline, "time to live of a commitment; an unused one is then void")
	f.StringVar(&l.Decks, "decks", "", "`folder` of your own deck types, one JSON file each")
	f.BoolVar(&o.deckOfCards, "deckofcards", false, "serve clients of deckofcardsapi under /api/deck/, where a GET deals and writes records")
	f.BoolVar(&o.pages, "pages", true, "serve pages for browsers: / and those that it links")
	f.IntVar(&o.shared.Queue, "queue", 4096, "most records waiting for a commit; further requests are answered 503")
	f.DurationVar(&o.shared.Patience, "patience", 2*time.Minute, "time that a record in flight waits for a database that cannot be reached; then the service ends")
	f.Uint64Var(&o.shared.Limits.Items, "max-items", 1_000_000, "most items in a shuffle, and in the answer to a draw")
	f.Uint64Var(&o.shared.Limits.Results, "max-results", 10_000_000, "most items in one answer: repeat times draw")
	f.TextVar((*config.Bytes)(&o.api.MaxBody), "max-body", config.Bytes(16<<20), "most `bytes` in a request body, such as 1MiB")
	f.TextVar((*config.Bytes)(&o.memory), "memory", config.Bytes(512<<20), "most `bytes` held for long requests in flight, such as 64MiB, by default less in a small container; further ones are answered 503")
	f.IntVar(&o.maxConnections, "max-connections", 10_000, "most open connections, fewer where --memory or the limit on open files is low; beyond them one that is idle is closed, or health checks alone are answered")
	f.DurationVar(&o.timeouts.Header, "header-timeout", 5*time.Second, "time for a request's header to arrive")
	f.DurationVar(&o.timeouts.Read, "read-timeout", 30*time.Second, "time for a whole request to arrive")
	f.DurationVar(&o.timeouts.Write, "write-timeout", 30*time.Second, "time for the client to accept an answer; a longer one has a second more for every 64 KiB accepted")
	f.DurationVar(&o.timeouts.Idle, "idle-timeout", 2*time.Minute, "time that a connection may stay idle")
	f.DurationVar(&o.drain, "drain", 5*time.Second, "time to go on serving after a stop signal, while /readyz answers 503; by default none if nobody asks for /readyz so often")
	f.DurationVar(&o.grace, "grace", 30*time.Second, "time for requests in flight to finish after a stop signal")
	f.BoolVar(&o.accessLog, "access-log", true, "log each request at level info, on one line")
	f.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "lowest `level` that is logged: debug, info, warn or error")
	f.BoolVar(&o.coreDumps, "core-dumps", false, "let the system write core files, which have the keys and secret seeds; without it, the service sets its limit of them to 0")
	f.StringVar(&o.config, "config", "", "configuration `file` in YAML, such as deploy/riffle.yaml, which names every key; SIGHUP reads it again")
	f.BoolVar(&o.checkConfig, "check-config", false, "say what is wrong with the configuration file and exit, with 0 if nothing is")
	f.BoolVar(&o.healthcheck, "healthcheck", false, "exit with 0 if the service at --addr is ready, and with 1 if not")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	return o
}

// usage precedes the list of flags in the help.
//
//go:embed usage.txt
var usage string

// writeHelp writes the usage and the flags, each with two dashes.
func (o *options) writeHelp(w io.Writer) error {
	var flags strings.Builder
	o.flags.SetOutput(&flags)
	o.flags.PrintDefaults()
	_, err := fmt.Fprint(w, usage, strings.ReplaceAll("\n"+flags.String(), "\n  -", "\n  --"))
	return err
}

// flagNames returns the names of all flags, each with two dashes.
func (o *options) flagNames() (names []string) {
	o.flags.VisitAll(func(fl *flag.Flag) { names = append(names, "--"+fl.Name) })
	return names
}

// flagInError matches the single dash before a flag's name in the errors of package flag.
var flagInError = regexp.MustCompile(`(for flag|argument:) -`)

// variables returns the function that looks up a variable of an environment, as os.Getenv.
func variables(environ []string) func(name string) string {
	values := map[string]string{}
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		values[name] = value
	}
	return func(name string) string { return values[name] }
}

// kubernetes matches the variables that Kubernetes sets for a service whose name begins with riffle.
var kubernetes = regexp.MustCompile(`^RIFFLE_(\w+_)?(SERVICE_(HOST|PORT)\w*=|PORT_\d+_|PORT=\w+://)`)

// fromEnvironment sets the missing flags from their variables. A variable that is none of these nor
// empty is an error, since a misspelled one would leave a default, such as a log that is begun anew.
func fromEnvironment(f *flag.FlagSet, environ []string, env func(name string) string) error {
	given := given(f)
	// RIFFLE_TOKEN is of clients.
	known := map[string]string{"key": "RIFFLE_KEY_FILE", "seed-key": "RIFFLE_SEED_KEY", "token": "RIFFLE_TOKEN"}
	var errs []error
	f.VisitAll(func(fl *flag.Flag) {
		if !hasKey(fl.Name) && fl.Name != "config" {
			known[fl.Name] = "--" + fl.Name
			return
		}
		name := variable(fl.Name)
		known[inFlags(name)] = name
		if value := env(name); value != "" && !given[fl.Name] {
			if err := f.Set(fl.Name, value); err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", name, err))
			}
		}
	})
	for _, v := range environ {
		name, value, _ := strings.Cut(v, "=")
		if !strings.HasPrefix(name, "RIFFLE_") || value == "" || known[inFlags(name)] == name || kubernetes.MatchString(v) {
			continue
		}
		hint := "see --help"
		if nearest := suggest.Nearest(inFlags(name), slices.Sorted(maps.Keys(known))); nearest != "" {
			hint = "did you mean " + known[nearest] + "?"
		}
		errs = append(errs, fmt.Errorf("unknown variable %s; %s", name, hint))
	}
	return errors.Join(errs...)
}

// inFlags returns the name of a variable as a flag would have it.
func inFlags(variable string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(variable, "RIFFLE_")), "_", "-")
}

// given returns the names of the flags that are set.
func given(f *flag.FlagSet) map[string]bool {
	names := map[string]bool{}
	f.Visit(func(fl *flag.Flag) { names[fl.Name] = true })
	return names
}

// fromFile sets the missing flags from the file. It checks the keys of the other flags too, so that the
// file's validity does not depend on them.
func (o *options) fromFile() *config.File {
	given, trial := given(o.flags), newOptions().flags
	settings := map[string]config.Setting{}
	lists := []string{"anchor", "beacon-relays", "hosts", "cors-origins", "trusted-proxies"}
	o.flags.VisitAll(func(fl *flag.Flag) {
		if !hasKey(fl.Name) {
			return
		}
		settings[fl.Name] = config.Setting{List: slices.Contains(lists, fl.Name), Set: func(value string) error {
			err := setFlag(trial, fl, value) // a failing Set may change the flag
			if err == nil && !given[fl.Name] {
				return o.flags.Set(fl.Name, value)
			}
			return err
		}}
	})
	return config.Read(o.config, settings)
}

// setFlag sets a flag. Its error names the default.
func setFlag(f *flag.FlagSet, fl *flag.Flag, value string) error {
	err := f.Set(fl.Name, value)
	if err != nil && fl.DefValue != "" {
		err = fmt.Errorf("%w; the default is %s", err, fl.DefValue)
	}
	if err != nil {
		err = fmt.Errorf("%s: invalid value %.80q: %w", fl.Name, value, err)
	}
	return err
}

// callers are the callers that the configuration file permits.
type callers struct {
	keys      []access.APIKey
	anonymous *access.Grant
}

func (c callers) policy() *access.Policy { return access.NewPolicy(c.keys, c.anonymous) }

// given reports whether the file mentions callers.
func (c callers) given() bool { return len(c.keys) > 0 || c.anonymous != nil }

func (c callers) names() []string {
	names := []string{}
	for _, k := range c.keys {
		names = append(names, k.Name)
	}
	return names
}

// variable returns a flag's environment variable.
func variable(flag string) string {
	if flag == "key" || flag == "seed-key" { // a variable named KEY would be taken for the key itself
		flag += "-file"
	}
	return "RIFFLE_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// isAddress reports whether text has a port that can be listened on. A host that is a name is
// looked up later.
func isAddress(text string) bool {
	host, port, err := net.SplitHostPort(text)
	_, errPort := net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	return err == nil && errPort == nil && !strings.ContainsAny(host, "*/ ")
}

// checkEach calls refuse for each setting that is invalid by itself.
func (o *options) checkEach(refuse func(err error, flags ...string)) {
	for _, c := range []struct {
		flag    string
		invalid bool
		must    string // what the value must be
		got     any
	}{
		{"addr", !isAddress(o.addr), "a host and a port, such as localhost:8080 or :8080", o.addr},
		{"admin-addr", o.adminAddr != "" && !isAddress(o.adminAddr), "a host and a port, such as localhost:9090", o.adminAddr},
		{"max-connections", o.maxConnections < 2, "at least 2", o.maxConnections},
		{"queue", o.shared.Queue < 1, "at least 1", o.shared.Queue},
		{"patience", o.shared.Patience < time.Second, "at least 1s, such as the default 2m", o.shared.Patience},
		{"max-items", o.shared.Limits.Items < 1 || o.shared.Limits.Items > 1<<31, fmt.Sprintf("from 1 to %d", 1<<31), o.shared.Limits.Items},
		{"memory", o.memory > 1<<40, "at most 1TiB", config.Bytes(o.memory)},
		{"max-body", o.api.MaxBody < 1 || o.api.MaxBody > 1<<30, "from 1 byte to 1GiB", o.flags.Lookup("max-body").Value},
		{"header-timeout", o.timeouts.Header <= 0, "longer than 0", o.timeouts.Header},
		{"read-timeout", o.timeouts.Read <= 0, "longer than 0", o.timeouts.Read},
		{"write-timeout", o.timeouts.Write <= 0, "longer than 0", o.timeouts.Write},
		{"idle-timeout", o.timeouts.Idle <= 0, "longer than 0", o.timeouts.Idle},
		{"drain", o.drain < 0, "0 or longer", o.drain},
		{"grace", o.grace < 0, "0 or longer", o.grace},
	} {
		if c.invalid {
			refuse(fmt.Errorf("--%s must be %s, got %v", c.flag, c.must, c.got), c.flag)
		}
	}
	o.log.Check(func(setting, rule string) { refuse(fmt.Errorf("--%s %s", setting, rule), setting) })
}

// checkFiles calls refuse for the files that settings name and that cannot be used.
func (o *options) checkFiles(refuse func(err error, flags ...string)) {
	if err := o.log.ReadWitnesses(); err != nil {
		refuse(fmt.Errorf("--witness-policy %s: %w", o.log.WitnessPolicy, err), "witness-policy")
	}
	if o.tls == nil || o.tls.ACME != nil {
		return
	}
	if pair, err := readPair(o.tls); err != nil {
		refuse(err, "tls")
	} else if text := whyInvalid(pair); text != "" {
		o.warnings = append(o.warnings, o.tls.Cert+": "+text)
	}
}

// checkTogether calls refuse for valid settings that contradict each other.
func (o *options) checkTogether(refuse func(err error, flags ...string)) {
	if o.shared.Limits.Results < o.shared.Limits.Items {
		refuse(fmt.Errorf("--max-results must be at least --max-items, %d, got %d: raise it, or set --max-items to %[2]d or less", o.shared.Limits.Items, o.shared.Limits.Results), "max-results", "max-items")
	}
	if o.memory < o.leastMemory() {
		refuse(fmt.Errorf("--memory must be at least %s for --max-body %s and --max-items %d, got %s: raise it, or set those lower; the longest request must fit into half of it, the share of one caller",
			config.Bytes(o.leastMemory()), config.Bytes(o.api.MaxBody), o.shared.Limits.Items, config.Bytes(o.memory)), "memory", "max-body", "max-items")
	}
	host, port, _ := net.SplitHostPort(o.addr)
	adminHost, adminPort, _ := net.SplitHostPort(o.adminAddr)
	isAll := func(host string) bool { return host == "" || net.ParseIP(host).IsUnspecified() }
	if port == adminPort && port != "0" && (host == adminHost || isAll(host) || isAll(adminHost)) { // port 0 is another free port for each
		refuse(fmt.Errorf("--admin-addr must be another address than --addr, got %s beside %s", o.adminAddr, o.addr), "admin-addr", "addr")
	}
}

// leastMemory returns twice the memory of the longest request, since one peer may use half of it.
func (o *options) leastMemory() int64 {
	return max(8*o.api.MaxBody, 6*o.api.MaxBody+80*int64(o.shared.Limits.Items))
}

// hasKey reports whether a flag has a key in the configuration file.
func hasKey(flag string) bool {
	return !slices.Contains([]string{"config", "check-config", "healthcheck", "version"}, flag)
}
