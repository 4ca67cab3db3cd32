package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/service"
)

// performanceCommand measures the service beside what it is compared with, all in one go on one
// machine, and writes performance.md and performance.svg: what was measured, on what, and which
// goals are met. The page is rendered in page.go.
type performanceCommand struct {
	timing
	Out string `default:"docs" type:"existingdir" help:"Folder for performance.md and performance.svg."`
}

// counted is the number of connections that the goals are about. It is among those of every table.
const counted = 64

// The names of contenders.
const (
	nameEcho     = "echo handler"
	nameFixed    = "fixed-body handler"
	nameUsual    = "usual handler"
	nameSQLite   = "Riffle on SQLite"
	namePostgres = "Riffle on PostgreSQL"
	nameCommit   = "a durable commit of one record"
	nameCapacity = "Riffle on SQLite, at capacity"
	nameEchoOpen = "echo handler, at the same rate"
	nameSplit    = "jsontext, splitting the body"
)

// decksOfStream is nearly as many decks as the server's default of -max-results allows.
const decksOfStream = 190_000

// figures are everything that was measured. The page and the picture are made of them and of
// nothing else.
type figures struct {
	Machine    machine
	Runs       measure.Runs
	Quick      bool
	Took       time.Duration
	NoPostgres string // why nothing was measured on PostgreSQL; empty if it was

	Binary    int64            // bytes
	Starts    []time.Duration  // from the start of the process until it is ready
	Lists     []measure.Result // POST /shuffle of 52 strings
	Lone      []measure.Result // the same over one connection, beside a commit
	Open      []measure.Result // the same at capacity and at 70% of it, beside a commit
	Decks     []measure.Result // GET /decks/standard52
	Repeats   []measure.Result // repeat of 1,000 decks
	Stream    []measure.Result // repeat of decksOfStream
	Long      []measure.Result // 10,000 items
	Large     []measure.Result // 1,000,000 items
	LargeBody int64            // bytes
	Kernels   kernelTimes
}

// Run measures everything, writes the page and the picture, and prints how the goals fare.
func (cmd *performanceCommand) Run(ctx context.Context) error {
	f := &figures{Runs: cmd.runs(), Quick: cmd.Quick}
	began := time.Now()
	if err := service.WithServer(ctx, func(env *service.Env) error { return f.measure(ctx, env) }); err != nil {
		return err
	}
	f.Took = time.Since(began)
	page, err := f.page()
	if err != nil {
		return err
	}
	picture, err := f.picture()
	if err != nil {
		return err
	}
	fmt.Println(f.goalTable().Text())
	return errors.Join(
		os.WriteFile(filepath.Join(cmd.Out, "performance.md"), page, 0o644),
		os.WriteFile(filepath.Join(cmd.Out, "performance.svg"), picture, 0o644),
	)
}

func (f *figures) measure(ctx context.Context, env *service.Env) (err error) {
	if f.Machine, err = newMachine(env); err != nil {
		return err
	}
	info, err := os.Stat(env.Server)
	if err != nil {
		return err
	}
	f.Binary = info.Size()
	for i := range 2*f.Runs.Count + 1 {
		p, err := env.StartRiffle(fmt.Sprint("start", i))
		if err != nil {
			return err
		}
		f.Starts = append(f.Starts, p.Took)
		if err := p.Finish(os.Interrupt); err != nil {
			return err
		}
	}
	if err := f.measureServers(ctx, env); err != nil {
		return err
	}
	progress("kernels")
	f.Kernels, f.Machine.Batched, err = measureKernels(ctx, env.Folder, f.Runs)
	return err
}

// servers are the processes that are measured. postgres is nil where PostgreSQL is not installed.
type servers struct {
	echo, usual, fixed, sqlite, large, postgres *service.Process // large is for the longest bodies
}

func (f *figures) startServers(env *service.Env) (s servers, err error) {
	for _, h := range []struct {
		name string
		to   **service.Process
	}{{echoHandler, &s.echo}, {usualHandler, &s.usual}, {fixedHandler, &s.fixed}} {
		if *h.to, err = startHandler(env, h.name); err != nil {
			return s, err
		}
	}
	if s.sqlite, err = env.StartRiffle("sqlite"); err != nil {
		return s, err
	}
	if s.large, err = env.StartRiffle("large"); err != nil {
		return s, err
	}
	database, err := env.StartPostgres()
	if errors.Is(err, service.ErrNoPostgres) {
		f.NoPostgres = "there is no PostgreSQL server on this machine"
		return s, nil
	} else if err != nil {
		return s, err
	}
	f.Machine.Postgres = database.Version
	s.postgres, err = env.StartOn(database, "postgres")
	return s, err
}

