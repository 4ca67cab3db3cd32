package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"riffle/bench/contest"
)

// A contender is one that is measured, with what its runs left.
type contender struct {
	*contest.Contender
	name        string
	connections int
	server      *server // nil for what runs in this process
	runs        []tally
	cpus        []time.Duration // run by run
}

// newContender returns a contender that does so in each run.
func newContender(name string, connections int, s *server, do func(context.Context) (*tally, error)) *contender {
	c := &contender{name: name, connections: connections, server: s}
	run := func(ctx context.Context) (contest.Outcome, error) {
		var before time.Duration
		if s != nil {
			before = s.cpu()
		}
		t, err := do(ctx)
		if err != nil {
			return contest.Outcome{}, err
		}
		if s != nil {
			c.cpus = append(c.cpus, s.cpu()-before)
		}
		if len(t.latencies) == 0 {
			return contest.Outcome{}, errors.New("nothing was answered in a run; let it be longer")
		}
		c.runs = append(c.runs, *t)
		return contest.Outcome{Done: len(t.latencies), Took: t.took}, nil
	}
	c.Contender = &contest.Contender{Name: fmt.Sprintf("%s, %d connections", name, connections), Run: run}
	return c
}

// asking returns a contender whose connections ask over and over.
func asking(name string, s *server, r *request, connections int) *contender {
	return newContender(name, connections, s, func(ctx context.Context) (*tally, error) {
		return closedLoop(ctx, s.addr, r, connections)
	})
}

// hold has contenders run in turn, and returns their cells.
func hold(ctx context.Context, s *settings, contenders ...*contender) ([]cell, error) {
	var list []*contest.Contender
	for _, c := range contenders {
		list = append(list, c.Contender)
		if c.server != nil {
			forgetPeak(c.server.process.Process.Pid)
		}
	}
	if err := contest.Hold(ctx, s.runs, s.length, list...); err != nil {
		return nil, err
	}
	var cells []cell
	for _, c := range contenders {
		cells = append(cells, c.cell())
	}
	return cells, nil
}

// cell sums up the runs, but for the first, which does not count.
func (c *contender) cell() cell {
	sum := cell{Name: c.name, Connections: c.connections, Rates: c.Rates()}
	var all tally
	for _, run := range c.runs[1:] {
		slices.Sort(run.latencies)
		sum.Medians = append(sum.Medians, percentile(run.latencies, 50))
		sum.Tails = append(sum.Tails, percentile(run.latencies, 99))
		all.add(&run)
	}
	slices.Sort(all.latencies)
	sum.P50, sum.P90, sum.P99 = percentile(all.latencies, 50), percentile(all.latencies, 90), percentile(all.latencies, 99)
	sum.Max = all.latencies[len(all.latencies)-1]
	if len(all.firsts) > 0 {
		slices.Sort(all.firsts)
		sum.First = percentile(all.firsts, 50)
	}
	if c.server != nil {
		var spent time.Duration
		for _, cpu := range c.cpus[1:] {
			spent += cpu
		}
		sum.CPU = spent / time.Duration(len(all.latencies))
		sum.Resident, sum.Peak = memory(c.server.process.Process.Pid)
		sum.Idle = c.server.idle
	}
	return sum
}

// The names of contenders on the page.
const (
	nameEcho     = "echo handler"
	nameFixed    = "fixed-body handler"
	nameUsual    = "usual handler"
	nameSQLite   = "Riffle on SQLite"
	namePostgres = "Riffle on PostgreSQL"
	nameCommit   = "a durable commit of one record"
	nameCapacity = "Riffle on SQLite, at capacity"
	nameEchoPace = "echo handler, as often"
	nameSplit    = "jsontext, splitting the body"
)

// The sizes of what is asked for.
const (
	decksOfRepeat = 1000
	decksOfStream = 190_000 // as many decks as -max-results allows, nearly
	itemsOfLarge  = 1_000_000
)

// served measures what is asked over HTTP, and what it is measured by in this process.
func served(ctx context.Context, s *settings, f *figures, binary string) (err error) {
	field, err := newField(ctx, binary, s.folder)
	defer func() { err = errors.Join(err, field.stop()) }()
	if err != nil {
		return err
	}
	f.NoPostgres, f.Machine.Postgres = field.noPostgres, field.pgVersion
	commit, closeStore, err := newCommit(ctx, s.folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, closeStore()) }()
	for _, part := range []func() error{
		func() (err error) { f.Lists, err = lists(ctx, s, field); return err },
		func() (err error) { f.Lone, err = lone(ctx, s, field, commit()); return err },
		func() (err error) { f.Paced, err = paced(ctx, s, field, commit()); return err },
		func() (err error) { f.Decks, err = decks(ctx, s, field); return err },
		func() (err error) { f.Repeats, err = repeats(ctx, s, field); return err },
		func() (err error) { f.Stream, err = streams(ctx, s, field); return err },
		func() (err error) { f.Long, err = long(ctx, s, field); return err },
		func() error { return large(ctx, s, field, f) },
	} {
		if err := part(); err != nil {
			return err
		}
	}
	return nil
}

