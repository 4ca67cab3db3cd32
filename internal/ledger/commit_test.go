package ledger_test

import (
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestLostConnectionIsReconciled(t *testing.T) {
	for name, lose := range map[string]func(*faultyStore){
		"before writing":                    func(f *faultyStore) { f.lostBefore = 1 },
		"after writing":                     func(f *faultyStore) { f.lostAfter = 1 },
		"before writing, and several times": func(f *faultyStore) { f.lostBefore, f.lostHeads = 3, 2 },
		"after writing, and several times":  func(f *faultyStore) { f.lostAfter, f.lostHeads = 1, 3 },
		"after writing, and in the look-up": func(f *faultyStore) { f.lostAfter, f.lostLookups = 1, 1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newStore(t)
			l := open(t, f, ledger.Options{})
			for i, e := range ledgertest.Entries(name, 6) {
				if i == 2 || i == 4 {
					f.lose(lose)
				}
				e.Claims = []ledger.Claim{{Name: e.ID.String()}}
				require.Equalf(t, uint64(i), appendEntry(t, l, e), "entry %d has index", i)
			}
			assert.EqualValues(t, 6, ledgertest.CheckLog(t, f.Store, verifier(t, l)), "the log")
		})
	}
}

// Append must also pause between attempts.
func TestPatienceEndsAndBreaksTheLog(t *testing.T) {
	const always = 1 << 20
	for name, f := range map[string]*faultyStore{
		"unreachable":                    {lostBefore: 1, lostHeads: always},
		"readable but not writable":      {lostBefore: always},                        // now a standby
		"conflict with an unknown batch": {lostBefore: 1, before: ledger.ErrConflict}, // its own, perhaps
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				lostHeads := f.lostHeads
				f.Store, f.lostHeads = newStore(t).Store, 0
				l := open(t, f, ledger.Options{Patience: 5 * time.Second})
				f.lose(func(f *faultyStore) { f.lostHeads = lostHeads })
				before := f.lostBefore
				began := time.Now()
				_, err := l.Append(ledgertest.Entries("lost", 1)[0])
				assert.ErrorIs(t, err, ledger.ErrBroken)
				took := time.Since(began)
				assert.Truef(t, took >= 5*time.Second && took <= 7*time.Second, "Append returned after %s, want about 5 s", took)
				attempts := before - f.lostBefore
				assert.Truef(t, attempts <= 20, "there were %d attempts", attempts)
			})
		})
	}
}

// The first attempt may have been written, so ErrNoSpace would be wrong.
func TestFullDiskAfterLostConnectionBreaksTheLog(t *testing.T) {
	f := newStore(t)
	f.lostAfter, f.lostLookups, f.before = 1, 1, ledger.ErrNoSpace
	l := open(t, f, ledger.Options{})
	_, err := l.Append(ledgertest.Entries("unknown", 1)[0])
	assert.Truef(t, errors.Is(err, ledger.ErrBroken) && !errors.Is(err, ledger.ErrNoSpace), "%v, want ErrBroken and not ErrNoSpace", err)
}

func TestReconnectValidatesTheHead(t *testing.T) {
	for name, damage := range map[string]func(h *ledger.Head, earlier ledger.Head){
		"rolled back": func(h *ledger.Head, earlier ledger.Head) { *h = earlier },
		"not signed":  func(h *ledger.Head, _ ledger.Head) { h.Checkpoint[30] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newStore(t)
				l := open(t, f, ledger.Options{})
				entries := ledgertest.Entries("checked", 2)
				earlier, err := f.Head(t.Context())
				must(t, err)
				appendEntry(t, l, entries[0])
				synctest.Wait() // for publication, so that only the writer reads the head
				f.head = func(h *ledger.Head) { damage(h, earlier) }
				f.lose(func(f *faultyStore) { f.lostBefore = 1 })
				_, err = l.Append(entries[1])
				assert.Truef(t, errors.Is(err, ledger.ErrBroken) && errors.Is(err, ledger.ErrCorrupt), "%v, want ErrBroken for ErrCorrupt", err)
			})
		})
	}
}

func TestConflictContinuesTheOtherLog(t *testing.T) {
	s := &faultyStore{Store: newStore(t).Store, shared: true}
	key := filepath.Join(t.TempDir(), ledger.KeyName)
	var first *ledger.Log
	s.race = func() { first = open(t, s.Store, ledger.Options{KeyFile: key}) } // begins the log
	var conflicts int
	second := open(t, s, ledger.Options{KeyFile: key, Observe: func(c ledger.Commit) { conflicts += c.Conflicts }})

	mine, theirs := ledgertest.Entries("mine", 3), ledgertest.Entries("theirs", 2)
	s.race = func() { appendEntry(t, first, theirs[0]) }
	assert.EqualValues(t, 1, appendEntry(t, second, mine[0]), "the entry after the other log's has index")
	mine[1].Claims = []ledger.Claim{{Name: "the only one"}}
	theirs[1].Claims = mine[1].Claims
	s.race = func() { appendEntry(t, first, theirs[1]) }
	_, err := second.Append(mine[1])
	assert.ErrorIs(t, err, ledger.ErrClaimed, "a claim that the other log got first")
	assert.EqualValues(t, 3, appendEntry(t, second, mine[2]), "the next entry has index")
	assert.EqualValues(t, 4, ledgertest.CheckLog(t, s, verifier(t, second)), "the log")
	assert.Equal(t, 2, conflicts)
}
