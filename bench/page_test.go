package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"riffle/bench/measure"
)

// resultOf returns a result whose rates differ from run to run.
func resultOf(name string, connections int, rate float64, p50 time.Duration) measure.Result {
	return measure.Result{
		Name: name, Connections: connections, Rates: []float64{rate, rate * 1.1, rate * 0.9},
		Medians: []time.Duration{p50, p50, p50}, Tails: []time.Duration{3 * p50, 3 * p50, 3 * p50},
		P50: p50, P90: 2 * p50, P99: 3 * p50, Max: 10 * p50, FirstByte: p50 / 2, CPU: 25 * time.Microsecond,
		Idle: 20_000_000, Resident: 30_000_000, Peak: 42_000_000,
	}
}

// everyGoalMet returns figures that meet every goal.
func everyGoalMet() *figures {
	both := func(results ...measure.Result) (list []measure.Result) {
		for _, n := range []int{1, counted} {
			for _, r := range results {
				r.Connections = n
				list = append(list, r)
			}
		}
		return list
	}
	f := &figures{
		Machine: machine{
			When: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Cores: 2, CPU: "Model <1>", Kernel: "6.1", System: "linux/amd64",
			Load: "0.00 0.01 0.02", Fsync: 120 * time.Microsecond, Go: "go1.26", Commit: "0123456789ab", Chi: "v5", SQLite: "v1", JSON: "v0",
			Batched: "v0.1", Postgres: "15.20",
		},
		Runs: measure.Runs{Count: 3, Length: time.Second}, Took: 8 * time.Minute, Binary: 21_500_000, Starts: []time.Duration{40e6, 30e6, 35e6},
		Lists: both(resultOf(nameEcho, 0, 80_000, 600e3), resultOf(nameUsual, 0, 40_000, 1200e3),
			resultOf(nameSQLite, 0, 50_000, 1300e3), resultOf(namePostgres, 0, 30_000, 2e6)),
		Lone:    []measure.Result{resultOf(nameCommit, 1, 7000, 140e3), resultOf(nameSQLite, 1, 5000, 200e3)},
		Decks:   both(resultOf(nameFixed, 0, 85_000, 500e3), resultOf(nameSQLite, 0, 60_000, 1e6), resultOf(namePostgres, 0, 35_000, 2e6)),
		Repeats: both(resultOf(nameSQLite, 0, 1200, 50e6), resultOf(namePostgres, 0, 1300, 40e6)),
		Stream:  []measure.Result{resultOf(nameSQLite, 1, 8, 2e6)},
		Long: both(resultOf(nameEcho, 0, 7000, 1e6), resultOf(nameUsual, 0, 300, 1e6),
			resultOf(nameSQLite, 0, 1300, 1e6), resultOf(namePostgres, 0, 1200, 1e6)),
		Large: []measure.Result{
			resultOf(nameSplit, 1, 60, 15e6), resultOf(nameEcho, 1, 60, 15e6), resultOf(nameUsual, 1, 2, 400e6),
			resultOf(nameSQLite, 1, 45, 22e6), resultOf(namePostgres, 1, 40, 25e6),
		},
		LargeBody: 11_000_012,
		Open: []measure.Result{
			resultOf(nameCommit, 1, 7000, 140e3), resultOf(nameCapacity, counted, 50_000, 1e6),
			resultOf(nameEchoOpen, counted, 35_000, 100e3), resultOf(nameSQLite, counted, 35_000, 150e3),
		},
		Kernels: kernelTimes{},
	}
	for _, cards := range []int{52, 136} {
		for name, ns := range map[string]float64{kernelRiffle: 100, kernelSeek: 120, kernelBatched: 150, kernelPaper: 180, kernelChaCha8: 450, kernelCrypto: 5600} {
			f.Kernels[fmt.Sprintf(name, cards)] = []float64{ns, ns, ns}
		}
	}
	return f
}

func TestGoals(t *testing.T) {
	goals := everyGoalMet().goals()
	for _, g := range goals {
		if g.outcome != met {
			t.Errorf("%s: %s, with %s for %s", g.what, g.outcome, g.got, g.want)
		}
	}
	if len(goals) != 16 {
		t.Errorf("there are %d goals", len(goals))
	}
	slower := func(c *measure.Result) { c.Rates = []float64{1, 1, 1} }
	for what, spoil := range map[string]func(*figures){
		"to the usual handler":      func(f *figures) { find(f.Lists, nameUsual, counted).Rates = []float64{1e6, 1e6, 1e6} },
		"to the echo handler":       func(f *figures) { find(f.Lists, nameEcho, counted).Rates = []float64{1e6, 1e6, 1e6} },
		"to the fixed-body handler": func(f *figures) { slower(find(f.Decks, nameSQLite, counted)) },
		"over HTTP":                 func(f *figures) { slower(find(f.Repeats, nameSQLite, counted)) },
		"in process":                func(f *figures) { copy(f.Kernels.of(kernelSeek, 52), []float64{126, 126, 126}) },
		"136 cards from a ready stream: time, to math/rand": func(f *figures) { copy(f.Kernels.of(kernelChaCha8, 136), []float64{300, 300, 300}) },
		"52 cards from a ready stream: time, to lemire":     func(f *figures) { copy(f.Kernels.of(kernelBatched, 52), []float64{100, 100, 100}) },
		"splitting the body":                                func(f *figures) { slower(find(f.Large, nameSQLite, 0)) },
		"resident memory":                                   func(f *figures) { find(f.Large, nameSQLite, 0).Peak = 65_000_000 },
		"first byte":                                        func(f *figures) { find(f.Stream, nameSQLite, 0).FirstByte = 6e6 },
		"a request over one":                                func(f *figures) { find(f.Lone, nameSQLite, 0).Medians = []time.Duration{1, 291e3, 291e3} },
		"99th percentile":                                   func(f *figures) { find(f.Open, nameSQLite, 0).Tails = []time.Duration{1, 561e3, 561e3} },
		"start to ready":                                    func(f *figures) { f.Starts = []time.Duration{1, 50e6, 50e6} },
		"the binary, stripped":                              func(f *figures) { f.Binary = 25_000_000 },
	} {
		f := everyGoalMet()
		spoil(f)
		missed := 0
		for _, g := range f.goals() {
			if g.outcome == notMet {
				missed++
				if !strings.Contains(g.what, what) {
					t.Errorf("%s: %q is not met, with %s", what, g.what, g.got)
				}
			}
		}
		if missed != 1 {
			t.Errorf("%s: %d goals are not met", what, missed)
		}
	}
}

