package main

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestCompare(t *testing.T) {
	kept := []figure{{"a", costAllocations, 100, 5}, {"a", costInstructions, 1000, 10}}
	for _, v := range []struct {
		name   string
		got    []figure
		counts bool
		want   string // in what is wrong; nothing is if empty
	}{
		{"the same", kept, true, ""},
		{"at the margin", []figure{{"a", costAllocations, 105, 0}, {"a", costInstructions, 1100, 0}}, true, ""},
		{"less", []figure{{"a", costAllocations, 1, 0}, {"a", costInstructions, 1, 0}}, true, ""},
		{"above", []figure{{"a", costAllocations, 106, 50}, kept[1]}, true, "a: allocations grew from 100 to 106, +6.0%, and the margin is 5%"},
		{"not counted", kept[:1], false, ""},
		{"lost", kept[:1], true, "a: a figure of instructions is kept, and it is not measured"},
		{"lost, others not counted", nil, false, "a: a figure of allocations is kept, and it is not measured"},
		{"new", append(slices.Clone(kept), figure{"b", costBytes, 1, 1}), true, "b: no figure of bytes is kept"},
	} {
		if got := strings.Join(compare(kept, v.got, v.counts), "\n"); got != v.want {
			t.Errorf("%s: %q, want %q", v.name, got, v.want)
		}
	}
}

func TestFileKeepsMargins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cost.json")
	kept := []figure{{"a", costBytes, 100, 3}, {"gone", costBytes, 1, 1}}
	if err := write(file, renewed(kept, []figure{newFigure("a", costBytes, 90.4), newFigure("b", costAllocations, 7)})); err != nil {
		t.Fatal(err)
	}
	got, err := read(file)
	if want := []figure{{"a", costBytes, 90, 3}, {"b", costAllocations, 7, 5}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("read %v, %v, want %v", got, err, want)
	}
}

// TestEveryRequestIsKept also sends each, for a path that is no longer there would cost little.
func TestEveryRequestIsKept(t *testing.T) {
	kept, err := read("cost.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		if a, b, err := allocated(t.Context(), r, 2); err != nil || a < 1 || b < a {
			t.Errorf("%s: %g allocations of %g bytes, %v", r.name, a, b, err)
		}
		for _, cost := range []string{costAllocations, costBytes, costInstructions} {
			if k := find(kept, figure{Request: r.name, Cost: cost}); k == nil || k.Figure < 1 || k.Margin <= 0 {
				t.Errorf("%s: of %s, %v is kept", r.name, cost, k)
			}
		}
	}
	if len(kept) != 3*len(requests) {
		t.Errorf("%d figures are kept of %d requests", len(kept), len(requests))
	}
}

func TestParseCount(t *testing.T) {
	if n, err := parseCount("==7== \n==7== I   refs:      153,781,566\n"); n != 153781566 || err != nil {
		t.Errorf("%g, %v", n, err)
	}
	if _, err := parseCount("==7== D refs: 1\n"); err == nil {
		t.Error("a count was read where there is none")
	}
}
