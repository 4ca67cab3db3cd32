package main

import (
	"fmt"
	"time"

	"riffle/bench/measure"
	"riffle/bench/report"
)

// An outcome is whether a goal was met.
type outcome string

const (
	met         outcome = "met"
	notMet      outcome = "not met"
	notMeasured outcome = "not measured"
)

// A goal is what was to be reached, and what was.
type goal struct {
	what, want, got string
	outcome         outcome
}

func newGoal(what, want, got string, isMet bool) goal {
	if isMet {
		return goal{what, want, got, met}
	}
	return goal{what, want, got, notMet}
}

// find returns the result of a name, and of a number of connections unless that is 0; nil if there
// is none.
func find(results []measure.Result, name string, connections int) *measure.Result {
	for i := range results {
		if r := &results[i]; r.Name == name && (connections == 0 || r.Connections == connections) {
			return r
		}
	}
	return nil
}

// goals judges the figures.
func (f *figures) goals() []goal {
	list := []goal{
		atLeast("POST /shuffle of 52 strings, to the usual handler", 1, rates(f.Lists, nameUsual)),
		atLeast("POST /shuffle of 52 strings, to the echo handler", 0.6, rates(f.Lists, nameEcho)),
		atLeast("GET /decks/standard52, to the fixed-body handler", 0.65, rates(f.Decks, nameFixed)),
	}
	decks := decksOfRepeat * find(f.Repeats, nameSQLite, counted).Rate()
	list = append(list, newGoal("repeat: decks per second over HTTP", "at least 1,000,000", report.Count(decks), decks >= 1e6))
	decks = 1e9 / measure.Median(f.Kernels.of(kernelSeek, 52))
	list = append(list, newGoal("repeat: decks per second in process, on one core", "at least 8,000,000", report.Count(decks), decks >= 8e6))
	for _, cards := range []int{52, 136} {
		ratio := measure.Ratio(f.Kernels.of(kernelRiffle, cards), f.Kernels.of(kernelChaCha8, cards))
		list = append(list, atMost(fmt.Sprintf("%d cards from a ready stream: time, to math/rand/v2's ChaCha8", cards), 0.3, ratio), f.batchedGoal(cards))
	}
	// Over one connection, times are the inverse of rates.
	split := measure.Ratio(find(f.Large, nameSplit, 0).Rates, find(f.Large, nameSQLite, 0).Rates)
	first, start := find(f.Stream, nameSQLite, 0).FirstByte, measure.Median(f.Starts)
	return append(list,
		atMost("1,000,000 items: time, to splitting the body by jsontext", 1.5, split),
		f.memoryGoal(),
		newGoal(fmt.Sprintf("first byte of a repeat of %s decks", report.Count(decksOfStream)), "within 5ms", report.Span(first), first <= 5*time.Millisecond),
		f.loneGoal(), f.openGoal(),
		newGoal("start to ready on an empty store", "under 50ms", report.Span(start), start < 50*time.Millisecond),
		newGoal("the binary, stripped", "under 25 MB", report.Size(f.Binary), f.Binary < 25_000_000))
}

func atLeast(what string, least float64, ratio measure.Spread) goal {
	return newGoal(what, fmt.Sprintf("at least %.2fx", least), ratio.String(), ratio.Median >= least)
}

func atMost(what string, most float64, ratio measure.Spread) goal {
	return newGoal(what, fmt.Sprintf("at most %.2fx", most), ratio.String(), ratio.Median <= most)
}

// rates compares the rate on SQLite to that of another contender.
func rates(results []measure.Result, other string) measure.Spread {
	return measure.Ratio(find(results, nameSQLite, counted).Rates, find(results, other, counted).Rates)
}

// goalTable says which goals are met.
func (f *figures) goalTable() *report.Table {
	t := report.NewTable(4, "goal", "asked for", "measured", "")
	for _, g := range f.goals() {
		how := string(g.outcome)
		if g.outcome == notMet {
			how = "**" + how + "**"
		}
		t.Row(g.what, g.want, g.got, how)
	}
	return t
}

// batchedGoal is about the module's time. Where the module could not be downloaded, it shows that
// of the same method instead.
func (f *figures) batchedGoal(cards int) goal {
	what, want := fmt.Sprintf("%d cards from a ready stream: time, to lemire/batchedrand on ChaCha8", cards), "below 1.00x"
	ours := f.Kernels.of(kernelRiffle, cards)
	if theirs := f.Kernels.of(kernelBatched, cards); theirs != nil {
		ratio := measure.Ratio(ours, theirs)
		return newGoal(what, want, ratio.String(), ratio.Median < 1)
	}
	ratio := measure.Ratio(ours, f.Kernels.of(kernelPaper, cards))
	return goal{what, want, "the module could not be downloaded; to batching by the paper: " + ratio.String(), notMeasured}
}

func (f *figures) memoryGoal() goal {
	what, want := "1,000,000 items: resident memory over idle, in bodies", "at most 4.0"
	r := find(f.Large, nameSQLite, 0)
	if r.Peak == 0 || r.Idle == 0 {
		return goal{what, want, "the system does not say", notMeasured}
	}
	bodies := float64(r.Peak-r.Idle) / float64(f.LargeBody)
	return newGoal(what, want, fmt.Sprintf("%.1f", bodies), bodies <= 4)
}

// loneGoal compares the medians of runs that followed each other.
func (f *figures) loneGoal() goal {
	commit, request := find(f.Lone, nameCommit, 0), find(f.Lone, nameSQLite, 0)
	var over []time.Duration
	for i := range commit.Medians {
		over = append(over, request.Medians[i]-commit.Medians[i])
	}
	median := measure.Median(over)
	got := "a commit and " + report.Span(median)
	if median < 0 {
		got = report.Span(-median) + " less than a commit"
	}
	return newGoal("a request over one connection, to one durable commit", "at most the commit and 150µs", got, median <= 150*time.Microsecond)
}

// openGoal is about runs and not about all responses: in a run on a machine that has become slower
// than it was when capacity was measured, requests come in faster than they are answered, and every
// latency of it is worse than the worst of the others.
func (f *figures) openGoal() goal {
	ratio := measure.Ratio(find(f.Open, nameSQLite, 0).Tails, find(f.Open, nameCommit, 0).Medians)
	got := fmt.Sprintf("%.1f (%.1f to %.1f)", ratio.Median, ratio.Min, ratio.Max)
	return newGoal("99th percentile at 70% of capacity, in durable commits", "at most 4.0", got, ratio.Median <= 4)
}
