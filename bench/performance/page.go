package main

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"riffle/bench/contest"
)

// A pageWriter writes Markdown.
type pageWriter struct{ bytes.Buffer }

func (p *pageWriter) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p, format, args...)
	p.WriteByte('\n')
}

// row writes a line of a table. Cells hold no bars.
func (p *pageWriter) row(cells ...string) { p.line("| %s |", strings.Join(cells, " | ")) }

// head writes the first two lines of a table whose first columns, so many, are text and the others numbers.
func (p *pageWriter) head(texts int, names ...string) {
	p.row(names...)
	var rules []string
	for i := range names {
		if i < texts {
			rules = append(rules, "---")
		} else {
			rules = append(rules, "---:")
		}
	}
	p.row(rules...)
}

// page returns the page.
func page(f *figures) []byte {
	p := &pageWriter{}
	p.line("# Performance")
	p.line("")
	p.line("Made by `go run ./bench/performance`, in one go on one machine, and not by hand. Riffle's every answer is durable and in the")
	p.line("log before it leaves; nothing that it stands beside here writes anything down.")
	p.line("")
	if f.Quick {
		p.line("**This was a quick run, which shows that the measurements work. Its figures mean little.**")
		p.line("")
	}
	p.line("![What is measured below, as bars](performance.svg)")
	p.line("")
	p.goals(f)
	p.machine(f)
	p.cells("POST /shuffle of 52 strings", "The body is a list of the usual codes of 52 cards.", f, f.Lists, nameEcho, nameUsual)
	p.lone(f)
	p.paced(f)
	p.cells("GET /decks/standard52", "", f, f.Decks, nameFixed, "")
	p.cells("repeat: 1,000 decks in one request", "`{\"deck\":\"standard52\",\"repeat\":1000}`. The usual handler has nothing like it.", f, f.Repeats, "", "")
	p.stream(f)
	p.cells("10,000 items", fmt.Sprintf("Strings of ten bytes, a body of %s.", size(int64(len(shuffleOf10k.body)))), f, f.Long, nameEcho, nameUsual)
	p.large(f)
	p.kernels(f)
	p.rest(f)
	p.method()
	return p.Bytes()
}

func (p *pageWriter) goals(f *figures) {
	p.line("## Goals")
	p.line("")
	p.line("Ratios are medians, with the least and the greatest of the runs. Rates are those of %d connections, on SQLite.", counted)
	if f.Machine.Cores != 2 {
		p.line("The goals are for two cores; this machine has %d.", f.Machine.Cores)
	}
	p.line("")
	p.head(4, "goal", "asked for", "measured", "")
	for _, g := range f.goals() {
		how := string(g.outcome)
		if g.outcome == notMet {
			how = "**" + how + "**"
		}
		p.row(g.what, g.want, g.got, how)
	}
	p.line("")
}

func (p *pageWriter) machine(f *figures) {
	m := &f.Machine
	known := func(text string) string { return cmp.Or(text, "unknown") }
	p.line("## On what")
	p.line("")
	p.head(2, "", "")
	p.row("cores", fmt.Sprint(m.Cores))
	p.row("CPU", known(m.CPU))
	p.row("system", m.System+", kernel "+known(m.Kernel))
	p.row("write and fsync of 4 KiB", span(m.Fsync)+", the median of 200, in the folder of the stores")
	p.row("load averages before", known(m.Load))
	p.row("Go", m.Go)
	p.row("Riffle", "commit "+known(m.Commit))
	p.row("chi", known(m.Chi))
	p.row("SQLite", "modernc.org/sqlite "+known(m.SQLite))
	p.row("PostgreSQL", cmp.Or(m.Postgres, "none: "+f.NoPostgres))
	p.row("jsontext", "github.com/go-json-experiment/json "+known(m.JSON))
	p.row("batchedrand", cmp.Or(m.Batched, "none: the module "+batchedModule+" was not to be had"))
	p.row("when", fmt.Sprintf("%s, for %s: %s of %s of each, after one that is not counted", m.When.Format(time.RFC3339), f.Took.Round(time.Second), runsOf(f.Runs), f.Length))
	p.line("")
}

