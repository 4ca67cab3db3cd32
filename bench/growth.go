package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/report"
	"riffle/bench/service"
)

// growthCommand fills a log with records of GET /decks/standard52 with a reference and measures,
// tenth by tenth, whether the cost stays what it was: shuffling, looking records up by id and by
// reference, proving them, the size on disk, and the start of a server on the log.
type growthCommand struct {
	Records     int  `default:"1000000" help:"Records that the log gets."`
	Connections int  `default:"256" help:"Connections that shuffle."`
	Quick       bool `short:"q" help:"10,000 records: shows that it works; the figures mean little."`
}

// Run fills the log and prints a row for each tenth.
func (cmd *growthCommand) Run(ctx context.Context) error {
	if cmd.Quick {
		cmd.Records = 10_000
	}
	return service.WithServer(ctx, func(env *service.Env) error {
		server, err := env.StartRiffle("data")
		if err != nil {
			return err
		}
		table := report.NewTable(0, "records", "shuffles/s", "by id", "by reference", "proof", "bytes/record")
		f := &filler{addr: server.Addr, connections: cmd.Connections}
		const steps = 10
		for step := range steps {
			from, to := step*cmd.Records/steps, (step+1)*cmd.Records/steps
			rate, err := f.shuffle(ctx, from, to)
			if err != nil {
				return err
			}
			times, err := f.lookUp(ctx)
			if err != nil {
				return err
			}
			size, err := sizeOf(env.Path("data"))
			if err != nil {
				return err
			}
			progress("%s records", report.Count(float64(to)))
			table.Row(report.Count(float64(to)), report.Count(rate), report.Span(times[0]), report.Span(times[1]), report.Span(times[2]),
				fmt.Sprintf("%.1f", float64(size)/float64(to)))
		}
		if err := server.Finish(os.Interrupt); err != nil {
			return err
		}
		size, err := sizeOf(env.Path("data"))
		if err != nil {
			return err
		}
		if server, err = env.StartRiffle("data"); err != nil {
			return err
		}
		fmt.Printf("%s; SQLite, %d connections; times are medians\n\n%s\n", report.Machine(), cmd.Connections, table.Text())
		fmt.Printf("after a stop: %.1f bytes per record; a server is ready after %s\n", float64(size)/float64(cmd.Records), report.Span(server.Took))
		return nil
	})
}

// A filler makes records and remembers some of them to look up.
type filler struct {
	addr        string
	connections int

	mu      sync.Mutex
	samples []sample
}

type sample struct{ id, reference string }

// samplesPerStep is how many records of each tenth are looked up.
const samplesPerStep = 200

// shuffle makes the records from one number up to another and returns how many per second.
func (f *filler) shuffle(ctx context.Context, from, to int) (rate float64, err error) {
	sampleEvery := (to - from + samplesPerStep - 1) / samplesPerStep
	var next atomic.Int64
	next.Store(int64(from))
	t, err := load.Closed(ctx, load.Target{Addrs: []string{f.addr}, Connections: f.connections, Exchange: func() load.Exchange {
		return func(c *load.Conn) error {
			n := int(next.Add(1)) - 1
			if n >= to {
				return load.ErrDone
			}
			const attempts = 4 // at the same game, and so under one reference
			reference := fmt.Sprintf("table 12, game %d", n/attempts)
			r := load.Get("/decks/standard52?reference=" + url.QueryEscape(reference))
			if n%sampleEvery != 0 {
				return c.Send(r)
			}
			var made struct {
				ID string `json:"audit_id"`
			}
			err := fetchJSON(c, r, &made)
			f.mu.Lock()
			f.samples = append(f.samples, sample{made.ID, reference})
			f.mu.Unlock()
			return err
		}
	}})
	if err := errors.Join(err, ctx.Err()); err != nil {
		return 0, err
	}
	return t.Rate(), nil
}

// lookUp looks up all samples, from the first record to the last: by id, by reference, and with a
// proof.
func (f *filler) lookUp(ctx context.Context) (medians [3]time.Duration, err error) {
	for i, path := range []func(sample) string{
		func(s sample) string { return "/audits/" + s.id },
		func(s sample) string { return "/audits?reference=" + url.QueryEscape(s.reference) },
		func(s sample) string { return "/audits/" + s.id + "/proof" },
	} {
		remaining := f.samples
		t, err := load.Closed(ctx, load.Target{Addrs: []string{f.addr}, Connections: 1, Exchange: func() load.Exchange {
			return func(c *load.Conn) error {
				if len(remaining) == 0 {
					return load.ErrDone
				}
				s := remaining[0]
				remaining = remaining[1:]
				return c.Send(load.Get(path(s)))
			}
		}})
		if err := errors.Join(err, ctx.Err()); err != nil {
			return medians, err
		}
		slices.Sort(t.Latencies)
		medians[i] = measure.Percentile(t.Latencies, 50)
	}
	return medians, nil
}

// sizeOf returns the size of all files in a folder.
func sizeOf(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // a temporary file of the server
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
