package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/dustin/go-humanize/english"

	"riffle/internal/audit/message"
	"riffle/internal/fairness"
)

// A fairnessReport says what orders show of the shuffle that gave them.
type fairnessReport struct {
	Verdict   string         `json:"verdict"` // one of the verdicts below
	Headline  string         `json:"headline"`
	Notes     []string       `json:"notes"`
	Runs      int            `json:"runs"`
	Items     []string       `json:"items"` // in their order before the shuffle
	Cyclic    bool           `json:"cyclic"`
	Tests     []fairnessTest `json:"tests"`
	Positions [][]int        `json:"positions"` // how often each item (column) came to each place (row)

	meter *fairness.Meter
}

// Verdicts on a shuffle.
const (
	verdictPassed   = "passed"   // nothing was caught
	verdictCaught   = "caught"   // something was
	verdictUnjudged = "unjudged" // there were too few orders
)

// A fairnessTest is what one statistic found. The numbers that do not apply are nil.
type fairnessTest struct {
	Name      string   `json:"name"`
	Runs      int      `json:"runs"`
	Needed    int      `json:"needed"` // from how many runs on it can be judged
	ChiSquare *float64 `json:"chi_square"`
	Freedom   *int     `json:"degrees_of_freedom"`
	Upper     *float64 `json:"chi_square_p"` // of at least this chi-square; nil if there are too few runs
	Mean      *float64 `json:"mean"`
	Expected  *float64 `json:"expected"`
	P         *float64 `json:"p"` // what it is judged by; nil if there are too few runs
	Caught    bool     `json:"caught"`
	Found     string   `json:"found,omitempty"`  // the reason why the shuffle is caught
	Likely    string   `json:"likely,omitempty"` // and what that is likely to be
}

// newFairnessReport judges what was measured. sorted says that the order before the shuffle is a guess.
func newFairnessReport(m *fairness.Meter, items []string, cyclic, sorted bool) *fairnessReport {
	r := &fairnessReport{Runs: m.Runs, Items: items, Cyclic: cyclic, meter: m}
	findings := m.Findings()
	caught := map[string]bool{}
	for _, f := range fairness.Caught(findings, fairness.Alpha) {
		caught[f.Name] = true
	}
	for _, f := range findings {
		r.Tests = append(r.Tests, newFairnessTest(f, caught[f.Name]))
	}
	r.explainAll(findings)
	r.Positions = slices.Collect(slices.Chunk(m.Positions.Counts, m.N))
	r.conclude(len(caught) > 0, findings[0], sorted)
	return r
}

func newFairnessTest(f fairness.Finding, caught bool) fairnessTest {
	t := fairnessTest{Name: f.Name, Runs: f.Runs, Needed: f.Needed, Caught: caught}
	if f.Freedom > 0 {
		t.Freedom = &f.Freedom
		if !math.IsInf(f.X, 0) {
			t.ChiSquare = &f.X
		}
	}
	if f.Expected > 0 && f.Runs > 0 {
		t.Mean, t.Expected = &f.Mean, &f.Expected
	}
	if f.Judged() {
		t.P = &f.P
		if f.Freedom > 0 {
			t.Upper = new(fairness.UpperTail(f.X, f.Freedom))
		}
	}
	return t
}

// conclude sets verdict, headline and notes. positions decides whether there is enough to judge.
func (r *fairnessReport) conclude(caught bool, positions fairness.Finding, sorted bool) {
	switch {
	case caught:
		r.Verdict = verdictCaught
	case !positions.Judged():
		r.Verdict = verdictUnjudged
	default:
		r.Verdict = verdictPassed
	}
	first := r.Items[0]
	lines := strings.Split(words(r.Verdict, map[string]any{
		"Report": r, "Needed": positions.Needed, "Better": max(100_000, 10*positions.Needed), "First": r.name(0), "Last": r.name(len(r.Items) - 1),
		"IsGuess": sorted && first != "0" && first != "1",
	}), "\n")
	r.Headline, r.Notes = lines[0], lines[1:]
}

// Label returns the name of the test for people.
func (t *fairnessTest) Label() string { return strings.ReplaceAll(t.Name, "_", " ") }

// pValue returns p for people.
func pValue(p *float64) string {
	switch {
	case p == nil:
		return ""
	case *p < 1e-15:
		return "< 1e-15"
	case *p < 1e-4:
		return strconv.FormatFloat(*p, 'e', 1, 64)
	}
	return strconv.FormatFloat(*p, 'f', 4, 64)
}

func decimal(x *float64) string {
	switch {
	case x == nil:
		return ""
	case *x != 0 && math.Abs(*x) < 0.001:
		return strconv.FormatFloat(*x, 'e', 1, 64)
	case math.Abs(*x) < 1000:
		return strconv.FormatFloat(*x, 'f', 3, 64)
	}
	return strconv.FormatFloat(*x, 'f', 1, 64)
}

// name returns an item for people.
func (r *fairnessReport) name(item int) string {
	return message.Printable(fmt.Sprintf("%.40s", r.Items[item]))
}

func comma(n int) string { return humanize.Comma(int64(n)) }

func plural(n int, what string) string { return comma(n) + " " + english.PluralWord(n, what, "") }
