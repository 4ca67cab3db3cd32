package ledger_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// outcome returns an entry's index, or the claim or record that it conflicts with.
func outcome(index uint64, err error) string {
	var claim *ledger.ClaimError
	var notUnique *ledger.NotUniqueError
	switch {
	case err == nil:
		return fmt.Sprint(index)
	case errors.As(err, &claim):
		return claim.Name
	case errors.As(err, &notUnique):
		return notUnique.First.String()
	}
	return err.Error()
}

// appendTogether appends entries in one batch while a commit of first is in flight. It returns all
// outcomes.
func appendTogether(l *ledger.Log, f *faultyStore, first ledger.Entry, entries []ledger.Entry) []string {
	outcomes := make([]string, 1+len(entries))
	var wait sync.WaitGroup
	for i, e := range append([]ledger.Entry{first}, entries...) {
		wait.Go(func() { outcomes[i] = outcome(l.Append(e)) })
		synctest.Wait()
	}
	close(f.release)
	wait.Wait()
	return outcomes
}

// An entry is unique if no other entry has its reference, in the log or earlier in the batch,
// except the one that it names. A rejected entry uses no index.
func TestUniqueReference(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		f.release = make(chan struct{})
		conflicts := 0
		l := open(t, f, ledger.Options{Observe: func(c ledger.Commit) { conflicts += c.Conflicts }})
		entries := ledgertest.Entries("unique", 12)
		for i := range entries {
			entries[i].Reference, entries[i].Unique = "game", i > 0
		}
		first := entries[0]
		entries[1].Besides = first.ID                                         // the only other entry
		entries[2].Besides = first.ID                                         // entry 1 precedes it too
		entries[3].Besides = entries[1].ID                                    // entry 0 precedes it too
		entries[4].Reference, entries[5].Reference = "another", "another"     // 5 follows 4
		entries[6].Reference, entries[6].Unique = "plain", false              //
		entries[7].Reference = "plain"                                        // follows 6
		entries[8].Reference, entries[8].Besides = "plain", entries[6].ID     // in the same batch
		entries[9].Reference, entries[9].Unique = "another", false            //
		entries[10].Reference, entries[10].Besides = "nobody's", uuid.UUID{1} //
		got := appendTogether(l, f, first, entries[1:11])
		zero, one, four, six := first.ID.String(), entries[1].ID.String(), entries[4].ID.String(), entries[6].ID.String()
		want := []string{"0", "1", one, zero, "2", four, "3", six, "4", "5", "6"}
		assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "got  %v\nwant %v", got, want)
		assert.Equal(t, zero, outcome(l.Append(entries[11])), "an entry of a later batch")
		assert.Equal(t, 0, conflicts)
	})
}

// Claims that conflict within one batch need no look-up.
func TestClaimedTwiceInABatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		f.release = make(chan struct{})
		conflicts := 0
		l := open(t, f, ledger.Options{Observe: func(c ledger.Commit) { conflicts += c.Conflicts }})
		entries := ledgertest.Entries("claimed", 7)
		for i, claims := range [][]ledger.Claim{
			{{Name: "taken"}},
			{{Name: "new"}},
			{{Name: "new"}},
			{{Name: "own"}, {Name: "new"}},
			{{Name: "taken", Taken: true}},
			{{Name: "taken", Taken: true}},
			{{Name: "own"}}, // of a rejected entry
		} {
			entries[i].Claims = claims
		}
		got := appendTogether(l, f, entries[0], entries[1:])
		want := []string{"0", "1", "new", "new", "2", "taken", "3"}
		assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "got %v, want %v", got, want)
		assert.Equal(t, 0, conflicts)
	})
}

// Another process appends first. Then a constant number of queries looks up the whole batch, and
// the entries in conflict are rejected by name.
func TestConflictLooksUpTheBatchAtOnce(t *testing.T) {
	key := filepath.Join(t.TempDir(), ledger.KeyName)
	f := newStore(t)
	f.release, f.entered, f.shared = make(chan struct{}), make(chan struct{}, 10), true
	other := open(t, f.Store, ledger.Options{KeyFile: key})
	single, many := 0, 0 // look-ups of one name, and of many
	f.called = func(method string) error {
		switch method {
		case "ByClaim", "ByReference":
			single++
		case "Holders", "Firsts":
			many++
		}
		return nil
	}
	var commits []ledger.Commit
	l := open(t, f, ledger.Options{KeyFile: key, Observe: func(c ledger.Commit) { commits = append(commits, c) }})
	theirs := ledgertest.Entries("theirs", 2)
	theirs[0].Claims, theirs[1].Reference = []ledger.Claim{{Name: "claim 7"}}, "game 9"
	const entered = 400
	entries := ledgertest.Entries("mine", entered)
	for i := range entries {
		entries[i].Claims = []ledger.Claim{{Name: fmt.Sprint("claim ", i)}}
		entries[i].Reference, entries[i].Unique = fmt.Sprint("game ", i), i%2 == 1
	}
	outcomes := make([]string, entered)
	var wait sync.WaitGroup
	for i := range entries {
		wait.Go(func() { outcomes[i] = outcome(l.Append(entries[i])) })
	}
	<-f.entered
	f.race = func() { appendEntry(t, other, theirs[0]); appendEntry(t, other, theirs[1]) }
	close(f.release)
	wait.Wait()
	for i, got := range outcomes {
		switch want := map[int]string{7: "claim 7", 9: theirs[1].ID.String()}[i]; {
		case want != "":
			assert.Equalf(t, want, got, "entry %d", i)
		case len(got) > 4:
			t.Errorf("entry %d: %s", i, got)
		}
	}
	conflicts, records := 0, 0
	for _, c := range commits {
		conflicts, records = conflicts+c.Conflicts, records+c.Records
	}
	if most := 1 + 2*len(commits) + conflicts; single != 0 || many > most || many == 0 || conflicts == 0 {
		t.Errorf("%d commits with %d conflicts made %d look-ups of one name and %d of many, want 0 and at most %d", len(commits), conflicts, single, many, most)
	}
	assert.Equal(t, entered-2, records)
}

// An entry does not conflict with itself if an earlier attempt committed it.
func TestUniqueAfterAnUnnoticedCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newStore(t)
		l := open(t, f, ledger.Options{})
		entries := ledgertest.Entries("unnoticed", 2)
		for i := range entries {
			entries[i].Reference, entries[i].Unique = "game", true
		}
		f.lose(func(f *faultyStore) { f.lostAfter, f.lostLookups = 1, 1 })
		got := []string{outcome(l.Append(entries[0])), outcome(l.Append(entries[1]))}
		want := []string{"0", entries[0].ID.String()}
		assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "got %v, want %v", got, want)
	})
}

// Another process's entry rejects a duplicate only after this log has confirmed it.
func TestNotUniqueForWhatIsDurable(t *testing.T) {
	s, key := newStore(t), filepath.Join(t.TempDir(), ledger.KeyName)
	other := open(t, &faultyStore{Store: s.Store, shared: true}, ledger.Options{KeyFile: key})
	l := open(t, s, ledger.Options{KeyFile: key})
	entries := ledgertest.Entries("two logs", 2)
	for i := range entries {
		entries[i].Reference, entries[i].Unique = "game", true
	}
	appendEntry(t, other, entries[0])
	got := outcome(l.Append(entries[1]))
	assert.Equalf(t, entries[0].ID.String(), got, "the second entry: %s, want that %s was first", got, entries[0].ID)
	size, _ := l.Sizes()
	assert.EqualValues(t, 1, size, "the log is durable up")
}
