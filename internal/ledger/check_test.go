package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestCheckFindsDamagedIndexes(t *testing.T) {
	entries := ledgertest.Entries("lost", 3)
	entries[1].Claims, entries[1].Reference = []ledger.Claim{{Name: "claim"}}, "game"
	s, c := begun(t, entries)
	other, err := s.ByID(t.Context(), entries[0].ID)
	require.NoError(t, err)
	for _, index := range []string{"ID", "Claim", "Reference"} {
		for _, to := range []*ledger.Stored{nil, other} {
			check := ledger.Check{Verifier: c.Verify, Visit: func(e *ledger.Stored) ([]ledger.Claim, error) { return entries[e.Index].Claims, nil }}
			result, err := check.Run(t.Context(), &faultyStore{Store: s, index: "By" + index, to: to})
			want := "record 1 is not found by its " + strings.ToLower(index)
			if err != nil || !slices.Contains(result.Findings, want) {
				t.Errorf("the check finds %q, %v, want %q", result.Findings, err, want)
			}
		}
	}
}

// The store must have the claims that Visit returns, and no others.
func TestCheckComparesClaims(t *testing.T) {
	entries := ledgertest.Entries("claims", 3)
	entries[1].Claims = []ledger.Claim{{Name: "one", Status: "open", Due: 7}, {Name: "key 1"}}
	s, c := begun(t, entries)
	for _, v := range []struct {
		claims  []ledger.Claim
		except  string
		finding string
	}{
		{entries[1].Claims, "", ""},
		{entries[1].Claims[:1], "key ", ""},
		{entries[1].Claims[:1], "", "there are 2 claims, and the records have 1"},
		{nil, "key ", "there are 1 claims, and the records have 0"},
		{append(entries[1].Claims, ledger.Claim{Name: "two"}), "", "record 1 is not found by its claim"},
		{[]ledger.Claim{{Name: "one", Status: "used", Due: 7}, {Name: "key 1"}}, "", `record 1 holds the claim one as "open" due at 7, and not as "used" due at 7`},
		{[]ledger.Claim{{Name: "one", Status: "open"}, {Name: "key 1"}}, "", `record 1 holds the claim one as "open" due at 7, and not as "open" due at 0`},
	} {
		check := ledger.Check{Verifier: c.Verify, Except: v.except, Visit: func(e *ledger.Stored) ([]ledger.Claim, error) {
			if e.Index == 1 {
				return v.claims, nil
			}
			return nil, nil
		}}
		result, err := check.Run(t.Context(), s)
		if err != nil || len(result.Findings) > 0 != (v.finding != "") || v.finding != "" && !slices.Contains(result.Findings, v.finding) {
			t.Errorf("%v: %q, %v, want %q", v.claims, result.Findings, err, v.finding)
		}
	}
}

func TestCheckVisitsEveryEntry(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("visited", 300))
	var visited, progress []uint64
	check := ledger.Check{
		Verifier: c.Verify,
		Visit: func(e *ledger.Stored) ([]ledger.Claim, error) {
			visited = append(visited, e.Index)
			if e.Index == 270 {
				return nil, errors.New("an invalid record")
			}
			return nil, nil
		},
		Progress: func(done, total uint64) { progress = append(progress, done, total) },
	}
	result, err := check.Run(t.Context(), s)
	require.NoError(t, err, "the check finds")
	assert.Equal(t, []string{"record 270: an invalid record"}, result.Findings, "the check finds")
	if len(visited) != 300 || !slices.IsSorted(visited) || visited[299] != 299 {
		t.Errorf("%d entries were visited, want all 300 in log order", len(visited))
	}
	assert.Equal(t, []uint64{0, 300, 256, 300}, progress, "progress was reported as")
}

func TestCheckEndsAfter20Findings(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("damaged", 300))
	tampered := &faultyStore{Store: s, index: "ByID", record: func(e *ledger.Stored) { flipIf(true, &e.Record[9]) }}
	visited := 0
	result, err := ledger.Check{Verifier: c.Verify, Visit: func(e *ledger.Stored) ([]ledger.Claim, error) {
		if visited++; e.Index == 0 {
			return nil, errors.New("an invalid record")
		}
		return nil, nil
	}}.Run(t.Context(), tampered)
	if err != nil || len(result.Findings) != 20 || visited != 10 {
		t.Errorf("%d findings in %d records, %v, want 20 in 10", len(result.Findings), visited, err)
	}
	for i, f := range result.Findings { // three of the first record, and two of each other
		assert.Containsf(t, f, fmt.Sprint("record ", (i-1)/2), "finding %d", i)
	}
}

func TestCheckOfUnavailableStore(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("unread", 3))
	_, err := (ledger.Check{Verifier: c.Verify}).Run(t.Context(), &faultyStore{Store: s, lostLookups: 1})
	assert.ErrorIs(t, err, ledger.ErrUnavailable)
}
