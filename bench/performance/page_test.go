package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestPercentiles(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, test := range []struct {
		list []time.Duration
		p    float64
		want time.Duration
	}{
		{hundred, 50, 50},
		{hundred, 90, 90},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{hundred, 99.5, 100},
		{hundred[:1], 50, 1},
		{hundred[:1], 99, 1},
		{hundred[:3], 50, 2},
		{hundred[:10], 99, 10},
	} {
		if got := percentile(test.list, test.p); got != test.want {
			t.Errorf("the %gth percentile of %d is %d, want %d", test.p, len(test.list), got, test.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		count(0): "0", count(999.6): "1,000", count(1234567): "1,234,567", count(123456): "123,456",
		span(950): "950 ns", span(1500): "1.50 µs", span(25 * time.Microsecond): "25.0 µs", span(131900): "132 µs", span(4670 * time.Microsecond): "4.67 ms", span(12 * time.Second): "12.0 s",
		size(21_543_210): "21.5 MB", size(110_012): "110 kB",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// cellOf is a cell whose rates differ from run to run.
func cellOf(name string, connections int, rate float64, p50 time.Duration) cell {
	return cell{
		Name: name, Connections: connections, Rates: []float64{rate, rate * 1.1, rate * 0.9}, Medians: []time.Duration{p50, p50, p50}, Tails: []time.Duration{3 * p50, 3 * p50, 3 * p50},
		P50: p50, P90: 2 * p50, P99: 3 * p50, Max: 10 * p50, First: p50 / 2, CPU: 25 * time.Microsecond, Idle: 20_000_000, Resident: 30_000_000, Peak: 42_000_000,
	}
}

// given are figures that meet every goal.
func given() *figures {
	both := func(cells ...cell) []cell {
		var list []cell
		for _, n := range []int{1, counted} {
			for _, c := range cells {
				c.Connections = n
				list = append(list, c)
			}
		}
		return list
	}
	f := &figures{
		Machine: machine{
			When: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Cores: 2, CPU: "Model <1>", Kernel: "6.1", System: "linux/amd64", Load: "0.00 0.01 0.02",
			Fsync: 120 * time.Microsecond, Go: "go1.26", Commit: "0123456789ab", Chi: "v5", SQLite: "v1", JSON: "v0", Batched: "v0.1", Postgres: "15.20",
		},
		Runs: 3, Length: time.Second, Took: 8 * time.Minute, Binary: 21_500_000, Starts: []time.Duration{40e6, 30e6, 35e6},
		Lists: both(cellOf(nameEcho, 0, 80_000, 600e3), cellOf(nameUsual, 0, 40_000, 1200e3), cellOf(nameSQLite, 0, 50_000, 1300e3), cellOf(namePostgres, 0, 30_000, 2e6)),
		Lone:  []cell{cellOf(nameCommit, 1, 7000, 140e3), cellOf(nameSQLite, 1, 5000, 200e3)},
		Decks: both(cellOf(nameFixed, 0, 85_000, 500e3), cellOf(nameSQLite, 0, 60_000, 1e6), cellOf(namePostgres, 0, 35_000, 2e6)), Repeats: both(cellOf(nameSQLite, 0, 1200, 50e6), cellOf(namePostgres, 0, 1300, 40e6)),
		Stream: []cell{cellOf(nameSQLite, 1, 8, 2e6)},
		Long:   both(cellOf(nameEcho, 0, 7000, 1e6), cellOf(nameUsual, 0, 300, 1e6), cellOf(nameSQLite, 0, 1300, 1e6), cellOf(namePostgres, 0, 1200, 1e6)),
		Large:  []cell{cellOf(nameSplit, 1, 60, 15e6), cellOf(nameEcho, 1, 60, 15e6), cellOf(nameUsual, 1, 2, 400e6), cellOf(nameSQLite, 1, 45, 22e6), cellOf(namePostgres, 1, 40, 25e6)},
		Paced:  []cell{cellOf(nameCommit, 1, 7000, 140e3), cellOf(nameCapacity, counted, 50_000, 1e6), cellOf(nameEchoPace, counted, 35_000, 100e3), cellOf(nameSQLite, counted, 35_000, 150e3)},

		LargeBody: 11_000_012,
	}
	for _, cards := range []int{52, 136} {
		for name, ns := range map[string]float64{kernelRiffle: 100, kernelSeek: 120, kernelBatched: 150, kernelPaper: 180, kernelChaCha8: 450, kernelCrypto: 5600} {
			f.Kernels = append(f.Kernels, kernel{fmt.Sprintf(name, cards), []float64{ns, ns, ns}})
		}
	}
	return f
}

func TestGoals(t *testing.T) {
	goals := given().goals()
	for _, g := range goals {
		if g.outcome != met {
			t.Errorf("%s: %s, with %s for %s", g.what, g.outcome, g.got, g.want)
		}
	}
	if len(goals) != 16 {
		t.Errorf("there are %d goals", len(goals))
	}
	slower := func(c *cell) { c.Rates = []float64{1, 1, 1} }
	for what, spoil := range map[string]func(*figures){
		"of the usual handler":      func(f *figures) { find(f.Lists, nameUsual, counted).Rates = []float64{1e6, 1e6, 1e6} },
		"of the echo handler":       func(f *figures) { find(f.Lists, nameEcho, counted).Rates = []float64{1e6, 1e6, 1e6} },
		"of the fixed-body handler": func(f *figures) { slower(find(f.Decks, nameSQLite, counted)) },
		"over HTTP":                 func(f *figures) { slower(find(f.Repeats, nameSQLite, counted)) },
		"in process":                func(f *figures) { copy(f.kernel(kernelSeek, 52), []float64{126, 126, 126}) },
		"136 cards from a ready stream: time, of math/rand": func(f *figures) { copy(f.kernel(kernelChaCha8, 136), []float64{300, 300, 300}) },
		"52 cards from a ready stream: time, of lemire":     func(f *figures) { copy(f.kernel(kernelBatched, 52), []float64{100, 100, 100}) },
		"splitting the body":                                func(f *figures) { slower(find(f.Large, nameSQLite, 0)) },
		"resident memory":                                   func(f *figures) { find(f.Large, nameSQLite, 0).Peak = 65_000_000 },
		"first byte":                                        func(f *figures) { find(f.Stream, nameSQLite, 0).First = 6e6 },
		"a lone request":                                    func(f *figures) { find(f.Lone, nameSQLite, 0).Medians = []time.Duration{1, 291e3, 291e3} },
		"99th percentile":                                   func(f *figures) { find(f.Paced, nameSQLite, 0).Tails = []time.Duration{1, 561e3, 561e3} },
		"start to ready":                                    func(f *figures) { f.Starts = []time.Duration{1, 50e6, 50e6} },
		"the binary, stripped":                              func(f *figures) { f.Binary = 25_000_000 },
	} {
		f := given()
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

func TestPage(t *testing.T) {
	got := string(page(given()))
	for _, line := range []string{
		"| POST /shuffle of 52 strings, of the usual handler | at least 1.00x | 1.25x (1.25 to 1.25) | met |",
		"| 52 cards from a ready stream: time, of lemire/batchedrand on ChaCha8 | below 1.00x | 0.67x (0.67 to 0.67) | met |",
		"| CPU | Model <1> |",
		"| when | 2026-11-21T12:00:00Z, for 8m0s: 3 runs of 1s of each, after one that is not counted |",
		"| 64 | Riffle on SQLite | 50,000 | 0.62x | 1.25x | 1.30 ms | 2.60 ms | 3.90 ms | 13.0 ms | 25.0 µs | 30.0 MB | 42.0 MB |",
		"| 64 | Riffle on PostgreSQL | 35,000 | 0.41x | 2.00 ms | 4.00 ms | 6.00 ms | 20.0 ms | 25.0 µs | 30.0 MB | 42.0 MB |",
		"| Riffle on SQLite | 22.0 ms | 1.33x | 66.0 ms | 25.0 µs | 20.0 MB | 42.0 MB |",
		"| echo handler, as often | 100 µs | 200 µs | 300 µs | 1.00 ms |",
		"| Riffle on SQLite, at capacity | 1.00 ms | 2.00 ms | 3.00 ms | 10.0 ms |",
		"| crypto/rand, Int | 5600 ns | 12.44x | 5600 ns | 12.44x |",
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("the page lacks\n%s", line)
		}
	}
	for _, line := range []string{"quick run", "not measured", "not met", "The goals are for two cores", "NaN", "%!"} {
		if strings.Contains(got, line) {
			t.Errorf("the page has %q", line)
		}
	}
	if again := string(page(given())); again != got {
		t.Error("the same figures give another page")
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

// lessGiven are figures of a machine that lacks what may be lacking, in a quick run.
func lessGiven() *figures {
	f := given()
	f.Quick, f.Runs, f.NoPostgres, f.Machine = true, 1, "there is none", machine{Cores: 8, Go: "go1.26"}
	for _, cells := range []*[]cell{&f.Lists, &f.Decks, &f.Repeats, &f.Long, &f.Large} {
		var left []cell
		for _, c := range *cells {
			if c.Name != namePostgres {
				c.CPU, c.Idle, c.Resident, c.Peak = 0, 0, 0, 0
				left = append(left, c)
			}
		}
		*cells = left
	}
	var left []kernel
	for _, k := range f.Kernels {
		if !strings.HasPrefix(k.Name, "Batchedrand") {
			left = append(left, k)
		}
	}
	f.Kernels = left
	return f
}

func TestPageOfLess(t *testing.T) {
	got := string(page(lessGiven()))
	for _, text := range []string{
		"**This was a quick run, which shows that the measurements work. Its figures mean little.**",
		"The goals are for two cores; this machine has 8.",
		"| 64 | Riffle on PostgreSQL | not measured: there is none |",
		"| PostgreSQL | none: there is none |",
		"| the module was not to be had; of batching by the paper: 0.56x (0.56 to 0.56) | not measured |",
		"| the system does not tell | not measured |",
		"| batchedrand | none: the module github.com/lemire/batchedrand was not to be had |",
		"1 run of 1s",
		"| CPU | unknown |",
	} {
		if !strings.Contains(got, text) {
			t.Errorf("the page lacks\n%s", text)
		}
	}
}

func TestPicture(t *testing.T) {
	for name, f := range map[string]*figures{"all": given(), "less": lessGiven()} {
		got := picture(f)
		if !bytes.Equal(got, picture(f)) {
			t.Errorf("%s: the same figures give another picture", name)
		}
		bars, longest := 0, 0
		for d := xml.NewDecoder(bytes.NewReader(got)); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			element, ok := token.(xml.StartElement)
			if !ok || element.Name.Local != "rect" {
				continue
			}
			bars++
			for _, a := range element.Attr {
				var width float64
				if _, err := fmt.Sscan(a.Value, &width); a.Name.Local == "width" && err == nil && width == barLength {
					longest++
				}
			}
		}
		wantBars, wantLongest := 1, 0 // the background
		for _, p := range panels(f) {
			wantBars, wantLongest = wantBars+len(p.bars), wantLongest+1
		}
		if bars != wantBars || longest != wantLongest {
			t.Errorf("%s: %d bars, of which %d are as long as can be, want %d and %d", name, bars-1, longest, wantBars-1, wantLongest)
		}
	}
	got := string(picture(given()))
	for _, text := range []string{`width="275.0" height="18" fill="#2b6cb0"/><text x="583.0" y="122">50,000</text>`, "2 cores, Model &lt;1&gt;, go1.26; medians of 3 runs of 1s; 2026-11-21", ">1,200,000<"} {
		if !strings.Contains(got, text) {
			t.Errorf("the picture lacks %s:\n%s", text, got)
		}
	}
}
