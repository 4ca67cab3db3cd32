package main

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"text/template"
	"time"

	"github.com/dustin/go-humanize"

	"riffle/internal/ledger/postgres/postgrestest"
)

// figures are what was measured. The page is made of them alone.
type figures struct {
	Machine  machine
	Busy     bool
	Runs     int
	Length   time.Duration
	Took     time.Duration
	Binary   int64 // bytes
	Start    time.Duration
	Shuffles []*contender // POST /shuffle of 52 strings
	Decks    []*contender // GET /decks/standard52
	Ratios   []comparison

	Idle, Resident, Peak int64 // bytes of the server on SQLite
	Growth               []step
	Restart              time.Duration // on the full log
}

// A comparison is the ratio of a to b, by rate and by CPU time.
type comparison struct {
	A, B      *contender
	Rate, CPU spread
}

// writePage measures everything and writes the page.
func (o *options) writePage(ctx context.Context) error {
	return withEnv(ctx, nil, func(e *env) error {
		const patience = 5 * time.Minute
		m, err := newMachine(ctx, e, o.busy, patience)
		if err != nil {
			return err
		}
		f, err := o.measure(ctx, e)
		if err != nil {
			return err
		}
		f.Machine, f.Busy, f.Took = m, m.Load >= maxLoad, time.Since(m.When)
		var page bytes.Buffer
		if err := f.write(&page); err != nil {
			return err
		}
		return os.WriteFile(o.out, page.Bytes(), 0o644)
	})
}

// measure measures the servers of this checkout beside plain handlers.
func (o *options) measure(ctx context.Context, e *env) (f *figures, err error) {
	f = &figures{Runs: o.runs, Length: o.length}
	info, err := os.Stat(e.server)
	if err != nil {
		return nil, err
	}
	f.Binary = info.Size()
	sqlite, err := e.startServer(e.server, "sqlite")
	if err != nil {
		return nil, err
	}
	f.Start, f.Idle = sqlite.ready, sqlite.idle
	var postgres *process // nil if PostgreSQL is not installed
	cluster, err := postgrestest.Start()
	if err == nil {
		defer func() { err = errors.Join(err, cluster.Close()) }()
		postgres, err = e.startServer(e.server, "postgres", "-store", cluster.URL("postgres"))
	}
	if err != nil && !errors.Is(err, postgrestest.ErrMissing) {
		return nil, err
	}
	for _, part := range []struct {
		load  request
		plain string
		to    *[]*contender
	}{{shuffle52, "usual", &f.Shuffles}, {deck52, "fixed", &f.Decks}} {
		plain, err := startHandler(e, part.plain)
		if err != nil {
			return nil, err
		}
		for _, n := range []int{1, 64} {
			progress("%s, connections: %d", part.load, n)
			list := []*contender{
				{Name: "the " + part.plain + " handler", server: plain},
				{Name: "Riffle on SQLite", server: sqlite},
			}
			if postgres != nil {
				list = append(list, &contender{Name: "Riffle on PostgreSQL", server: postgres})
			}
			for _, c := range list {
				c.Connections, c.Request = n, part.load
			}
			if err := alternate(ctx, o.runs, o.length, list...); err != nil {
				return nil, err
			}
			*part.to = append(*part.to, list...)
			f.Ratios = append(f.Ratios, compared(list[1], list[0]))
		}
	}
	if f.Resident, f.Peak, err = sqlite.memory(); err != nil {
		return nil, err
	}
	f.Growth, f.Restart, err = o.growth(ctx, e)
	return f, err
}

func compared(a, b *contender) comparison {
	return comparison{a, b, ratios(a.Rates, b.Rates), ratios(a.CPUs, b.CPUs)}
}

// compare prints how the server of this checkout compares with another checkout's.
func (o *options) compare(ctx context.Context, folder string) error {
	return withEnv(ctx, nil, func(e *env) error {
		other := e.server + "-other"
		if err := build(ctx, folder, other); err != nil {
			return err
		}
		var list []*contender
		for _, binary := range []string{e.server, other} {
			server, err := e.startServer(binary, filepath.Base(binary)+"-data")
			if err != nil {
				return err
			}
			list = append(list, &contender{Name: filepath.Base(binary), Connections: 64, Request: shuffle52, server: server})
		}
		if err := alternate(ctx, o.runs, o.length, list...); err != nil {
			return err
		}
		c := compared(list[0], list[1])
		fmt.Printf("POST /shuffle of 52 strings, 64 connections, this to %s: rate %s, CPU time %s\n", folder, c.Rate, c.CPU)
		return nil
	})
}

//go:embed page.md.tmpl
var pageText string

func (f *figures) write(w io.Writer) error {
	t, err := template.New("page.md.tmpl").Funcs(template.FuncMap{
		"count": func(n float64) string { return humanize.Comma(int64(math.Round(n))) },
		"whole": func(n int) string { return humanize.Comma(int64(n)) },
		"size":  func(n int64) string { return humanize.SIWithDigits(float64(n), 1, "B") },
		"time":  func(seconds float64) string { return humanize.SIWithDigits(seconds, 2, "s") },
	}).Parse(pageText)
	if err != nil {
		return err
	}
	return t.Execute(w, f)
}
