package ledgertest

import (
	"fmt"
	"math"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
)

func testClaimsAreTransferred(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	entries := Entries("claims", 8)
	for i := range 6 {
		entries[i].Claims = []ledger.Claim{{Name: fmt.Sprint("thing ", i), Status: "open", Due: int64(100 + i)}, {Name: fmt.Sprint("other ", i)}}
	}
	transfer := func(entry *ledger.Entry, i int, from uint64) {
		entry.Claims = append(entry.Claims, ledger.Claim{Name: fmt.Sprint("thing ", i), Taken: true, From: from, Status: []string{"", "done"}[i%2]})
	}
	c.Append(s, entries[:6]...)
	transfer(&entries[6], 1, 1)
	transfer(&entries[6], 4, 4)
	c.Append(s, entries[6])
	c.CheckLog(s)
	assert.Equal(t, []uint64{6}, indexes(selected(t, s, ledger.ByClaim("thing 4"))), "the holder of a transferred claim")
	for name, claim := range map[string]ledger.Claim{
		"from an earlier holder":          {Name: "thing 4", Taken: true, From: 4},
		"from another record":             {Name: "thing 4", Taken: true, From: 3},
		"from a record that is not there": {Name: "thing 4", Taken: true, From: 1 << 40},
		"that has a holder":               {Name: "thing 4"},
		"that nobody holds":               {Name: "thing 9", Taken: true, From: 6},
	} {
		entry := Entries("late", 1)
		transfer(&entry[0], 3, 3)
		entry[0].Claims = append(entry[0].Claims, claim)
		attempt := *c
		assert.ErrorIsf(t, s.Append(t.Context(), attempt.Next(entry...)), ledger.ErrConflict, "a claim %s", name)
		c.CheckLog(s)
	}
	transfer(&entries[7], 4, 6)
	c.Append(s, entries[7])
	c.CheckLog(s)
	// An unchanged claim must still be transferred from its holder.
	unchanged := Entries("unchanged", 2)
	for i := range unchanged {
		unchanged[i].Claims = []ledger.Claim{{Name: "thing 5", Taken: true, From: 5, Status: "open", Due: 105, Unchanged: true}}
	}
	c.Append(s, unchanged[0])
	c.CheckLog(s)
	attempt := *c
	assert.ErrorIs(t, s.Append(t.Context(), attempt.Next(unchanged[1])), ledger.ErrConflict,
		"an unchanged claim was transferred from a record that no longer holds it")
	c.CheckLog(s)
	many := append(Entries("many", 100), Entries("takers", 100)...)
	for i := range many[:100] {
		many[i].Claims = []ledger.Claim{{Name: fmt.Sprint("much ", i), Due: 1}}
		many[100+i].Claims = []ledger.Claim{{Name: fmt.Sprint("much ", i), Taken: true, From: uint64(9 + i)}}
	}
	for _, part := range [][]ledger.Entry{many[:100], many[100:171], many[171:]} {
		c.Append(s, part...)
		c.CheckLog(s)
	}
	for want, q := range map[string]ledger.ClaimQuery{
		"[thing 0 thing 2 thing 3 thing 5]":                 {Prefix: "thing ", DueBy: math.MaxInt64},
		"[thing 0 thing 1 thing 2 thing 3 thing 4 thing 5]": {Prefix: "thing "},
		"[thing 1]":                 {Prefix: "thing ", Done: true, Status: "done"},
		"[thing 4]":                 {Prefix: "thing ", Done: true},
		"[thing 0 thing 2 thing 3]": {Prefix: "thing ", DueBy: 103},
		"[thing 3 thing 5]":         {Prefix: "thing ", DueBy: 200, After: "thing 2"},
		"[other 0 other 1 other 2 other 3 other 4 other 5]": {Prefix: "other "},
		"[]": {Prefix: "thing ", Done: true, Status: "open"},
	} {
		q.Limit = 10
		list, err := s.Claims(t.Context(), q)
		require.NoErrorf(t, err, "%+v", q)
		assert.Equalf(t, want, names(list), "%+v", q)
		n, err := s.CountClaims(t.Context(), q)
		require.NoError(t, err)
		assert.EqualValues(t, len(list), n, "%+v", q)
	}
	list, err := s.Claims(t.Context(), ledger.ClaimQuery{Prefix: "thing ", Limit: 1})
	require.NoError(t, err)
	assert.Equal(t, []ledger.Claim{{Name: "thing 0", Status: "open", Due: 100}}, list)
}

