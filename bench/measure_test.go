// Package bench measures the service beside plain net/http handlers:
//
//	go -C bench test -run Page -measure          # write docs/performance.md and the figures in the README
//	go -C bench test -run Compare -measure -with DIR  # the server of this checkout and of another
//	go -C bench test -run Years -measure         # what anchor, rotation and a follower cost
//	go -C bench test -run RecordProfile -measure # record cmd/server/default.pgo
//
// Vegeta's library generates the load. Each server is a process of its own, and servers that are
// compared take turns: their ratio is the median over pairs of runs. Start reading at
// [measureAll] and [alternate].
//
// The package bench/cost checks the allocations and instructions of a request.
package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"runtime/pprof"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/pprof/profile"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	vegeta "github.com/tsenart/vegeta/v12/lib"
)

var (
	measure = flag.Bool("measure", false, "measure, for some minutes, on a machine that does nothing else")
	with    = flag.String("with", "", "another checkout to compare with")
	runs    = flag.Int("runs", 9, "runs of each server, after a warm-up run")
	length  = flag.Duration("length", 2*time.Second, "length of a run")
	busy    = flag.Bool("busy", false, "measure although the machine is busy, and say so on the page")
)

// TestMain also is the program that startHandler runs. Tests run in the checkout's folder.
func TestMain(m *testing.M) {
	err := os.Chdir("..")
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		err = serve(context.Background(), os.Args[2], os.Args[3])
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// measures skips a test unless it was asked for.
func measures(t *testing.T) {
	if !*measure {
		t.Skip("skipped: -measure runs it")
	}
}

func TestPage(t *testing.T) {
	measures(t)
	require.NoError(t, writePage(t.Context()))
}

// TestReadmeHasTheFiguresOfThePage writes them again, which changes nothing.
func TestReadmeHasTheFiguresOfThePage(t *testing.T) {
	before, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.NoError(t, writeReadme())
	after, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.Equal(t, string(before), string(after), "the README had other figures than docs/performance.md")
}

func TestCompare(t *testing.T) {
	measures(t)
	require.NoError(t, compare(t.Context(), *with))
}

func TestYears(t *testing.T) {
	measures(t)
	require.NoError(t, compareYears(t.Context()))
}

func TestRecordProfile(t *testing.T) {
	measures(t)
	require.NoError(t, recordProfile(t.Context(), "cmd/server/default.pgo", 40*time.Second))
}

// progress reports what is being measured.
func progress(format string, args ...any) { fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...) }

