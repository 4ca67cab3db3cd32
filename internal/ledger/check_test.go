package ledger_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestCheckFindsDamagedIndexes(t *testing.T) {
	entries := ledgertest.Entries("lost", 3)
	entries[1].Claims, entries[1].Reference = []ledger.Claim{{Name: "claim"}}, "game"
	s, c := begun(t, entries)
	other, err := ledger.FirstOrNotFound(s.Select(t.Context(), ledger.ByID(entries[0].ID)))
	require.NoError(t, err)
	for _, index := range []string{"ID", "Claim", "Reference"} {
		for _, to := range []*ledger.StoredEntry{nil, other} {
			check := ledger.Check{Verifier: c.Verify, Visit: began(func(e *ledger.StoredEntry) ([]ledger.Claim, error) { return entries[e.Index].Claims, nil })}
			result, err := check.Run(t.Context(), &faultyStore{Store: s, index: "By" + index, to: to})
			want := "record 1 is not found by its " + strings.ToLower(index)
			assert.Truef(t, err == nil && slices.Contains(result.Findings, want), "the check finds %q, %v, want %q", result.Findings, err, want)
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
		{[]ledger.Claim{{Name: "one", Taken: true, Unchanged: true}, {Name: "key 1"}}, "", "there are 2 claims, and the records have 1"},
		{[]ledger.Claim{{Name: "one", Status: "open", Due: 7}, {Name: "key 1", Unchanged: true}}, "", "record 1 holds the claim key 1, which is never due"},
		{[]ledger.Claim{{Name: "one", Status: "used", Due: 7}, {Name: "key 1"}}, "", `record 1 holds the claim one as "open" due at 7, and not as "used" due at 7`},
		{[]ledger.Claim{{Name: "one", Status: "open"}, {Name: "key 1"}}, "", `record 1 holds the claim one as "open" due at 7, and not as "open" due at 0`},
	} {
		check := ledger.Check{Verifier: c.Verify, Except: v.except, Visit: began(func(e *ledger.StoredEntry) ([]ledger.Claim, error) {
			if e.Index == 1 {
				return v.claims, nil
			}
			return nil, nil
		})}
		result, err := check.Run(t.Context(), s)
		if err != nil || len(result.Findings) > 0 != (v.finding != "") || v.finding != "" && !slices.Contains(result.Findings, v.finding) {
			t.Errorf("%v: %q, %v, want %q", v.claims, result.Findings, err, v.finding)
		}
	}
}

func TestCheckVisitsEveryEntry(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("visited", 1030))
	var mu sync.Mutex
	var visited, progress []uint64
	check := ledger.Check{
		Verifier: c.Verify,
		Visit: began(func(e *ledger.StoredEntry) ([]ledger.Claim, error) {
			mu.Lock()
			defer mu.Unlock()
			visited = append(visited, e.Index)
			if e.Index == 1026 {
				return nil, errors.New("an invalid record")
			}
			return nil, nil
		}),
		Progress: func(done, total uint64) { progress = append(progress, done, total) },
	}
	result, err := check.Run(t.Context(), s)
	require.NoError(t, err, "the check finds")
	assert.Equal(t, []string{"record 1026: an invalid record"}, result.Findings, "the check finds")
	slices.Sort(visited)
	assert.Truef(t, len(visited) == 1030 && visited[1029] == 1029, "%d entries were visited, want all 1030 once", len(visited))
	assert.Equal(t, []uint64{1024, 1030, 1030, 1030}, progress, "progress was reported as")
}