var (
	shuffleOf52  = &request{"POST", "/shuffle", cards()}
	deckOf52     = &request{"GET", "/decks/standard52", ""}
	shuffleOf10k = &request{"POST", "/shuffle", items(10_000)}
	repeatOf1000 = &request{"POST", "/shuffle", fmt.Sprintf(`{"deck":"standard52","repeat":%d}`, decksOfRepeat)}
)

// cards is a body of 52 strings.
func cards() string {
	var list []string
	for _, suit := range "SHDC" {
		for _, rank := range "A23456789TJQK" {
			list = append(list, fmt.Sprintf("%q", string(rank)+string(suit)))
		}
	}
	return `{"items":[` + strings.Join(list, ",") + `]}`
}

// items is a body of so many strings of ten bytes each.
func items(count int) string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range count {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%08d"`, i)
	}
	b.WriteString("]}")
	return b.String()
}

// An entrant is a server by its name on the page.
type entrant struct {
	name   string
	server *server
}

// asked measures a request of each server at each number of connections.
func asked(ctx context.Context, s *settings, what string, r *request, entrants ...entrant) (all []cell, err error) {
	for _, connections := range s.connections {
		say("%s, %d connections", what, connections)
		var contenders []*contender
		for _, e := range entrants {
			if e.server != nil {
				contenders = append(contenders, asking(e.name, e.server, r, connections))
			}
		}
		cells, err := hold(ctx, s, contenders...)
		if err != nil {
			return nil, err
		}
		all = append(all, cells...)
	}
	return all, nil
}

func lists(ctx context.Context, s *settings, f *field) ([]cell, error) {
	return asked(ctx, s, "52 strings", shuffleOf52, entrant{nameEcho, f.echo}, entrant{nameUsual, f.usual}, entrant{nameSQLite, f.sqlite}, entrant{namePostgres, f.postgres})
}

func decks(ctx context.Context, s *settings, f *field) ([]cell, error) {
	return asked(ctx, s, "a deck", deckOf52, entrant{nameFixed, f.fixed}, entrant{nameSQLite, f.sqlite}, entrant{namePostgres, f.postgres})
}

func repeats(ctx context.Context, s *settings, f *field) ([]cell, error) {
	return asked(ctx, s, "1,000 decks", repeatOf1000, entrant{nameSQLite, f.sqlite}, entrant{namePostgres, f.postgres})
}

func long(ctx context.Context, s *settings, f *field) ([]cell, error) {
	return asked(ctx, s, "10,000 items", shuffleOf10k, entrant{nameEcho, f.echo}, entrant{nameUsual, f.usual}, entrant{nameSQLite, f.sqlite}, entrant{namePostgres, f.postgres})
}

// lone measures one who asks alone, beside the commit that each answer waits for.
func lone(ctx context.Context, s *settings, f *field, commit *contender) ([]cell, error) {
	say("a lone request and a commit")
	return hold(ctx, s, commit, asking(nameSQLite, f.sqlite, shuffleOf52, 1))
}

// streams measures answers that are as long as they may be.
func streams(ctx context.Context, s *settings, f *field) ([]cell, error) {
	say("%d decks", decksOfStream)
	r := &request{"POST", "/shuffle", fmt.Sprintf(`{"deck":"standard52","repeat":%d}`, decksOfStream)}
	return hold(ctx, s, asking(nameSQLite, f.sqlite, r, 1))
}

// large measures the longest bodies, one at a time, beside what splitting them takes.
func large(ctx context.Context, s *settings, field *field, f *figures) (err error) {
	say("%d items", itemsOfLarge)
	r := &request{"POST", "/shuffle", items(itemsOfLarge)}
	f.LargeBody = int64(len(r.body))
	contenders := []*contender{
		newSplit([]byte(r.body)), asking(nameEcho, field.echo, r, 1), asking(nameUsual, field.usual, r, 1), asking(nameSQLite, field.large, r, 1),
	}
	if field.postgres != nil {
		contenders = append(contenders, asking(namePostgres, field.postgres, r, 1))
	}
	f.Large, err = hold(ctx, s, contenders...)
	return err
}

// paced measures latencies at 70% of capacity, which is what a closed loop was answered in the run before, beside a commit and
// beside the echo handler, whose tail is what the machine and the load make of a request that waits for nothing.
func paced(ctx context.Context, s *settings, f *field, commit *contender) ([]cell, error) {
	say("at 70%% of capacity")
	capacity := asking(nameCapacity, f.sqlite, shuffleOf52, counted)
	open := func(name string, server *server) *contender {
		return newContender(name, counted, server, func(ctx context.Context) (*tally, error) {
			before := capacity.runs[len(capacity.runs)-1]
			return openLoop(ctx, server.addr, shuffleOf52, counted, 0.7*float64(len(before.latencies))/before.took.Seconds())
		})
	}
	return hold(ctx, s, commit, capacity, open(nameEchoPace, f.echo), open(nameSQLite, f.sqlite))
}
