package bench

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
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
}

// A comparison is the ratio of a to b, by rate and by CPU time.
type comparison struct {
	A, B      *contender
	Rate, CPU spread
}

// writePage measures everything and writes the page.
func writePage(ctx context.Context) error {
	return withEnv(ctx, nil, func(e *env) error {
		const patience = 5 * time.Minute
		m, err := newMachine(ctx, e, *busy, patience)
		if err != nil {
			return err
		}
		f, err := measureAll(ctx, e, *runs, *length)
		if err != nil {
			return err
		}
		f.Machine, f.Busy, f.Took = m, m.Load >= maxLoad, time.Since(m.When)
		var page bytes.Buffer
		if err := f.write(&page); err != nil {
			return err
		}
		return errors.Join(os.WriteFile("docs/performance.md", page.Bytes(), 0o644), writeReadme())
	})
}

// What the page says of SQLite over 64 connections, and where the README says the same.
var (
	rateOnPage  = regexp.MustCompile(`\| Riffle on SQLite \| 64 \| ([\d,]+) `)
	ratioOnPage = regexp.MustCompile("\\| `POST /shuffle` \\| 64 \\| the usual handler \\| ([\\d.]+) ")
	inReadme    = regexp.MustCompile(`[\d,]+( shuffles of 52 strings a second[^|]*?That is )[\d.]+( of a plain)`)
)

// writeReadme writes the figures of the page into the README.
func writeReadme() error {
	page, err := os.ReadFile("docs/performance.md")
	readme, errReadme := os.ReadFile("README.md")
	rate, ratio := rateOnPage.FindSubmatch(page), ratioOnPage.FindSubmatch(page)
	if err = errors.Join(err, errReadme); err == nil && (rate == nil || ratio == nil || !inReadme.Match(readme)) {
		err = errors.New("the README or docs/performance.md lacks the figures of SQLite over 64 connections")
	}
	if err != nil {
		return err
	}
	return os.WriteFile("README.md", inReadme.ReplaceAll(readme, fmt.Appendf(nil, "%s${1}%s${2}", rate[1], ratio[1])), 0o644)
}

// measureAll measures the servers of this checkout beside plain handlers.
func measureAll(ctx context.Context, e *env, runs int, length time.Duration) (f *figures, err error) {
	f = &figures{Runs: runs, Length: length}
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
			if err := alternate(ctx, runs, length, list...); err != nil {
				return nil, err
			}
			*part.to = append(*part.to, list...)
			f.Ratios = append(f.Ratios, compared(list[1], list[0]))
		}
	}
	if f.Resident, f.Peak, err = sqlite.memory(); err != nil {
		return nil, err
	}
	return f, nil
}

func compared(a, b *contender) comparison {
	return comparison{a, b, ratios(a.Rates, b.Rates), ratios(a.CPUs, b.CPUs)}
}

// compare prints how the server of this checkout compares with another checkout's.
func compare(ctx context.Context, folder string) error {
	return withEnv(ctx, nil, func(e *env) error {
		other := e.server + "-other"
		if err := build(ctx, folder, other, "./cmd/server"); err != nil {
			return err
		}
		return e.printRatio(ctx, "this", nil, folder, other)
	})
}

// compareYears prints what an anchor, a rotation and a backup that follows cost the server.
func compareYears(ctx context.Context) error {
	return withEnv(ctx, nil, func(e *env) error {
		tool, anchor := filepath.Join(e.folder, "riffle"), filepath.Join(e.folder, "anchor")
		if err := build(ctx, ".", tool, "./cmd/riffle"); err != nil {
			return err
		}
		follow := func(data string) error {
			follower := exec.CommandContext(ctx, tool, "backup", "--follow", "--data", data, "--to", data+"-backup")
			e.processes = append(e.processes, &process{cmd: follower})
			return follower.Start()
		}
		return e.printRatio(ctx, "with anchor and follower", follow, "without", e.server, "-anchor", anchor)
	})
}

// printRatio prints the ratio of the server of this checkout with flags, and something else that uses its
// folder, to another one.
func (e *env) printRatio(ctx context.Context, name string, beside func(data string) error, otherName, other string, flags ...string) error {
	one, err := e.startServer(e.server, "one", flags...)
	if err == nil && beside != nil {
		err = beside(filepath.Join(e.folder, "one"))
	}
	if err != nil {
		return err
	}
	two, err := e.startServer(other, "two")
	if err != nil {
		return err
	}
	a := &contender{Name: name, Connections: 64, Request: shuffle52, server: one}
	b := &contender{Name: otherName, Connections: 64, Request: shuffle52, server: two}
	if err := alternate(ctx, *runs, *length, a, b); err != nil {
		return err
	}
	c := compared(a, b)
	fmt.Printf("POST /shuffle of 52 strings, 64 connections, %s to %s: rate %s, CPU time %s\n", a.Name, b.Name, c.Rate, c.CPU)
	return nil
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
