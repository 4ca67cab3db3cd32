package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	recorded := []figure{{"a", costAllocations, 100, 5}, {"a", costInstructions, 1000, 10}}
	for _, v := range []struct {
		name   string
		got    []figure
		counts bool
		want   string // what is wrong, or empty
	}{
		{"the same", recorded, true, ""},
		{"at the margin", []figure{{"a", costAllocations, 105, 0}, {"a", costInstructions, 1100, 0}}, true, ""},
		{"less", []figure{{"a", costAllocations, 1, 0}, {"a", costInstructions, 1, 0}}, true, ""},
		{"above", []figure{{"a", costAllocations, 106, 50}, recorded[1]}, true, "a: allocations grew from 100 to 106, +6.0%, and the margin is 5%"},
		{"not counted", recorded[:1], false, ""},
		{"lost", recorded[:1], true, "a: instructions are recorded, but were not measured"},
		{"lost, others not counted", nil, false, "a: allocations are recorded, but were not measured"},
		{"new", append(slices.Clone(recorded), figure{"b", costBytes, 1, 1}), true, "b: no bytes are recorded"},
	} {
		if got := strings.Join(compare(recorded, v.got, v.counts), "\n"); got != v.want {
			t.Errorf("%s: %q, want %q", v.name, got, v.want)
		}
	}
}

func TestUpdateKeepsMargins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cost.json")
	recorded := []figure{{"a", costBytes, 100, 3}, {"removed", costBytes, 1, 1}}
	if err := write(file, withMargins(recorded, []figure{newFigure("a", costBytes, 90.4), newFigure("b", costAllocations, 7)})); err != nil {
		t.Fatal(err)
	}
	got, err := read(file)
	if want := []figure{{"a", costBytes, 90, 3}, {"b", costAllocations, 7, 5}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
}

// TestEveryRequestIsRecorded also sends each request, because a path that no longer exists would
// cost little.
func TestEveryRequestIsRecorded(t *testing.T) {
	recorded, err := read("cost.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if a, b, err := allocated(t.Context(), r, 2); err != nil || a < 1 || b < a {
			t.Errorf("%s: %g allocations of %g bytes, %v", r.name, a, b, err)
		}
		for _, cost := range []string{costAllocations, costBytes, costInstructions} {
			if k := find(recorded, figure{Request: r.name, Cost: cost}); k == nil || k.Figure < 1 || k.Margin <= 0 {
				t.Errorf("%s: recorded %s are %v", r.name, cost, k)
			}
		}
	}
	if len(recorded) != 3*len(requests) {
		t.Errorf("%d figures are recorded for %d requests", len(recorded), len(requests))
	}
}

func TestParseCount(t *testing.T) {
	if n, err := parseCount("==7== \n==7== I   refs:      153,781,566\n"); n != 153781566 || err != nil {
		t.Errorf("%g, %v", n, err)
	}
	if _, err := parseCount("==7== D refs: 1\n"); err == nil {
		t.Error("output without a count passes")
	}
}
