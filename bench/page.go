package main

import (
	"bytes"
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
	"time"

	"riffle/bench/measure"
	"riffle/bench/report"
)

//go:embed page.md.tmpl
var pageText string

// page renders docs/performance.md. The template calls the methods of figures below.
func (f *figures) page() ([]byte, error) {
	t, err := template.New("page.md.tmpl").Funcs(template.FuncMap{
		"count": report.Count, "size": report.Size, "span": report.Span, "median": measure.Median[time.Duration],
		"min": slices.Min[[]time.Duration], "max": slices.Max[[]time.Duration],
	}).Parse(pageText)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = t.Execute(&b, f)
	return b.Bytes(), err
}

// Goals returns the table of goals.
func (f *figures) Goals() string { return f.goalTable().Markdown() }

// MachineTable says what was measured on.
func (f *figures) MachineTable() string {
	m := &f.Machine
	t := report.NewTable(2, "", "")
	t.Row("cores", fmt.Sprint(m.Cores))
	t.Row("CPU", m.CPU)
	t.Row("system", m.System+", kernel "+m.Kernel)
	t.Row("write and fsync of 4 KiB", report.Span(m.Fsync)+", the median of 200, in the folder of the stores")
	t.Row("load averages before", m.Load)
	t.Row("Go", m.Go)
	t.Row("Riffle", "commit "+m.Commit)
	t.Row("chi", m.Chi)
	t.Row("SQLite", "modernc.org/sqlite "+m.SQLite)
	t.Row("PostgreSQL", cmp.Or(m.Postgres, "none: "+f.NoPostgres))
	t.Row("jsontext", "github.com/go-json-experiment/json "+m.JSON)
	t.Row("batchedrand", cmp.Or(m.Batched, "none: the module "+batchedModule+" could not be downloaded"))
	t.Row("when", fmt.Sprintf("%s, for %s: %s of each, after one that does not count", m.When.Format(time.RFC3339), f.Took.Round(time.Second), f.Runs))
	return t.Markdown()
}

// Served returns a table of results at several numbers of connections, each compared with the
// contenders called others.
func (f *figures) Served(results []measure.Result, others ...string) string {
	columns := []string{"connections", "", "responses/s"}
	for _, other := range others {
		columns = append(columns, "to the "+other)
	}
	t := report.NewTable(2, append(columns, "p50", "p90", "p99", "max", "CPU each", "resident", "peak")...)
	for i, r := range results {
		row := []string{fmt.Sprint(r.Connections), r.Name, report.Count(r.Rate())}
		for _, other := range others {
			if other == r.Name {
				row = append(row, "")
			} else {
				row = append(row, fmt.Sprintf("%.2fx", measure.Ratio(r.Rates, find(results, other, r.Connections).Rates).Median))
			}
		}
		t.Row(append(row, report.Span(r.P50), report.Span(r.P90), report.Span(r.P99), report.Span(r.Max), known(report.Span, r.CPU), known(report.Size, r.Resident), known(report.Size, r.Peak))...)
		if f.NoPostgres != "" && (i+1 == len(results) || results[i+1].Connections != r.Connections) {
			t.Row(fmt.Sprint(r.Connections), namePostgres, "not measured")
		}
	}
	return t.Markdown()
}

// known writes a figure, or nothing if it is 0 because the system does not say.
func known[T time.Duration | int64](write func(T) string, n T) string {
	if n == 0 {
		return ""
	}
	return write(n)
}

// Latencies returns a table of percentiles.
func (f *figures) Latencies(results []measure.Result) string {
	t := report.NewTable(1, "", "p50", "p90", "p99", "max")
	for _, r := range results {
		t.Row(r.Name, report.Span(r.P50), report.Span(r.P90), report.Span(r.P99), report.Span(r.Max))
	}
	return t.Markdown()
}

// LargeTable returns the table of 1,000,000 items.
func (f *figures) LargeTable() string {
	t := report.NewTable(1, "", "time", "to the splitting", "p99", "CPU each", "resident when idle", "peak")
	splitting := find(f.Large, nameSplit, 0)
	for _, r := range f.Large {
		ratio := measure.Ratio(splitting.Rates, r.Rates)
		t.Row(r.Name, report.Span(r.P50), fmt.Sprintf("%.2fx", ratio.Median), report.Span(r.P99), known(report.Span, r.CPU), known(report.Size, r.Idle), known(report.Size, r.Peak))
	}
	if f.NoPostgres != "" {
		t.Row(namePostgres, "not measured")
	}
	return t.Markdown()
}

// KernelTable returns the table of kernels.
func (f *figures) KernelTable() string { return f.Kernels.table().Markdown() }

// Capacity returns the rate that the open loop is measured by.
func (f *figures) Capacity() float64 { return find(f.Open, nameCapacity, 0).Rate() }

// OpenRate returns the rate of the responses that the open loop had.
func (f *figures) OpenRate() float64 { return find(f.Open, nameSQLite, 0).Rate() }

// Longest returns the result of the longest response.
func (f *figures) Longest() *measure.Result { return find(f.Stream, nameSQLite, 0) }

// LongestDecks returns decks per second of the longest response.
func (f *figures) LongestDecks() float64 { return decksOfStream * f.Longest().Rate() }

// LongBody returns the size of a body of 10,000 items.
func (f *figures) LongBody() int64 { return int64(len(shuffleOf10k.Body)) }

// picture draws the contenders of docs/performance.svg. What was not measured has no bar.
func (f *figures) picture() ([]byte, error) {
	rates := func(title string, results []measure.Result, decks float64) report.Panel {
		p := report.Panel{Title: title}
		for _, r := range results {
			if r.Connections == counted {
				rate := decks * r.Rate()
				p.Bars = append(p.Bars, newBar(r.Name, rate, report.Count(rate)))
			}
		}
		return p
	}
	large := report.Panel{Title: "1,000,000 items: time of a request; shorter is better"}
	for _, r := range f.Large {
		large.Bars = append(large.Bars, newBar(r.Name, float64(r.P50), report.Span(r.P50)))
	}
	cards := report.Panel{Title: "52 cards in process: time of a shuffle; shorter is better"}
	for _, k := range kernelNames {
		// The time of crypto/rand would dwarf the others.
		if times := f.Kernels.of(k.kernel, 52); times != nil && k.kernel != kernelCrypto {
			ns := measure.Median(times)
			cards.Bars = append(cards.Bars, newBar(k.name, ns, fmt.Sprintf("%.0f ns", ns)))
		}
	}
	m := &f.Machine
	caption := fmt.Sprintf("%d cores, %s, %s; medians of %s; %s", m.Cores, m.CPU, m.Go, f.Runs, m.When.Format(time.DateOnly))
	if f.Quick {
		caption = "A quick run, whose figures mean little. " + caption
	}
	return report.Bars([]report.Panel{
		rates("POST /shuffle of 52 strings: responses per second, 64 connections", f.Lists, 1),
		rates("GET /decks/standard52: responses per second, 64 connections", f.Decks, 1),
		rates("1,000 decks in one request: decks per second, 64 connections", f.Repeats, decksOfRepeat),
		large, cards,
	}, caption)
}

func newBar(name string, value float64, label string) report.Bar {
	return report.Bar{Name: name, Value: value, Label: label, Highlight: strings.HasPrefix(name, "Riffle")}
}
