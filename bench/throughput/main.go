// Throughput measures POST /shuffle of 52 strings, durable and in the log, beside a chi handler that echoes the same body:
// the ceiling of what any service behind this router can do, beside the same shuffle with a commitment made first, and beside
// draws from shoes. The ledger is in SQLite, and in PostgreSQL behind two
// replicas. Servers are processes of their own on this machine, as is the load; runs alternate, so that a machine that
// slows down slows all; the figures that count are the medians of the ratios, run by run.
//
//	go run ./bench/throughput
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"time"

	"riffle/bench/contest"
)

func main() { contest.Main("throughput", run) }

func run(ctx context.Context) error {
	var s settings
	flag.IntVar(&s.runs, "runs", 5, "runs of each, after one that is not counted")
	flag.DurationVar(&s.length, "length", 3*time.Second, "length of a run")
	flag.IntVar(&s.connections, "connections", 64, "connections that ask")
	flag.StringVar(&s.binary, "server", "", "a built server; built from ./cmd/server if empty")
	flag.BoolVar(&s.postgres, "postgres", true, "with two replicas on a PostgreSQL server that is started for it")
	echo := flag.String("echo", "", "be the echo handler at this address, and measure nothing")
	flag.Parse()
	if *echo != "" {
		return serveEcho(ctx, *echo)
	}
	var err error
	if s.folder, err = contest.Folder(); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(s.folder) }()
	field, err := newField(ctx, &s)
	defer field.stop()
	if err != nil {
		return err
	}
	if err := contest.Hold(ctx, s.runs, s.length, field.contenders...); err != nil {
		return err
	}
	report(&s, field)
	return nil
}

// settings are what is measured, and how.
type settings struct {
	runs, connections int
	length            time.Duration
	folder            string // for everything that is written
	binary            string
	postgres          bool
}

// report prints medians and ranges: the rates, and then what the goals are about.
func report(s *settings, f *field) {
	fmt.Printf("%s; POST of 52 strings, %d runs of %s each, alternating\n\n", contest.Machine(), s.runs, s.length)
	for _, c := range f.contenders {
		median, least, most := c.Rate()
		fmt.Printf("%-50s %8.0f/s (%.0f to %.0f)\n", c.Name, median, least, most)
	}
	fmt.Println()
	contest.Compare("SQLite, of the echo handler", f.sqlite, f.echo)
	contest.Compare("what a committed shuffle costs, in plain ones", f.sqlite, f.committed)
	contest.Compare("draws, of shuffles", f.dealt, f.sqlite)
	if f.replicas != nil {
		contest.Compare("two replicas, of SQLite", f.replicas, f.sqlite)
	}
}
