package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"riffle/bench/contest"
)

// figures are everything that was measured. The page and the picture are made of them and of nothing else.
type figures struct {
	Machine    machine
	Runs       int
	Length     time.Duration
	Quick      bool
	Took       time.Duration
	NoPostgres string // why nothing was measured on PostgreSQL; empty if it was

	Binary  int64           // bytes
	Starts  []time.Duration // from the start of the process to its being ready
	Lists   []cell          // POST /shuffle of 52 strings
	Lone    []cell          // the same from one caller, beside a commit
	Decks   []cell          // GET /decks/standard52
	Repeats []cell          // repeat of 1,000 decks
	Stream  []cell          // repeat of as many decks as may be
	Long    []cell          // 10,000 items
	Large   []cell          // 1,000,000 items
	Paced   []cell          // 52 strings at capacity and at 70% of it, beside a commit
	Kernels []kernel

	LargeBody int64 // bytes
}

// A cell is what one contender did at a number of connections. Zeros of CPU time and memory are for what could not be told.
type cell struct {
	Name               string
	Connections        int
	Rates              []float64       // answers a second, run by run
	Medians, Tails     []time.Duration // of the latencies, run by run: 50th and 99th percentiles
	P50, P90, P99, Max time.Duration   // of all answers of the runs that count
	First              time.Duration   // median to the first byte of the answer
	CPU                time.Duration   // of the server's, an answer
	Idle               int64           // resident bytes of the server before its first request
	Resident, Peak     int64           // the same after the runs, and the most while they went on
}

func (c *cell) rate() float64 { return contest.Median(c.Rates) }

// find returns the cell of a name, and of a number of connections unless that is 0; nil if there is none.
func find(cells []cell, name string, connections int) *cell {
	for i := range cells {
		if c := &cells[i]; c.Name == name && (connections == 0 || c.Connections == connections) {
			return c
		}
	}
	return nil
}

// percentile returns the least value of a sorted list that p percent of it do not exceed: the nearest rank. The list is not
// empty.
func percentile(sorted []time.Duration, p float64) time.Duration {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}

// An outcome is how a goal fares.
type outcome string

// The outcomes of goals.
const (
	met         outcome = "met"
	notMet      outcome = "not met"
	notMeasured outcome = "not measured"
)

func judge(isMet bool) outcome {
	if isMet {
		return met
	}
	return notMet
}

// A goal is what was to be reached, and what was.
type goal struct {
	what, want, got string
	outcome         outcome
}

// goals judges the figures.
func (f *figures) goals() []goal {
	list := []goal{
		f.rateGoal("POST /shuffle of 52 strings, of the usual handler", f.Lists, nameUsual, 1),
		f.rateGoal("POST /shuffle of 52 strings, of the echo handler", f.Lists, nameEcho, 0.6),
		f.rateGoal("GET /decks/standard52, of the fixed-body handler", f.Decks, nameFixed, 0.65),
		f.repeatGoal(), f.seekGoal(),
	}
	for _, cards := range []int{52, 136} {
		list = append(list, f.kernelGoal(cards), f.batchedGoal(cards))
	}
	return append(list, f.splitGoal(), f.memoryGoal(), f.firstGoal(), f.loneGoal(), f.pacedGoal(), f.startGoal(), f.binaryGoal())
}

// rateGoal is for SQLite's rate, in those of another.
func (f *figures) rateGoal(what string, cells []cell, other string, least float64) goal {
	ratio, low, high := contest.Ratio(find(cells, nameSQLite, counted).Rates, find(cells, other, counted).Rates)
	return goal{what, fmt.Sprintf("at least %.2fx", least), spread(ratio, low, high), judge(ratio >= least)}
}

func spread(ratio, low, high float64) string {
	return fmt.Sprintf("%.2fx (%.2f to %.2f)", ratio, low, high)
}

func (f *figures) repeatGoal() goal {
	decks := decksOfRepeat * find(f.Repeats, nameSQLite, counted).rate()
	return goal{"repeat: decks a second over HTTP", "at least 1,000,000", count(decks), judge(decks >= 1e6)}
}

func (f *figures) seekGoal() goal {
	decks := 1e9 / contest.Median(f.kernel(kernelSeek, 52))
	return goal{"repeat: decks a second in process, on one core", "at least 8,000,000", count(decks), judge(decks >= 8e6)}
}

// kernel returns the times of a kernel, or nil.
func (f *figures) kernel(name string, cards int) []float64 {
	for _, k := range f.Kernels {
		if k.Name == fmt.Sprintf(name, cards) {
			return k.Times
		}
	}
	return nil
}

func (f *figures) kernelGoal(cards int) goal {
	ratio, low, high := contest.Ratio(f.kernel(kernelRiffle, cards), f.kernel(kernelChaCha8, cards))
	return goal{fmt.Sprintf("%d cards from a ready stream: time, of math/rand/v2's ChaCha8", cards), "at most 0.30x", spread(ratio, low, high), judge(ratio <= 0.3)}
}

