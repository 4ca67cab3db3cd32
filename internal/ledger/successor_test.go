package ledger_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestSuccessorsAreNamed(t *testing.T) {
	for location, want := range map[string]string{
		"":                                 "",
		"postgres://u@h/db":                "postgres://u@h/db?search_path=riffle_2",
		"postgres://u@h/db?a=b":            "postgres://u@h/db?a=b&search_path=riffle_2",
		"postgres://h/db?search_path=p&x=": "postgres://h/db?search_path=p_2&x=",
	} {
		assert.Equal(t, want, ledger.SuccessorStore(location, 2))
	}
	folder := t.TempDir()
	l := openFolder(t, folder)
	defer closeLog(t, l)
	next := l.NextKey(ledger.SuccessorOrigin(l.Origin(), 3))
	key, err := ledger.SuccessorKey(l.Verifier(), ledger.SuccessorFolder(folder, 3))
	assert.NoError(t, err)
	assert.Equal(t, next, key)
	key, err = ledger.SuccessorKey(l.Verifier(), folder)
	assert.NoError(t, err)
	assert.Equal(t, l.Verifier(), key, "the first log")
}

// TestNothingFollowsTheEnd ends a log that two processes append to.
func TestNothingFollowsTheEnd(t *testing.T) {
	key := filepath.Join(t.TempDir(), ledger.KeyName)
	f := newStore(t)
	f.shared = true
	other, l := open(t, f.Store, ledger.Options{KeyFile: key}), open(t, f, ledger.Options{KeyFile: key})
	entries := ledgertest.Entries("end", 4)
	entries[1].Claims = []ledger.Claim{{Name: ledger.EndClaim}}
	appendEntry(t, l, entries[0])
	ended, err := other.CheckEnded(t.Context())
	assert.NoError(t, err)
	assert.False(t, ended)
	appendEntry(t, l, entries[1])
	<-l.Ended()
	_, err = other.ByClaim(t.Context(), ledger.EndClaim) // so that its next batch does not conflict
	assert.NoError(t, err)
	for name, log := range map[string]*ledger.Log{"this process": l, "another one": other} {
		_, err := log.Append(entries[2])
		assert.ErrorIs(t, err, ledger.ErrEnded, name)
	}
	<-other.Ended()
	assert.NoError(t, l.Err())
	assert.NoError(t, other.Err())
}

// TestRestIsAppendedTogether appends entries that belong together twice, and others with them.
func TestRestIsAppendedTogether(t *testing.T) {
	f := newStore(t)
	l := open(t, f, ledger.Options{})
	entries := ledgertest.Entries("rest", 8)
	group := entries[1]
	group.Claims, group.Rest, group.Copied = []ledger.Claim{{Name: "first"}}, entries[2:5], true
	group.Rest[2].Claims, group.Rest[2].Copied = []ledger.Claim{{Name: "last"}}, true
	assert.EqualValues(t, 0, appendEntry(t, l, entries[0]))
	assert.EqualValues(t, 1, appendEntry(t, l, group))
	_, err := l.Append(group)
	assert.ErrorIs(t, err, ledger.ErrClaimed, "appended before")
	assert.NoError(t, l.Err())
	assert.EqualValues(t, 5, appendEntry(t, l, entries[5]))
	for claim, index := range map[string]uint64{"first": 1, "last": 4} {
		holder, err := l.ByClaim(t.Context(), claim)
		require.NoError(t, err)
		assert.Equal(t, index, holder.Index, claim)
	}
}

// TestEarlierLogsAreAsked looks up in a log and the one that it follows.
func TestEarlierLogsAreAsked(t *testing.T) {
	first, second := open(t, newStore(t), ledger.Options{}), open(t, newStore(t), ledger.Options{})
	entries := ledgertest.Entries("earlier", 3)
	entries[0].Claims, entries[0].Reference = []ledger.Claim{{Name: "claim"}}, "game"
	appendEntry(t, first, entries[0])
	appendEntry(t, second, entries[1])
	second.Follow(func() (*ledger.Log, error) { return first, nil })
	for _, find := range []func() (*ledger.StoredEntry, error){
		func() (*ledger.StoredEntry, error) { return second.ByID(t.Context(), entries[0].ID) },
		func() (*ledger.StoredEntry, error) { return second.ByClaim(t.Context(), "claim") },
	} {
		found, err := find()
		require.NoError(t, err)
		assert.Same(t, first, found.Log())
		sidecar, err := second.Sidecar(found)
		assert.NoError(t, err)
		assert.Equal(t, entries[0].Sidecar, sidecar)
	}
	entries[2].Reference, entries[2].Unique = "game", true
	_, err := second.Append(entries[2])
	var notUnique *ledger.NotUniqueError
	require.ErrorAs(t, err, &notUnique)
	assert.Equal(t, entries[0].ID, notUnique.First)
	second.Follow(func() (*ledger.Log, error) { return nil, ledger.ErrUnavailable })
	_, err = second.ByID(t.Context(), entries[0].ID)
	assert.ErrorIs(t, err, ledger.ErrUnavailable)
}