// measureServers measures what is asked over HTTP, and the work in this process that it is compared
// with.
func (f *figures) measureServers(ctx context.Context, env *service.Env) (err error) {
	s, err := f.startServers(env)
	if err != nil {
		return err
	}
	store, err := newStore(ctx, env.Path("commits.db"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	commit := store.commits(ctx, nameCommit)
	riffle := []entrant{{nameSQLite, s.sqlite}, {namePostgres, s.postgres}}
	shufflers := append([]entrant{{nameEcho, s.echo}, {nameUsual, s.usual}}, riffle...)
	large := load.Post("/shuffle", items(itemsOfLarge))
	f.LargeBody = int64(len(large.Body))
	stream := load.Post("/shuffle", fmt.Sprintf(`{"deck":"standard52","repeat":%d}`, decksOfStream))
	single := []int{1}
	every := []int{1, 16, counted, 256}
	if f.Quick {
		every = []int{1, counted}
	}
	for _, part := range []struct {
		name        string
		to          *[]measure.Result
		connections []int
		request     load.Request
		beside      []*measure.Contender
		entrants    []entrant
	}{
		{"52 strings", &f.Lists, every, shuffleOf52, nil, shufflers},
		{"one connection alone, beside a commit", &f.Lone, single, shuffleOf52, []*measure.Contender{commit}, riffle[:1]},
		{"a deck", &f.Decks, every, deckOf52, nil, append([]entrant{{nameFixed, s.fixed}}, riffle...)},
		{"1,000 decks", &f.Repeats, every, repeatOf1000, nil, riffle},
		{"the longest response", &f.Stream, single, stream, nil, riffle[:1]},
		{"10,000 items", &f.Long, every, shuffleOf10k, nil, shufflers},
		{
			"1,000,000 items", &f.Large, single, large,
			[]*measure.Contender{splitting([]byte(large.Body))},
			[]entrant{{nameEcho, s.echo}, {nameUsual, s.usual}, {nameSQLite, s.large}, {namePostgres, s.postgres}},
		},
	} {
		for _, n := range part.connections {
			progress("%s, %d connections", part.name, n)
			results, err := measure.Alternate(ctx, f.Runs, append(part.beside, contenders(part.request, n, part.entrants)...)...)
			if err != nil {
				return fmt.Errorf("%s: %w", part.name, err)
			}
			*part.to = append(*part.to, results...)
		}
	}
	progress("70%% of capacity")
	f.Open, err = measureOpen(ctx, f.Runs, s, commit)
	return err
}

// An entrant is a server by its name on the page.
type entrant struct {
	name   string
	server *service.Process // nil for one that could not be started
}

// contenders have each server answer the same request.
func contenders(r load.Request, connections int, entrants []entrant) (list []*measure.Contender) {
	for _, e := range entrants {
		if e.server != nil {
			list = append(list, measure.HTTP(e.name, connections, load.Repeat(r), e.server))
		}
	}
	return list
}

// measureOpen measures latencies at 70% of capacity, which is the rate of the last closed loop,
// beside a commit and beside the echo handler, whose tail is what the machine and the load
// generator make of a request that waits for no disk.
func measureOpen(ctx context.Context, runs measure.Runs, s servers, commit *measure.Contender) ([]measure.Result, error) {
	capacity := measure.HTTP(nameCapacity, counted, load.Repeat(shuffleOf52), s.sqlite)
	closed, rate := capacity.Run, 0.0
	capacity.Run = func(ctx context.Context) (*load.Tally, error) {
		t, err := closed(ctx)
		if err == nil {
			rate = t.Rate()
		}
		return t, err
	}
	open := func(name string, server *service.Process) *measure.Contender {
		run := func(ctx context.Context) (*load.Tally, error) {
			return load.Open(ctx, server.Addr, shuffleOf52, counted, 0.7*rate)
		}
		return &measure.Contender{Name: name, Connections: counted, Servers: []*service.Process{server}, Run: run}
	}
	return measure.Alternate(ctx, runs, commit, capacity, open(nameEchoOpen, s.echo), open(nameSQLite, s.sqlite))
}

// splitting returns a contender that finds the items of a body and does nothing with them.
func splitting(body []byte) *measure.Contender {
	return measure.Loop(nameSplit, func() (time.Duration, error) {
		began := time.Now()
		if n, err := split(body); err != nil || n != itemsOfLarge {
			return 0, fmt.Errorf("found %d items: %w", n, err)
		}
		return time.Since(began), nil
	})
}

// split returns how many items a body of nothing else has.
func split(body []byte) (count int, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body)) // reads a Buffer in place
	for range 3 {                                   // {, "items", [
		if _, err := d.ReadToken(); err != nil {
			return 0, err
		}
	}
	for ; d.PeekKind() != ']'; count++ {
		if _, err := d.ReadValue(); err != nil {
			return count, err
		}
	}
	for range 2 { // ], }
		if _, err := d.ReadToken(); err != nil {
			return count, err
		}
	}
	return count, nil
}
