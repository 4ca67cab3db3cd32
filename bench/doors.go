package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/report"
	"riffle/bench/service"
	"riffle/internal/access"
)

// doorsCommand measures what a token and the access log cost a POST /shuffle, beside a server that
// has neither. CPU time is the figure that counts. The access log goes to standard error.
type doorsCommand struct {
	timing
	Connections int `default:"64" help:"Connections that send requests."`
	Keys        int `default:"1000" help:"Keys that the server knows."`
}

// Run measures each server and prints ratios to the one without anything.
func (cmd *doorsCommand) Run(ctx context.Context) error {
	return service.WithServer(ctx, func(env *service.Env) error {
		token, file := access.NewToken(), env.Path("riffle.yaml")
		if err := os.WriteFile(file, []byte(keys(cmd.Keys, token)), 0o600); err != nil {
			return err
		}
		authorized := shuffleOf52
		authorized.Header += fmt.Sprintf("Authorization: Bearer %s\r\n", token)
		var contenders []*measure.Contender
		for i, c := range []struct {
			name    string
			request load.Request
			args    []string
		}{
			{"neither", shuffleOf52, []string{"-access-log=false"}},
			{fmt.Sprintf("a token among %d keys", cmd.Keys), authorized, []string{"-access-log=false", "-config", file}},
			{"the access log", shuffleOf52, []string{"-log-level=info"}},
		} {
			server, err := env.StartRiffle(fmt.Sprint("data", i), c.args...)
			if err != nil {
				return err
			}
			contenders = append(contenders, measure.HTTP(c.name, cmd.Connections, load.Repeat(c.request), server))
		}
		results, err := measure.Alternate(ctx, cmd.runs(), contenders...)
		if err != nil {
			return err
		}
		printResults("POST /shuffle of 52 strings", cmd.runs(), results)
		table := report.NewTable(1, "to neither", "rate", "CPU")
		for _, r := range results[1:] {
			table.Row(r.Name, measure.Ratio(r.Rates, results[0].Rates).String(), measure.Ratio(r.CPUs, results[0].CPUs).String())
		}
		fmt.Println(table.Text())
		return nil
	})
}

// keys returns a configuration file with n keys, of which the last has the token.
func keys(n int, token access.Token) string {
	var b strings.Builder
	b.WriteString("keys:\n")
	for i := range n {
		t := token
		if i < n-1 {
			t = access.NewToken()
		}
		fmt.Fprintf(&b, "  - {name: key-%d, sha256: %x, may: [shuffle, deal, read]}\n", i, t.Digest())
	}
	return b.String()
}
