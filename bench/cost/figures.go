package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
)

// The costs of a request.
const (
	costAllocations  = "allocations"
	costBytes        = "bytes"
	costInstructions = "instructions"
)

// A figure is what a request costs, rounded, and by how many percent it may be above that.
type figure struct {
	Request string  `json:"request"`
	Cost    string  `json:"cost"`
	Figure  float64 `json:"figure"`
	Margin  float64 `json:"margin_percent"`
}

// newFigure returns a figure with the margin that its cost has unless the file says otherwise.
func newFigure(request, cost string, n float64) figure {
	margin := 10.0
	if cost == costAllocations {
		margin = 5
	}
	return figure{Request: request, Cost: cost, Figure: math.Round(n), Margin: margin}
}

// find returns the figure of the same cost of the same request; nil if there is none.
func find(list []figure, like figure) *figure {
	i := slices.IndexFunc(list, func(f figure) bool { return f.Request == like.Request && f.Cost == like.Cost })
	if i < 0 {
		return nil
	}
	return &list[i]
}

// compare says in words what is wrong with what was measured. Figures of instructions may be missing where they are not
// counted.
func compare(kept, got []figure, counts bool) (wrong []string) {
	for _, g := range got {
		k := find(kept, g)
		switch {
		case k == nil:
			wrong = append(wrong, fmt.Sprintf("%s: no figure of %s is kept", g.Request, g.Cost))
		case g.Figure > k.Figure*(1+k.Margin/100):
			wrong = append(wrong, fmt.Sprintf("%s: %s grew from %.0f to %.0f, %s, and the margin is %g%%",
				g.Request, g.Cost, k.Figure, g.Figure, change(k, g), k.Margin))
		}
	}
	for _, k := range kept {
		if find(got, k) == nil && (counts || k.Cost != costInstructions) {
			wrong = append(wrong, fmt.Sprintf("%s: a figure of %s is kept, and it is not measured", k.Request, k.Cost))
		}
	}
	return wrong
}

// change is by how many percent a figure is above the one that is kept.
func change(kept *figure, got figure) string {
	return fmt.Sprintf("%+.1f%%", 100*(got.Figure/kept.Figure-1))
}

// renewed returns what was measured with the margins that are kept.
func renewed(kept, got []figure) []figure {
	list := slices.Clone(got)
	for i := range list {
		if k := find(kept, list[i]); k != nil {
			list[i].Margin = k.Margin
		}
	}
	return list
}

// table shows what was measured beside what is kept.
func table(kept, got []figure) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(w, "request\tcost\tkept\tmeasured\t")
	for _, g := range got {
		was, how := "-", ""
		if k := find(kept, g); k != nil {
			was, how = fmt.Sprintf("%.0f", k.Figure), change(k, g)
		}
		_, _ = fmt.Fprintf(w, "%s\t%s\t%s\t%.0f\t%s\n", g.Request, g.Cost, was, g.Figure, how)
	}
	_ = w.Flush()
	return b.String()
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

// write writes a line for each figure, so that differences between two versions are read with ease.
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
