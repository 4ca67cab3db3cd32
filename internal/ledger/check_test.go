package ledger_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// A misled store has an index that leads nowhere, or to another record.
type misled struct {
	ledger.Store
	way string         // by what it is misled: id, claim or reference
	to  *ledger.Stored // what it finds; nil for nothing
}

func (s *misled) find(way string, look func() (*ledger.Stored, error)) (*ledger.Stored, error) {
	switch {
	case way != s.way:
		return look()
	case s.to == nil:
		return nil, ledger.ErrNotFound
	}
	return s.to, nil
}

func (s *misled) ByID(ctx context.Context, id uuid.UUID) (*ledger.Stored, error) {
	return s.find("id", func() (*ledger.Stored, error) { return s.Store.ByID(ctx, id) })
}

func (s *misled) ByClaim(ctx context.Context, claim string) (*ledger.Stored, error) {
	return s.find("claim", func() (*ledger.Stored, error) { return s.Store.ByClaim(ctx, claim) })
}

func (s *misled) ByReference(ctx context.Context, reference string, from uint64, limit int) ([]ledger.Stored, error) {
	if s.way != "reference" {
		return s.Store.ByReference(ctx, reference, from, limit)
	}
	if s.to == nil {
		return nil, nil
	}
	return []ledger.Stored{*s.to}, nil
}

// begun returns a store with the entries, and the chain that made them.
func begun(t *testing.T, entries []ledger.Entry) (ledger.Store, *ledgertest.Chain) {
	t.Helper()
	s, c := store(t).Store, ledgertest.NewChain(t)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, b := range []ledger.Batch{c.Next(), c.Next(entries...)} {
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return s, c
}

func TestCheckFindsRecordsThatCannotBeFound(t *testing.T) {
	entries := ledgertest.Entries("lost", 3)
	entries[1].Claims, entries[1].Reference = []ledger.Claim{{Name: "claim"}}, "game"
	s, c := begun(t, entries)
	other, err := s.ByID(t.Context(), entries[0].ID)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"id", "claim", "reference"} {
		for _, to := range []*ledger.Stored{nil, other} {
			check := ledger.Check{Verifier: c.Verify, Visit: func(e *ledger.Stored) ([]ledger.Claim, error) { return entries[e.Index].Claims, nil }}
			result, err := check.Run(t.Context(), &misled{Store: s, way: way, to: to})
			want := "record 1 is not found by its " + way
			if err != nil || !slices.Contains(result.Findings, want) {
				t.Errorf("the check finds %q, %v, want %q", result.Findings, err, want)
			}
		}
	}
}

// Visit says which claims there have to be: these, as they are, and no others.
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

func TestCheckHasEveryEntryVisited(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("visited", 300))
	var visited, progress []uint64
	check := ledger.Check{
		Verifier: c.Verify,
		Visit: func(e *ledger.Stored) ([]ledger.Claim, error) {
			visited = append(visited, e.Index)
			if e.Index == 270 {
				return nil, errors.New("a strange record")
			}
			return nil, nil
		},
		Progress: func(done, total uint64) { progress = append(progress, done, total) },
	}
	result, err := check.Run(t.Context(), s)
	if err != nil || !slices.Equal(result.Findings, []string{"record 270: a strange record"}) {
		t.Errorf("the check finds %q, %v", result.Findings, err)
	}
	if len(visited) != 300 || !slices.IsSorted(visited) || visited[299] != 299 {
		t.Errorf("%d entries were visited, want all 300 in log order", len(visited))
	}
	if !slices.Equal(progress, []uint64{0, 300, 256, 300}) {
		t.Errorf("progress was told as %d", progress)
	}
}

// A store that is damaged all over does not fill the screen.
func TestCheckEndsAfterSomeFindings(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("damaged", 300))
	wrong := &tampered{Store: s, record: func(e *ledger.Stored) { flip(true, &e.Record[9]) }}
	result, err := ledger.Check{Verifier: c.Verify}.Run(t.Context(), wrong)
	if err != nil || len(result.Findings) != 20 {
		t.Errorf("%d findings, %v, want 20", len(result.Findings), err)
	}
	for i, f := range result.Findings {
		if !strings.Contains(f, fmt.Sprintf("record %d ", i)) {
			t.Errorf("finding %d is %q, want it to name the record", i, f)
		}
	}
}

// A store that cannot be read is not one that has something wrong with it, nor one that is well.
func TestCheckOfAStoreThatCannotBeRead(t *testing.T) {
	s, c := begun(t, ledgertest.Entries("unread", 3))
	if _, err := (ledger.Check{Verifier: c.Verify}).Run(t.Context(), &flaky{Store: s, lookups: 1}); !errors.Is(err, ledger.ErrUnavailable) {
		t.Errorf("%v, want ErrUnavailable", err)
	}
}
