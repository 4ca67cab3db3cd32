// Bench measures the service. Each scenario is a command, in a file of its name:
//
//	go run ./bench --help
//	go run ./bench throughput
//	go run ./bench compare OLD NEW
//
// Servers are processes of their own on this machine, as is the load, so rates mean little by
// themselves: what is compared runs in turn, and the figures that count are medians of the ratios,
// run by run. --quick shows in seconds that a scenario works.
//
// Package load generates the load, service starts what is measured, measure compares it and report
// presents it. What a request allocates and how many instructions it takes is checked by
// bench/cost.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"time"

	"github.com/alecthomas/kong"

	"riffle/bench/measure"
)

type commands struct {
	Kernels     kernelsCommand     `cmd:"" set:"runs=5" help:"Shuffles in process, beside math/rand/v2 and others."`
	Commits     commitsCommand     `cmd:"" set:"runs=7" help:"The ledger's durable commits, beside bare inserts."`
	Throughput  throughputCommand  `cmd:"" set:"runs=9" help:"POST /shuffle, commitments and draws, beside other handlers."`
	Deckofcards deckofcardsCommand `cmd:"" set:"runs=7" help:"Decks of the deckofcardsapi facade, beside a rival."`
	Doors       doorsCommand       `cmd:"" set:"runs=24" help:"What a token and the access log cost."`
	Growth      growthCommand      `cmd:"" help:"A log of a million records or more: whether its cost grows."`
	Performance performanceCommand `cmd:"" set:"runs=5" help:"Write docs/performance.md and its picture."`
	Compare     compareCommand     `cmd:"" set:"runs=12" help:"Compare two versions of the server."`
	Profile     profileCommand     `cmd:"" help:"Make the profile that the service is built by."`
	Rawstream   rawstreamCommand   `cmd:"" help:"Write the raw keystream, for rawstream.sh."`
	Handle      handleCommand      `cmd:"" hidden:""`
}

// timing is how often and how long each contender runs. Commands embed it and set the default of
// Runs.
type timing struct {
	Runs   int           `default:"${runs}" help:"Runs of each contender, after one that does not count."`
	Length time.Duration `default:"1s" help:"Length of a run."`
	Quick  bool          `short:"q" help:"One run of 100ms of each: shows that it works; the figures mean little."`
}

// AfterApply checks the flags.
func (t *timing) AfterApply() error {
	if t.Quick {
		t.Runs, t.Length = 1, 100*time.Millisecond
	}
	if t.Runs < 1 || t.Length <= 0 {
		return errors.New("--runs and --length must be above 0, such as --runs=5 --length=1s")
	}
	return nil
}

func (t *timing) runs() measure.Runs { return measure.Runs{Count: t.Runs, Length: t.Length} }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	command := kong.Parse(&commands{}, kong.Name("bench"), kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Description("Measures the service beside what it is compared with. Run it in the root of the repository."))
	command.FatalIfErrorf(command.Run())
}

// progress tells whoever waits what is being measured.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