// cells writes a table of what was asked at several numbers of connections. ceiling and usual are the names of the others
// that it is compared with, if any.
func (p *pageWriter) cells(title, text string, f *figures, cells []cell, ceiling, usual string) {
	p.line("## %s", title)
	p.line("")
	if text != "" {
		p.line("%s", text)
		p.line("")
	}
	names := []string{"connections", "", "answers/s"}
	for _, other := range []string{ceiling, usual} {
		if other != "" {
			names = append(names, "of the "+other)
		}
	}
	p.head(2, append(names, "p50", "p90", "p99", "max", "CPU an answer", "resident", "at most")...)
	var connections []int
	for _, c := range cells {
		if !slices.Contains(connections, c.Connections) {
			connections = append(connections, c.Connections)
		}
	}
	for _, n := range connections {
		for _, c := range cells {
			if c.Connections != n {
				continue
			}
			row := []string{fmt.Sprint(n), c.Name, count(c.rate())}
			for _, other := range []string{ceiling, usual} {
				if other != "" {
					row = append(row, ratioOf(&c, find(cells, other, n)))
				}
			}
			p.row(append(row, c.times()...)...)
		}
		if f.NoPostgres != "" {
			p.row(fmt.Sprint(n), namePostgres, "not measured: "+f.NoPostgres)
		}
	}
	p.line("")
}

// runsOf writes how many runs there were.
func runsOf(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprint(n, " runs")
}

// ratioOf writes a rate in those of another, which may be missing or itself.
func ratioOf(c, other *cell) string {
	if other == nil || other.Name == c.Name {
		return ""
	}
	ratio, _, _ := contest.Ratio(c.Rates, other.Rates)
	return fmt.Sprintf("%.2fx", ratio)
}

// times are latencies, CPU time and memory.
func (c *cell) times() []string {
	list := []string{span(c.P50), span(c.P90), span(c.P99), span(c.Max)}
	if c.CPU == 0 {
		list = append(list, "")
	} else {
		list = append(list, span(c.CPU))
	}
	for _, n := range []int64{c.Resident, c.Peak} {
		if n == 0 {
			list = append(list, "")
		} else {
			list = append(list, size(n))
		}
	}
	return list
}

func (p *pageWriter) lone(f *figures) {
	p.line("### One caller alone, beside one commit")
	p.line("")
	p.line("The commit is that of the rows that the service writes for a lone request: into a store of its own in the same folder, in the")
	p.line("process of the load, with everything made and signed before.")
	p.line("")
	p.latencies(f.Lone)
}

func (p *pageWriter) latencies(cells []cell) {
	p.head(1, "", "p50", "p90", "p99", "max")
	for _, c := range cells {
		p.row(c.Name, span(c.P50), span(c.P90), span(c.P99), span(c.Max))
	}
	p.line("")
}

func (p *pageWriter) paced(f *figures) {
	p.line("### At 70%% of capacity")
	p.line("")
	p.line("Capacity is what %d connections were answered, each of which waits for its answer: %s a second. In the run that follows, 70%% of it is", counted, count(find(f.Paced, nameCapacity, 0).rate()))
	p.line("sent by the clock, whether or not the earlier requests are answered; %s a second were. Latencies count from when a request was due. The echo handler, which waits for no disk, is sent as many: its tail is that", count(find(f.Paced, nameSQLite, 0).rate()))
	p.line("of the machine, which runs the load as well.")
	p.line("")
	p.latencies(f.Paced)
}

func (p *pageWriter) stream(f *figures) {
	c := find(f.Stream, nameSQLite, 0)
	p.line("### The longest answer")
	p.line("")
	p.line("%s decks in one answer, to one caller: %s decks a second, the first byte after %s, the last after %s (medians).", count(decksOfStream), count(decksOfStream*c.rate()), span(c.First), span(c.P50))
	if c.Peak > 0 {
		p.line("The most memory that the service had meanwhile was %s.", size(c.Peak))
	}
	p.line("")
}

