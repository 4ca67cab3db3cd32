package main

import (
	"context"
	"fmt"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/service"
)

// throughputCommand measures POST /shuffle of 52 strings, durable and in the log, beside a handler
// that echoes the same body and the usual handler, beside the same shuffle with a commitment made
// first, beside draws from shoes, and on PostgreSQL behind two replicas.
type throughputCommand struct {
	timing
	Connections []int `default:"64,256" help:"Numbers of connections."`
	Postgres    bool  `default:"true" negatable:"" help:"With two replicas on a PostgreSQL server that is started for it."`
}

// Run measures throughput at each number of connections and prints rates and ratios.
func (cmd *throughputCommand) Run(ctx context.Context) error {
	return service.WithServer(ctx, func(env *service.Env) error {
		echo, err := startHandler(env, echoHandler)
		if err != nil {
			return err
		}
		usual, err := startHandler(env, usualHandler)
		if err != nil {
			return err
		}
		sqlite, err := env.StartRiffle("data")
		if err != nil {
			return err
		}
		var replicas []*service.Process
		if cmd.Postgres {
			if replicas, err = startReplicas(env); err != nil {
				return err
			}
		}
		for _, n := range cmd.Connections {
			progress("throughput of %d connections", n)
			contenders := []*measure.Contender{
				measure.HTTP(nameEcho, n, load.Repeat(shuffleOf52), echo), measure.HTTP(nameUsual, n, load.Repeat(shuffleOf52), usual),
				measure.HTTP(nameSQLite, n, load.Repeat(shuffleOf52), sqlite), measure.HTTP("the same, committed to first", n, committedShuffles, sqlite),
				measure.HTTP("draws, each connection from its own shoe", n, draws, sqlite),
			}
			if replicas != nil {
				contenders = append(contenders, measure.HTTP("Riffle on PostgreSQL, two replicas", n, load.Repeat(shuffleOf52), replicas...))
			}
			results, err := measure.Alternate(ctx, cmd.runs(), contenders...)
			if err != nil {
				return err
			}
			printResults("POST /shuffle of 52 strings", cmd.runs(), results)
			shuffles := &results[2]
			ratios := []ratio{
				{"Riffle on SQLite, to the echo handler", shuffles, &results[0]},
				{"Riffle on SQLite, to the usual handler", shuffles, &results[1]},
				{"time of a committed shuffle, to a plain one", shuffles, &results[3]},
				{"draws, to shuffles", &results[4], shuffles},
			}
			if replicas != nil {
				ratios = append(ratios, ratio{"two replicas on PostgreSQL, to SQLite", &results[5], shuffles})
			}
			printRatios(ratios...)
		}
		return nil
	})
}

// startReplicas starts two servers with one key on a PostgreSQL server.
func startReplicas(env *service.Env) (replicas []*service.Process, err error) {
	database, err := env.StartPostgres()
	if err != nil {
		return nil, fmt.Errorf("%w; or pass --no-postgres", err)
	}
	for _, name := range []string{"replica1", "replica2"} {
		p, err := env.StartOn(database, name, "-key", env.Path("shared.key"))
		if err != nil {
			return nil, err
		}
		replicas = append(replicas, p)
	}
	return replicas, nil
}
