package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/report"
	"riffle/bench/service"
)

// compareCommand measures two versions of the server on SQLite. A ratio below 1 of the rates says
// that the new one is slower; CPU time varies less than rates do on a busy machine.
type compareCommand struct {
	timing
	Connections int    `default:"64" help:"Connections that send requests. The list of a million items is sent over one."`
	Markdown    bool   `help:"Print the table as Markdown."`
	Old         string `arg:"" help:"The old server: a binary, or a checkout to build it from."`
	New         string `arg:"" help:"The new server, likewise."`
}

// Run measures both versions and prints the ratios.
func (cmd *compareCommand) Run(ctx context.Context) error {
	return service.WithEnv(ctx, func(env *service.Env) error {
		older, err := startVersion(ctx, env, cmd.Old, "old")
		if err != nil {
			return err
		}
		newer, err := startVersion(ctx, env, cmd.New, "new")
		if err != nil {
			return err
		}
		table := report.NewTable(1, "request", "connections", "old/s", "new/s", "rate, new/old", "CPU, new/old", "p99 old", "p99 new")
		for _, s := range []struct {
			name        string
			connections int
			exchange    func() load.Exchange
		}{
			{"POST /shuffle of 52 strings", cmd.Connections, load.Repeat(shuffleOf52)},
			{"GET /decks/standard52", cmd.Connections, load.Repeat(deckOf52)},
			{"a draw from a shoe", cmd.Connections, draws},
			{"a retry with Idempotency-Key", cmd.Connections, retries()},
			{"a list of 1,000,000 items", 1, load.Repeat(load.Post("/shuffle", items(itemsOfLarge)))},
		} {
			progress("%s", s.name)
			results, err := measure.Alternate(ctx, cmd.runs(),
				measure.HTTP("old", s.connections, s.exchange, older), measure.HTTP("new", s.connections, s.exchange, newer))
			if err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			before, after := &results[0], &results[1]
			table.Row(s.name, fmt.Sprint(s.connections), report.Count(before.Rate()), report.Count(after.Rate()),
				measure.Ratio(after.Rates, before.Rates).String(), measure.Ratio(after.CPUs, before.CPUs).String(), report.Span(before.P99), report.Span(after.P99))
		}
		fmt.Printf("%s; SQLite, %s of each, in turn; medians and ranges\n\n", report.Machine(), cmd.runs())
		if cmd.Markdown {
			fmt.Println(table.Markdown())
		} else {
			fmt.Print(table.Text())
		}
		return nil
	})
}

// startVersion starts the server of a binary or of a checkout.
func startVersion(ctx context.Context, env *service.Env, path, name string) (*service.Process, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	binary, err := filepath.Abs(path) // a bare name would be looked up in PATH
	if err == nil && info.IsDir() {
		binary = env.Path(name + "-server")
		err = service.Build(ctx, path, binary)
	}
	if err != nil {
		return nil, err
	}
	return env.StartServer(binary, name)
}
