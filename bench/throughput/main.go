// Throughput measures POST /shuffle of 52 strings, durable and in the log, beside a chi handler that echoes the same body:
// the ceiling of what any service behind this router can do. The ledger is in SQLite, and in PostgreSQL behind two
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
	"os/signal"
	"runtime"
	"slices"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

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
	if s.folder, err = os.MkdirTemp(".", "bench-data-"); err != nil { // beside the sources, for /tmp may be memory
		return err
	}
	defer func() { _ = os.RemoveAll(s.folder) }()
	field, err := newField(ctx, &s)
	defer field.stop()
	if err != nil {
		return err
	}
	for range s.runs + 1 {
		for _, c := range field.contenders {
			ctx, cancel := context.WithTimeout(ctx, s.length)
			began := time.Now()
			answers, err := c.run(ctx)
			rate := float64(answers) / time.Since(began).Seconds()
			cancel()
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.rates = append(c.rates, rate)
		}
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

// A contender is what is measured.
type contender struct {
	name  string
	run   func(context.Context) (answers int, err error) // until the context ends
	rates []float64                                      // answers a second, run by run; the first is not counted
}

// report prints medians and ranges: the rates, and then what the goals are about.
func report(s *settings, f *field) {
	fmt.Printf("%s %s/%s, %d CPUs; POST of 52 strings, %d runs of %s each, alternating\n\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), s.runs, s.length)
	for _, c := range f.contenders {
		rates := c.rates[1:]
		fmt.Printf("%-50s %8.0f/s (%.0f to %.0f)\n", c.name, median(rates), slices.Min(rates), slices.Max(rates))
	}
	fmt.Println()
	compare := func(what string, a, b *contender) {
		if a == nil || b == nil {
			return
		}
		var ratios []float64
		for i := range s.runs {
			ratios = append(ratios, a.rates[1+i]/b.rates[1+i])
		}
		fmt.Printf("%-50s %8.2fx (%.2f to %.2f)\n", what, median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
	compare("SQLite, of the echo handler", f.sqlite, f.echo)
	compare("two replicas, of SQLite", f.replicas, f.sqlite)
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