// batchedGoal is for the module's time, or, for information, that of the same method where the module was not to be had.
func (f *figures) batchedGoal(cards int) goal {
	g := goal{what: fmt.Sprintf("%d cards from a ready stream: time, of lemire/batchedrand on ChaCha8", cards), want: "below 1.00x", outcome: notMeasured}
	ours := f.kernel(kernelRiffle, cards)
	if theirs := f.kernel(kernelBatched, cards); theirs != nil {
		ratio, low, high := contest.Ratio(ours, theirs)
		g.got, g.outcome = spread(ratio, low, high), judge(ratio < 1)
		return g
	}
	ratio, low, high := contest.Ratio(ours, f.kernel(kernelPaper, cards))
	g.got = "the module was not to be had; of batching by the paper: " + spread(ratio, low, high)
	return g
}

func (f *figures) splitGoal() goal {
	ratio, low, high := contest.Ratio(find(f.Large, nameSplit, 0).Rates, find(f.Large, nameSQLite, 0).Rates) // times are the inverse of rates where one asks
	return goal{"1,000,000 items: time, of splitting the body by jsontext", "at most 1.50x", spread(ratio, low, high), judge(ratio <= 1.5)}
}

func (f *figures) memoryGoal() goal {
	g := goal{what: "1,000,000 items: resident memory over idle, in bodies", want: "at most 4.0", outcome: notMeasured}
	c := find(f.Large, nameSQLite, 0)
	if c.Peak == 0 || c.Idle == 0 {
		g.got = "the system does not tell"
		return g
	}
	bodies := float64(c.Peak-c.Idle) / float64(f.LargeBody)
	g.got, g.outcome = fmt.Sprintf("%.1f", bodies), judge(bodies <= 4)
	return g
}

func (f *figures) firstGoal() goal {
	first := find(f.Stream, nameSQLite, 0).First
	return goal{fmt.Sprintf("first byte of a repeat of %s decks", count(decksOfStream)), "within 5 ms", span(first), judge(first <= 5*time.Millisecond)}
}

// loneGoal compares the medians of runs that followed each other.
func (f *figures) loneGoal() goal {
	commit, request := find(f.Lone, nameCommit, 0), find(f.Lone, nameSQLite, 0)
	var over []float64
	for i := range commit.Medians {
		over = append(over, float64(request.Medians[i]-commit.Medians[i]))
	}
	more := time.Duration(contest.Median(over))
	got := fmt.Sprintf("a commit and %s", span(more))
	if more < 0 {
		got = fmt.Sprintf("%s less than a commit", span(-more))
	}
	return goal{"a lone request, of one durable commit", "at most the commit and 150 µs", got, judge(more <= 150*time.Microsecond)}
}

// pacedGoal goes by runs and not by all answers. In a run whose machine has become slower than the one that capacity was
// measured on, more comes in than is answered, and every answer of it is later than the worst of the others.
func (f *figures) pacedGoal() goal {
	commits, low, high := contest.Ratio(find(f.Paced, nameSQLite, 0).Tails, find(f.Paced, nameCommit, 0).Medians)
	got := fmt.Sprintf("%.1f (%.1f to %.1f)", commits, low, high)
	return goal{"99th percentile at 70% of capacity, in durable commits", "at most 4.0", got, judge(commits <= 4)}
}

func (f *figures) startGoal() goal {
	start := f.start()
	return goal{"start to ready on an empty store", "under 50 ms", span(start), judge(start < 50*time.Millisecond)}
}

func (f *figures) start() time.Duration {
	var took []float64
	for _, t := range f.Starts {
		took = append(took, float64(t))
	}
	return time.Duration(contest.Median(took))
}

func (f *figures) binaryGoal() goal {
	return goal{"the binary, stripped", "under 25 MB", size(f.Binary), judge(f.Binary < 25_000_000)}
}

// count writes a number with commas.
func count(n float64) string {
	digits := strconv.FormatFloat(math.Round(n), 'f', 0, 64)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// span writes a time in three digits or so.
func span(d time.Duration) string {
	for _, u := range []struct {
		unit time.Duration
		name string
	}{{time.Second, "s"}, {time.Millisecond, "ms"}, {time.Microsecond, "µs"}} {
		if d < u.unit {
			continue
		}
		value := float64(d) / float64(u.unit)
		decimals := 2
		if value >= 100 {
			decimals = 0
		} else if value >= 10 {
			decimals = 1
		}
		return strconv.FormatFloat(value, 'f', decimals, 64) + " " + u.name
	}
	return fmt.Sprintf("%d ns", d)
}

// size writes bytes in decimal units.
func size(n int64) string {
	if n < 1_000_000 {
		return strconv.FormatFloat(float64(n)/1e3, 'f', 0, 64) + " kB"
	}
	return strconv.FormatFloat(float64(n)/1e6, 'f', 1, 64) + " MB"
}
