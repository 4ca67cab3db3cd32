// Server is the shuffle service: a REST API over a durable, tamper-evident log. See options.go for
// its settings and service.go for its parts.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"riffle/internal/config"
	"riffle/internal/release"
	"riffle/internal/system"
	"riffle/internal/tracing"
)

func main() {
	// All clients use this transport or a clone. Nobody who answers is trusted, and 10 MB would be read.
	http.DefaultTransport.(*http.Transport).MaxResponseHeaderBytes = 64 << 10
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal kills the process
	err := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	if err != nil {
		os.Exit(1)
	}
}

// run runs the service until ctx is done or the log fails. It writes the error that it
// returns.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) (err error) {
	env := variables(environ)
	o, err := parse(args, environ, true)
	defer func() { o.writeError(stderr, err) }()
	if err != nil {
		return err
	}
	switch {
	case o.help:
		return o.writeHelp(stderr)
	case o.version:
		_, err := fmt.Fprintln(stdout, release.Current())
		return err
	case o.healthcheck:
		return healthcheck(ctx, o)
	case o.checkConfig && o.config == "":
		return errors.New("--check-config needs a configuration file; name it with --config or RIFFLE_CONFIG")
	case o.checkConfig:
		for _, text := range append(o.memoryWarnings(env), o.warnings...) {
			_, _ = fmt.Fprintln(stderr, "server: warning:", text)
		}
		_, err := fmt.Fprintln(stdout, o.config, "is valid")
		return err
	}
	if !o.coreDumps {
		if err := system.NoCores(); err != nil {
			return fmt.Errorf("setting the limit of core files to 0, which --core-dumps leaves out: %w", err)
		}
	}
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	level := &slog.LevelVar{}
	level.Set(o.logLevel)
	output := newLogOutput(stderr)
	defer output.flush()
	logger := output.logger(level)
	connections, err := limitMemory(o, env, logger)
	if err != nil {
		return err
	}
	tracer, err := tracing.New(ctx, env, release.Current().Version, logger)
	if err != nil {
		return err
	}
	s, err := build(ctx, o, connections, tracer, logger, accessLog{output, level})
	if err != nil && ctx.Err() != nil {
		logger.Info("stopped before it was ready", "reason", context.Cause(ctx), "error", err)
		return nil
	} else if err != nil {
		return err
	}
	return s.run(ctx, hangups, func() (apply func()) {
		file, err := parse(args, environ, false)
		return func() { s.reload(level, file, err) }
	})
}

// writeError writes the error that ends the program as lines of the log. A terminal gets plain
// text, and so do the callers of --check-config and --healthcheck.
func (o *options) writeError(w io.Writer, err error) {
	if err == nil {
		return
	}
	file, _ := w.(*os.File)
	info, _ := file.Stat() // nil for a nil file
	for _, line := range lines(err) {
		if o.checkConfig || o.healthcheck || info != nil && info.Mode()&os.ModeCharDevice != 0 {
			_, _ = fmt.Fprintln(w, "server:", line)
		} else {
			newLogOutput(w).logger(slog.LevelError).Error("the service ends", "error", line)
		}
	}
}

// lines returns an error's text as log lines: one for each mistake in the configuration file, and one
// for any other error.
func lines(err error) []string {
	if _, ok := errors.AsType[config.Mistakes](err); ok {
		return strings.Split(err.Error(), "\n")
	}
	return []string{oneLine(err)}
}

// oneLine returns an error's text on one line.
func oneLine(err error) string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(err.Error())
}
