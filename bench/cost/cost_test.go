package main

import (
	"maps"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCompare(t *testing.T) {
	recorded := map[string]figures{"a": {100, 1000, 10_000}}
	for name, v := range map[string]struct {
		got  map[string]figures
		want string // in the error; empty for none
	}{
		"equal":                {recorded, ""},
		"at the margins":       {map[string]figures{"a": {105, 1100, 11_000}}, ""},
		"less":                 {map[string]figures{"a": {1, 1, 1}}, ""},
		"not counted":          {map[string]figures{"a": {100, 1000, 0}}, ""},
		"more allocations":     {map[string]figures{"a": {106, 1000, 10_000}}, "a: allocations grew by 6.0%, more than 5%"},
		"more bytes":           {map[string]figures{"a": {100, 1101, 10_000}}, "a: bytes grew by 10.1%"},
		"more instructions":    {map[string]figures{"a": {100, 1000, 11_001}}, "a: instructions grew by 10.0%"},
		"request not measured": {map[string]figures{}, "a is recorded, but was not measured"},
		"new request":          {map[string]figures{"a": recorded["a"], "b": {}}, "b is not recorded"},
	} {
		_, err := compare(recorded, v.got)
		if (err == nil) != (v.want == "") || err != nil && !strings.Contains(err.Error(), v.want) {
			t.Errorf("%s: %v, want %q", name, err, v.want)
		}
	}
}

// TestRequests sends each request, because a path that does not exist would cost little.
func TestRequests(t *testing.T) {
	recorded, err := read("cost.json")
	require.NoError(t, err)
	for name, r := range requests {
		if a, b, err := allocated(t.Context(), r, 2); err != nil || a < 1 || b < a {
			t.Errorf("%s: %g allocations of %g bytes, %v", name, a, b, err)
		}
		if f := recorded[name]; f.Allocations < 1 || f.Bytes < 1 || f.Instructions < 1 {
			t.Errorf("%s: recorded %+v", name, f)
		}
	}
	assert.Len(t, recorded, len(requests))
	copied := filepath.Join(t.TempDir(), "cost.json")
	require.NoError(t, write(copied, recorded))
	if again, err := read(copied); err != nil || !maps.Equal(again, recorded) {
		t.Errorf("wrote %v, read %v, %v", recorded, again, err)
	}
}