// One look-up of many names returns what single look-ups return.
func testHoldersAndFirsts(t *testing.T, e Engine) {
	s, c := e.newLog(t)
	odd := []string{"it's", `"quoted"`, `{"json":[]}`, "♠ 牌", `back\slash`, "%_"}
	entries := Entries("looked up", 60)
	for i := range entries {
		name := odd[i%len(odd)]
		entries[i].Reference = name
		if i > 50 {
			entries[i].Reference = fmt.Sprint("only ", i)
		}
		entries[i].Claims = []ledger.Claim{{Name: fmt.Sprint(name, i), Status: []string{"", "open"}[i%2], Due: int64(i / 2)}}
	}
	entries[59].Claims = []ledger.Claim{{Name: odd[0] + "0", Taken: true, From: 0}}
	c.Append(s, entries[:59]...)
	c.Append(s, entries[59])
	claims, references := []string{"nobody's", odd[0] + "0"}, append([]string{"nobody's", "only 52", "only"}, odd...)
	for i := range 59 {
		claims = append(claims, fmt.Sprint(odd[i%len(odd)], i))
	}
	for i := range 2000 {
		claims, references = append(claims, fmt.Sprint("free ", i)), append(references, fmt.Sprint("free ", i))
	}
	holders, err := s.Holders(t.Context(), claims)
	require.NoError(t, err)
	require.Len(t, holders, 59)
	for name, got := range holders {
		want := selected(t, s, ledger.ByClaim(name))[0]
		assert.Equal(t, ledger.Holder{Position: ledger.Position{Index: want.Index, ID: want.ID}, Status: want.Claims[0].Status, Due: want.Claims[0].Due}, got, name)
	}
	firsts, err := s.Firsts(t.Context(), references)
	require.NoError(t, err)
	require.Len(t, firsts, len(odd)+1)
	for reference, got := range firsts {
		want := []ledger.Position{}
		for _, e := range selected(t, s, ledger.ByReference(reference, 0, 2)) {
			want = append(want, ledger.Position{Index: e.Index, ID: e.ID})
		}
		assert.Equal(t, want, got, "the first entries of %s", reference)
	}
	ids := []uuid.UUID{uuid.New(), entries[7].ID, entries[40].ID}
	list, err := s.ByIDs(t.Context(), ids)
	require.NoError(t, err)
	require.Len(t, list, 2)
	for _, got := range list {
		assert.Equal(t, selected(t, s, ledger.ByID(got.ID)), []ledger.StoredEntry{got})
	}
	next := uint64(50)
	require.NoError(t, s.Found(t.Context(), next, 20, func(index uint64, byID, byReference int64) {
		want := int64(-1)
		if entries[index].Reference != "" {
			want = int64(index)
		}
		assert.Equal(t, []int64{int64(next), int64(next), want}, []int64{int64(index), byID, byReference})
		next++
	}))
	assert.Equal(t, uint64(60), next)
	head, err := s.Head(t.Context())
	require.NoError(t, err)
	for except, want := range map[string]uint64{"": 59, odd[0]: 59 - 59/uint64(len(odd)) - 1} {
		got, claims, err := s.Snapshot(t.Context(), except)
		require.NoError(t, err)
		assert.Equal(t, want, claims)
		assert.Equal(t, head, got)
	}
	holders, err = s.Holders(t.Context(), nil)
	require.NoError(t, err)
	assert.Empty(t, holders, "of no claims")
}

func names(claims []ledger.Claim) string {
	list := []string{}
	for _, c := range claims {
		list = append(list, c.Name)
	}
	return fmt.Sprint(list)
}
