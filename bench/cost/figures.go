package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"riffle/bench/report"
)

// The costs of a request.
const (
	costAllocations  = "allocations"
	costBytes        = "bytes"
	costInstructions = "instructions"
)

// A figure is what a request costs, rounded, and by how many percent it may exceed that.
type figure struct {
	Request string  `json:"request"`
	Cost    string  `json:"cost"`
	Figure  float64 `json:"figure"`
	Margin  float64 `json:"margin_percent"`
}

// newFigure returns a figure with the default margin of its cost.
func newFigure(request, cost string, n float64) figure {
	margin := 10.0
	if cost == costAllocations {
		margin = 5
	}
	return figure{Request: request, Cost: cost, Figure: math.Round(n), Margin: margin}
}

// find returns the figure of the same cost of the same request, or nil.
func find(list []figure, like figure) *figure {
	i := slices.IndexFunc(list, func(f figure) bool { return f.Request == like.Request && f.Cost == like.Cost })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// compare says what is wrong with the measured figures. Instructions may be missing where they are
// not counted.
func compare(recorded, got []figure, counts bool) (wrong []string) {
	for _, g := range got {
		was := find(recorded, g)
		switch {
		case was == nil:
			wrong = append(wrong, fmt.Sprintf("%s: no %s are recorded", g.Request, g.Cost))
		case g.Figure > was.Figure*(1+was.Margin/100):
			wrong = append(wrong, fmt.Sprintf("%s: %s grew from %.0f to %.0f, %s, and the margin is %g%%",
				g.Request, g.Cost, was.Figure, g.Figure, change(was, g), was.Margin))
		}
	}
	for _, was := range recorded {
		if find(got, was) == nil && (counts || was.Cost != costInstructions) {
			wrong = append(wrong, fmt.Sprintf("%s: %s are recorded, but were not measured", was.Request, was.Cost))
		}
	}
	return wrong
}

// change writes by how many percent a figure exceeds the recorded one.
func change(recorded *figure, got figure) string {
	return fmt.Sprintf("%+.1f%%", 100*(got.Figure/recorded.Figure-1))
}

// withMargins returns what was measured with the recorded margins.
func withMargins(recorded, got []figure) []figure {
	list := slices.Clone(got)
	for i := range list {
		if was := find(recorded, list[i]); was != nil {
			list[i].Margin = was.Margin
		}
	}
	return list
}

// table shows what was measured beside what is recorded.
func table(recorded, got []figure) string {
	t := report.NewTable(2, "request", "cost", "recorded", "measured", "change")
	for _, g := range got {
		figure, how := "-", ""
		if was := find(recorded, g); was != nil {
			figure, how = report.Count(was.Figure), change(was, g)
		}
		t.Row(g.Request, g.Cost, figure, report.Count(g.Figure), how)
	}
	return t.Text()
}

func read(file string) (list []figure, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return list, nil
}

// write writes one line per figure, so that diffs are easy to read.
func write(file string, list []figure) error {
	var lines [][]byte
	for _, f := range list {
		line, err := json.Marshal(f)
		if err != nil {
			return err
		}
		lines = append(lines, append([]byte("  "), line...))
	}
	text := append(append([]byte("[\n"), bytes.Join(lines, []byte(",\n"))...), "\n]\n"...)
	return os.WriteFile(file, text, 0o644)
}