// renderPage renders the page, which must be the same each time.
func renderPage(t *testing.T, f *figures) string {
	t.Helper()
	got, err := f.page()
	if err != nil {
		t.Fatal(err)
	}
	if again, err := f.page(); err != nil || string(again) != string(got) {
		t.Error("the same figures give another page")
	}
	return string(got)
}

func TestPage(t *testing.T) {
	got := renderPage(t, everyGoalMet())
	for _, line := range []string{
		"| POST /shuffle of 52 strings, to the usual handler | at least 1.00x | 1.25x (1.25 to 1.25) | met |",
		"| 52 cards from a ready stream: time, to lemire/batchedrand on ChaCha8 | below 1.00x | 0.67x (0.67 to 0.67) | met |",
		"| CPU | Model <1> |",
		"| when | 2026-11-21T12:00:00Z, for 8m0s: 3 runs of 1s of each, after one that does not count |",
		"| 64 | Riffle on SQLite | 50,000 | 0.62x | 1.25x | 1.3ms | 2.6ms | 3.9ms | 13ms | 25µs | 30 MB | 42 MB |",
		"| 64 | Riffle on PostgreSQL | 35,000 | 0.41x | 2ms | 4ms | 6ms | 20ms | 25µs | 30 MB | 42 MB |",
		"| Riffle on SQLite | 22ms | 1.33x | 66ms | 25µs | 20 MB | 42 MB |",
		"| echo handler, at the same rate | 100µs | 200µs | 300µs | 1ms |",
		"| Riffle on SQLite, at capacity | 1ms | 2ms | 3ms | 10ms |",
		"| crypto/rand, Int | 5600 ns | 12.44x | 5600 ns | 12.44x |",
		"after 2ms (medians).",
		"The peak of resident memory was 42 MB.",
	} {
		if !strings.Contains(got, line+"\n") {
			t.Errorf("the page lacks\n%s", line)
		}
	}
	for _, text := range []string{"quick run", "not measured", "not met", "The goals are for two cores", "NaN", "%!", "no value", "&lt;"} {
		if strings.Contains(got, text) {
			t.Errorf("the page has %q", text)
		}
	}
	columns := 0
	for line := range strings.Lines(got) {
		n := strings.Count(line, "|")
		if n > 0 && columns > 0 && n != columns {
			t.Errorf("a row has %d columns in a table of %d: %s", n-1, columns-1, line)
		}
		columns = n
	}
}

// fewerFigures returns the figures of a quick run on a machine that lacks whatever may be missing.
func fewerFigures() *figures {
	f := everyGoalMet()
	f.Quick, f.Runs.Count, f.NoPostgres = true, 1, "there is none"
	f.Machine = machine{Cores: 8, Go: "go1.26", CPU: unknown}
	for _, results := range []*[]measure.Result{&f.Lists, &f.Decks, &f.Repeats, &f.Long, &f.Large} {
		*results = slices.DeleteFunc(*results, func(r measure.Result) bool { return r.Name == namePostgres })
		for i := range *results {
			r := &(*results)[i]
			r.CPU, r.Idle, r.Resident, r.Peak = 0, 0, 0, 0
		}
	}
	for _, cards := range []int{52, 136} {
		delete(f.Kernels, fmt.Sprintf(kernelBatched, cards))
	}
	return f
}

func TestPageOfFewerFigures(t *testing.T) {
	got := renderPage(t, fewerFigures())
	for _, text := range []string{
		"**This was a quick run, which shows that the measurements work. Its figures mean little.**",
		"The goals are for two cores; this machine has 8.",
		"| 1 | Riffle on PostgreSQL | not measured |",
		"| 64 | Riffle on PostgreSQL | not measured |",
		"| PostgreSQL | none: there is none |",
		"| the module could not be downloaded; to batching by the paper: 0.56x (0.56 to 0.56) | not measured |",
		"| the system does not say | not measured |",
		"| batchedrand | none: the module github.com/lemire/batchedrand could not be downloaded |",
		"1 run of 1s",
		"| CPU | unknown |",
	} {
		if !strings.Contains(got, text) {
			t.Errorf("the page lacks\n%s", text)
		}
	}
}

func TestPicture(t *testing.T) {
	got, err := everyGoalMet().picture()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{">50,000<", ">1,200,000<", ">22ms<", ">150 ns<", ">jsontext, splitting the body<", ">2 cores, Model &lt;1&gt;, go1.26; medians of 3 runs of 1s; 2026-11-21<"} {
		if !strings.Contains(string(got), text) {
			t.Errorf("the picture lacks %s", text)
		}
	}
	fewer, err := fewerFigures().picture()
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"PostgreSQL", "lemire"} {
		if strings.Contains(string(fewer), text) {
			t.Errorf("the picture has %q, which was not measured", text)
		}
	}
	if !strings.Contains(string(fewer), ">A quick run, whose figures mean little. 8 cores") {
		t.Error("the picture does not say that the run was quick")
	}
}