func TestCheckEndsAfter20Findings(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("damaged", 20_000))
	tampered := &faultyStore{Store: s, index: "ByID", record: func(e *ledger.StoredEntry) { flipIf(true, &e.Record[9]) }}
	var visited atomic.Int64
	result, err := ledger.Check{Verifier: c.Verify, Visit: began(func(e *ledger.StoredEntry) ([]ledger.Claim, error) {
		if visited.Add(1); e.Index == 0 {
			return nil, errors.New("an invalid record")
		}
		return nil, nil
	})}.Run(t.Context(), tampered)
	if err != nil || len(result.Findings) != 20 || visited.Load() == 20_000 {
		t.Errorf("%d findings in %d records, %v, want 20 in fewer than 20000", len(result.Findings), visited.Load(), err)
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

// began returns a Visit of entries that began claims.
func began(claims func(*ledger.StoredEntry) ([]ledger.Claim, error)) func(*ledger.StoredEntry) (ledger.Visited, error) {
	return func(e *ledger.StoredEntry) (ledger.Visited, error) {
		list, err := claims(e)
		return ledger.Visited{Claims: list}, err
	}
}

// The log may grow during a check, which covers its records of before; the next check goes on from
// there. A claim may pass to a later record only if that took it.
func TestCheckContinues(t *testing.T) {
	entries := ledgertest.Entries("first", 3000)
	entries[7].Claims = []ledger.Claim{{Name: "one"}, {Name: "two"}}
	s, c := begun(t, entries)
	claims := map[uint64][]ledger.Claim{7: entries[7].Claims}
	var mu sync.Mutex
	grow := func(e *ledger.StoredEntry) ([]ledger.Claim, error) {
		mu.Lock()
		defer mu.Unlock()
		if index := uint64(3000); e.Index == 5 && claims[index] == nil {
			next := ledgertest.Entries("second", 1500)
			next[0].Claims = []ledger.Claim{{Name: "one", Taken: true, From: 7, Status: "done"}, {Name: "three"}}
			claims[index] = next[0].Claims
			c.Append(s, next...)
		}
		return claims[e.Index], nil
	}
	first, err := ledger.Check{Verifier: c.Verify, Visit: began(grow)}.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Empty(t, first.Findings)
	assert.Equal(t, uint64(3000), first.State.Size)
	assert.Equal(t, uint64(2), first.State.Claims)
	var saved []uint64
	again := ledger.Check{Verifier: c.Verify, From: first.State, Save: func(s ledger.CheckState) { saved = append(saved, s.Size) }}
	visit := func(e *ledger.StoredEntry) ([]ledger.Claim, error) {
		require.GreaterOrEqual(t, e.Index, uint64(3000), "a checked record is visited again")
		return claims[e.Index], nil
	}
	again.Visit = began(visit)
	second, err := again.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Empty(t, second.Findings)
	assert.Equal(t, []uint64{4024, 4500}, saved)
	assert.Equal(t, uint64(3), second.State.Claims)

	again.From.Edge = slices.Concat(again.From.Edge[32:64], again.From.Edge[:32], again.From.Edge[64:])
	other, err := again.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Contains(t, strings.Join(other.Findings, "\n"), "was signed", "after records of another log")
	again.From = ledger.CheckState{Size: 5000, Edge: slices.Repeat(first.State.Edge[:32], 5)}
	longer, err := again.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"there are 4500 records, and an earlier check found 5000"}, longer.Findings)

	claims[3000] = claims[3000][1:]
	stolen, err := ledger.Check{Verifier: c.Verify, Visit: began(grow)}.Run(t.Context(), s)
	require.NoError(t, err)
	assert.Equal(t, []string{"record 7 is not found by its claim, which record 3000 holds without having taken it"}, stolen.Findings)
}

// A visit gets the entry on which its own builds, or nil if it does not exist.
func TestCheckOfOrigins(t *testing.T) {
	entries := ledgertest.Entries("origins", 1500)
	s, c := begun(t, entries)
	for origin, want := range map[uuid.UUID]int64{entries[3].ID: 3, entries[1400].ID: 1400, uuid.New(): -1} {
		check := ledger.Check{Verifier: c.Verify, Visit: func(e *ledger.StoredEntry) (v ledger.Visited, _ error) {
			if e.Index == 1000 {
				v.Origin, v.CheckOrigin = origin, func(o *ledger.StoredEntry) error {
					if o == nil {
						return errors.New("built on -1")
					}
					return fmt.Errorf("built on %d", o.Index)
				}
			}
			return v, nil
		}}
		result, err := check.Run(t.Context(), s)
		require.NoError(t, err)
		assert.Equal(t, []string{fmt.Sprint("record 1000: built on ", want)}, result.Findings)
	}
}
