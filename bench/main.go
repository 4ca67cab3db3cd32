// Bench measures the service beside plain net/http handlers and writes docs/performance.md:
//
//	go run ./bench
//	go run ./bench compare DIR   # the server of this checkout and of another
//	go run ./bench profile       # record cmd/server/default.pgo
//	go run ./bench stream        # write a riffle/1 keystream to standard output
//
// Vegeta's library generates the load. Each server is a process of its own, and servers that are
// compared take turns: their ratio is the median over pairs of runs. Start reading at
// [options.measure] and [alternate].
//
// The package bench/cost checks the allocations and instructions of a request.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

// options are the flags.
type options struct {
	out     string
	runs    int
	length  time.Duration
	records int
	busy    bool
}

func main() {
	var o options
	flag.StringVar(&o.out, "out", "docs/performance.md", "the page to write")
	flag.IntVar(&o.runs, "runs", 9, "runs of each server, after a warm-up run")
	flag.DurationVar(&o.length, "length", 2*time.Second, "length of a run")
	flag.IntVar(&o.records, "records", 1_000_000, "size of the log that growth is measured on")
	flag.BoolVar(&o.busy, "busy", false, "measure although the machine is busy, and say so on the page")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := o.run(ctx, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func (o *options) run(ctx context.Context, args []string) error {
	if o.runs < 1 || o.length <= 0 || o.records < steps {
		return fmt.Errorf("-runs and -length must be above 0, and -records at least %d", steps)
	}
	command := append(args, "")[0]
	switch {
	case len(args) == 0:
		return o.writePage(ctx)
	case command == "compare" && len(args) == 2:
		return o.compare(ctx, args[1])
	case command == "profile" && len(args) == 1:
		return recordProfile(ctx, "cmd/server/default.pgo", 40*time.Second)
	case command == "stream" && len(args) == 1:
		return writeStream(os.Stdout, os.Stderr)
	case command == "serve" && len(args) == 3: // a process started by startHandler
		return serve(ctx, args[1], args[2])
	}
	return errors.New("the command must be compare DIR, profile or stream, or be absent")
}

// progress reports what is being measured.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