func (p *pageWriter) large(f *figures) {
	p.line("## 1,000,000 items")
	p.line("")
	p.line("Strings of ten bytes, a body of %s. One request at a time: such bodies share the memory that `-memory` allows, and more of", size(f.LargeBody))
	p.line("them at once are refused. On SQLite it is a service of its own, which has answered nothing before.")
	p.line("")
	p.head(1, "", "time", "of the splitting", "p99", "CPU an answer", "resident when idle", "at most")
	splitting := find(f.Large, nameSplit, 0)
	for _, c := range f.Large {
		ratio, _, _ := contest.Ratio(splitting.Rates, c.Rates)
		row := []string{c.Name, span(c.P50), fmt.Sprintf("%.2fx", ratio), span(c.P99), "", "", ""}
		if c.CPU > 0 {
			row[4] = span(c.CPU)
		}
		if c.Idle > 0 && c.Peak > 0 {
			row[5], row[6] = size(c.Idle), size(c.Peak)
		}
		p.row(row...)
	}
	if f.NoPostgres != "" {
		p.row(namePostgres, "not measured: "+f.NoPostgres)
	}
	p.line("")
}

// kernelNames are the rows of the table of kernels.
var kernelNames = []struct{ kernel, name string }{
	{kernelRiffle, "Riffle, from a ready stream"},
	{kernelSeek, "Riffle, one more of a repeat"},
	{kernelBatched, "lemire/batchedrand, on ChaCha8"},
	{kernelPaper, "batching by the paper, on ChaCha8"},
	{kernelChaCha8, "math/rand/v2, ChaCha8"},
	{kernelCrypto, "crypto/rand, Int"},
}

func (p *pageWriter) kernels(f *figures) {
	p.line("## Kernels")
	p.line("")
	p.line("Shuffles in process, on one core, of bytes: medians of `go test -bench`, and their ratios to math/rand/v2.")
	p.line("")
	p.head(1, "", "52 cards", "", "136 cards", "")
	for _, k := range kernelNames {
		row := []string{k.name}
		for _, cards := range []int{52, 136} {
			times := f.kernel(k.kernel, cards)
			if times == nil {
				row = append(row, "not measured", "")
				continue
			}
			ratio, _, _ := contest.Ratio(times, f.kernel(kernelChaCha8, cards))
			row = append(row, fmt.Sprintf("%.0f ns", contest.Median(times)), fmt.Sprintf("%.2fx", ratio))
		}
		p.row(row...)
	}
	p.line("")
}

func (p *pageWriter) rest(f *figures) {
	p.line("## Start and size")
	p.line("")
	p.line("The service is ready %s after its start on an empty store, from %s to %s in %d starts. The binary has %s, built with", span(f.start()), span(slices.Min(f.Starts)), span(slices.Max(f.Starts)), len(f.Starts), size(f.Binary))
	p.line("`go build -trimpath -ldflags=\"-s -w\"`.")
	p.line("")
}

func (p *pageWriter) method() {
	p.line("## How")
	p.line("")
	p.line("- Servers are processes of their own on this machine, as is the load, which takes its share of the cores: ratios count, not rates.")
	p.line("- The echo handler answers with what it was sent; the fixed-body handler writes %d bytes; the usual handler decodes the body into", len(fixedBody))
	p.line("  `[]json.RawMessage`, shuffles it by math/rand/v2 and encodes it. All three stand behind chi.")
	p.line("- The service is built by a profile of itself, `%s`, as every `go build` of it is, and so are the test binaries of the kernels.", profilePath)
	p.line("- Contenders of a table take turns. A ratio is the median of the runs' ratios, each of two runs that followed each other.")
	p.line("- Each connection sends its next request when it has the answer to the last. Latencies are seen by the caller, to the last byte; their")
	p.line("  percentiles are nearest ranks over all answers of all runs that count.")
	p.line("- CPU time is that of the server's process by /proc, and with PostgreSQL also of the database's processes; ticks are 10 ms. Memory is what the")
	p.line("  server's process has resident after the runs, and the most it had meanwhile. 1 MB is 1,000,000 bytes.")
}
