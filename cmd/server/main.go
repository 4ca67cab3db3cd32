// Server is the shuffle service: a REST API over a durable, tamper-evident log.
//
// This file parses the settings and runs the service. The parts and their connections are listed in
// service.go, the settings in options.go.
package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
)

// version and commit are set by the linker for a release. Without commit, revision asks the Go
// tool.
var (
	version = "dev"
	commit  = ""
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // so that a second signal kills the process
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "server:", oneLine(err))
		os.Exit(1)
	}
}

// run parses the settings, builds the service and runs it until ctx is done or the ledger fails.
func run(ctx context.Context, args []string, env func(string) string, stdout, stderr io.Writer) error {
	o, err := parse(args, env, stderr)
	if err != nil {
		return err
	}
	switch {
	case o.help:
		return nil
	case o.version:
		_, err := fmt.Fprintln(stdout, "riffle", version, revision())
		return err
	case o.healthcheck:
		return healthcheck(ctx, o.addr)
	}
	limitMemory(o, env)
	s, err := build(ctx, o, slog.New(slog.NewJSONHandler(stderr, &slog.HandlerOptions{Level: o.logLevel})))
	if err != nil {
		return err
	}
	return s.run(ctx)
}

// oneLine joins the lines of an error's text, since logs are read line by line.
func oneLine(err error) string {
	return strings.NewReplacer(":\n\t", ": ", "\n\t", "; ", "\n", "; ").Replace(err.Error())
}

// revision returns the commit that was built, or "unknown".
func revision() string {
	if commit != "" {
		return commit
	}
	info, _ := debug.ReadBuildInfo()
	if info != nil {
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				return s.Value
			}
		}
	}
	return "unknown"
}