func TestShortRunWritesPage(t *testing.T) {
	if err := withEnv(t.Context(), nil, func(e *env) error {
		f, err := measureAll(t.Context(), e, 2, 50*time.Millisecond)
		if err != nil {
			return err
		}
		for _, c := range slices.Concat(f.Shuffles, f.Decks) {
			assert.Truef(t, len(c.Rates) == 2 && c.Rate() > 0 && c.P50() > 0 && c.P99() >= c.P50(),
				"%s, %d connections: %+v", c.Name, c.Connections, c)
		}
		f.Machine, f.Busy = machine{Commit: "0123456789ab", CPU: "Model <1>", Cores: 2, Load: 13.3}, true
		var page bytes.Buffer
		if err := f.write(&page); err != nil {
			return err
		}
		text := page.String()
		for _, want := range []string{"| commit | `0123456789ab` |\n", "2 cores, Model <1>,", "| 13.30 |\n", "kept the machine busy", "| Riffle on SQLite | 64 | "} {
			assert.Contains(t, text, want, "the page lacks")
		}
		for _, unwanted := range []string{"%!", "no value"} {
			assert.NotContains(t, text, unwanted, "the page")
		}
		n := strings.Count(text, "\n")
		assert.Truef(t, n <= 80, "the page has %d lines, want at most 80", n)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestArithmetic(t *testing.T) {
	a, b := median([]float64{3, 1, 2}), median([]float64{4, 1, 2, 3})
	assert.Truef(t, a == 2 && b == 2.5 && math.IsNaN(median(nil)), "medians %g and %g, want 2 and 2.5", a, b)
	assert.Equal(t, "1.00 (0.50 to 3.00)", ratios([]float64{1, 6, 4}, []float64{2, 2, 4}).String(), "ratios")
}

func TestAttack(t *testing.T) {
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) > 3 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	p := &process{addr: server.Listener.Addr().String()}
	seen := 0
	m, err := attack(t.Context(), deck52.targeter(p), 1, times(3), 0, func(*vegeta.Result) { seen++ })
	require.Truef(t, err == nil && m.Requests == 3 && seen == 3, "%v; saw %d results, %v, want 3", m, seen, err)
	_, err = attack(t.Context(), deck52.targeter(p), 1, times(1), 0, nil)
	assert.Error(t, err, "a run with a failed request passes")
}

func TestUsualHandlerShuffles(t *testing.T) {
	order := func() (list []string) {
		w := httptest.NewRecorder()
		usual(w, httptest.NewRequest(http.MethodPost, shuffle52.path, strings.NewReader(shuffle52.body)))
		var body struct{ Items []string }
		require.NoError(t, json.Unmarshal(w.Body.Bytes(), &body))
		return body.Items
	}
	first, second := order(), order()
	assert.False(t, slices.Equal(first, second), "two orders are equal, or the order of the request")
	assert.False(t, slices.Equal(first, cards()), "two orders are equal, or the order of the request")
	slices.Sort(first)
	want := slices.Sorted(slices.Values(cards()))
	assert.Truef(t, slices.Equal(first, want) && len(want) == 52, "items %v, want %v", first, want)
}

// TestProfile checks the profile that go build uses, because the compiler silently ignores
// functions that no longer exist.
func TestProfile(t *testing.T) {
	file, err := os.Open("cmd/server/default.pgo")
	require.NoError(t, err)
	defer func() { _ = file.Close() }()
	p, err := profile.Parse(file)
	require.NoError(t, err)
	checkAnonymous(t, p)
	names := functions(p)
	for _, name := range []string{
		`riffle/internal/api\.\(\*\w+\)\.shuffle`, `riffle/internal/api\.\(\*\w+\)\.dealDeck`, `riffle/internal/dealer\.\(\*Dealer\)\.Shuffle`,
		`riffle/internal/ledger\.\(\*Log\)\.Append`, `riffle/internal/ledger\.\(\*Log\)\.follow`, `riffle/internal/ledger/sqlite\.\(\*writer\)\.append`,
		`riffle/internal/rng\.\(\*Stream\)\.Descend`, `net/http\.\(\*conn\)\.serve`,
	} {
		assert.Truef(t, slices.ContainsFunc(names, regexp.MustCompile("^"+name+"$").MatchString),
			"%s is not in the profile; make a new one: make profile", name)
	}
}

func functions(p *profile.Profile) (names []string) {
	for _, f := range p.Function {
		names = append(names, f.Name)
	}
	return names
}

func checkAnonymous(t *testing.T, p *profile.Profile) {
	t.Helper()
	for _, m := range p.Mapping {
		assert.Equal(t, "", m.File, "mapping")
		assert.Equal(t, "", m.BuildID, "mapping")
	}
	for _, f := range p.Function {
		assert.Equalf(t, "", f.Filename, "function %s of the file", f.Name)
		assert.Falsef(t, excluded.MatchString(f.Name), "function %s of the file", f.Name)
	}
	assert.EqualValues(t, 0, p.TimeNanos, "time")
}

func TestAnonymizeKeepsFunctions(t *testing.T) {
	var goroutines bytes.Buffer
	require.NoError(t, pprof.Lookup("goroutine").WriteTo(&goroutines, 0))
	p, err := profile.ParseData(goroutines.Bytes())
	require.NoError(t, err)
	p.Function[0].Name = "crypto/sha256.Sum256"
	want := functions(p)[1:]
	var in bytes.Buffer
	require.NoError(t, p.Write(&in))
	got, err := anonymize(&in)
	require.NoError(t, err)
	checkAnonymous(t, got)
	for _, name := range functions(got) {
		assert.Truef(t, slices.Contains(want, name), "function %s, want one of %v", name, want)
	}
	assert.NotEqualValues(t, 0, got.Sample[0].Location[0].Line[0].Line,
		"the profile has no line numbers, which the compiler needs")
}

// times is a pacer that stops after so many requests.
type times uint64

func (n times) Pace(_ time.Duration, sent uint64) (time.Duration, bool) { return 0, sent >= uint64(n) }
func (times) Rate(time.Duration) float64                                { return 0 }
