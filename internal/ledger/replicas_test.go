package ledger_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/proof"
)

// An overtaken store lets something else happen right before its next append.
type overtaken struct {
	ledger.Store
	by func()
}

func (s *overtaken) Append(ctx context.Context, b ledger.Batch) error {
	if by := s.by; by != nil {
		s.by = nil
		by()
	}
	return s.Store.Append(ctx, b)
}

func (s *overtaken) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendAlone(ctx, s, next)
}

func (*overtaken) Close() error { return nil } // the other log closes it

// Two logs append to one store, as two processes do. The one that comes second continues what the first has written.
func TestOvertakenLogContinuesTheOther(t *testing.T) {
	s := &overtaken{Store: store(t).Store}
	key := filepath.Join(t.TempDir(), ledger.KeyName)
	var first *ledger.Log
	s.by = func() { first = open(t, s.Store, ledger.Options{KeyFile: key}) }
	var conflicts int
	second := open(t, s, ledger.Options{KeyFile: key, Observe: func(c ledger.Commit) { conflicts += c.Conflicts }}) // finds it begun

	mine, theirs := ledgertest.Entries("mine", 3), ledgertest.Entries("theirs", 2)
	appendTheirs := func(e ledger.Entry) func() {
		return func() {
			if _, err := first.Append(e); err != nil {
				t.Error(err)
			}
		}
	}
	s.by = appendTheirs(theirs[0])
	if index, err := second.Append(mine[0]); err != nil || index != 1 {
		t.Errorf("an entry after the other's: index %d, %v, want 1", index, err)
	}
	// The claim was free when it was looked up.
	mine[1].Claims = []ledger.Claim{{Name: "the only one"}}
	theirs[1].Claims = mine[1].Claims
	s.by = appendTheirs(theirs[1])
	if _, err := second.Append(mine[1]); !errors.Is(err, ledger.ErrClaimed) {
		t.Errorf("a claim that the other was first to make: %v, want ErrClaimed", err)
	}
	if index, err := second.Append(mine[2]); err != nil || index != 3 {
		t.Errorf("the next entry: index %d, %v, want 3", index, err)
	}
	if n := ledgertest.CheckLog(t, s, verifier(t, second)); n != 4 {
		t.Errorf("the log has %d records, want 4", n)
	}
	closeLog(t, second)
	closeLog(t, first)
	if conflicts != 2 {
		t.Errorf("%d conflicts were counted, want 2", conflicts)
	}
}

func TestRecordsOfOthersArePublished(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		options := ledger.Options{KeyFile: filepath.Join(t.TempDir(), ledger.KeyName)}
		first := open(t, m, options)
		options.Folder = t.TempDir()
		second := open(t, m, options)
		older := &memory{head: m.head}
		if _, err := first.Append(ledgertest.Entries("others", 1)[0]); err != nil {
			t.Fatal(err)
		}
		time.Sleep(1100 * time.Millisecond)
		if committed, published := second.Sizes(); committed != 1 || published != 1 {
			t.Errorf("the other log knows of %d records and has published %d, want 1 and 1", committed, published)
		}
		closeLog(t, second)
		closeLog(t, first)
		// What it has published it holds the store to, though another process wrote it.
		if l, err := ledger.Open(t.Context(), older, options); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("an older backup of the store: %v, %v, want ErrCorrupt", l, err)
		}
	})
}

// A reader that has something else happen before it gives its bytes.
type interrupted struct {
	io.Reader
	by func()
}

func (r *interrupted) Read(p []byte) (int, error) {
	if by := r.by; by != nil {
		r.by = nil
		by()
	}
	return r.Reader.Read(p)
}

// Of two processes that make the key of one log, one is first, and the other takes that key.
func TestKeyThatAnotherMadeIsTaken(t *testing.T) {
	path := filepath.Join(t.TempDir(), ledger.KeyName)
	theirs, _, err := note.GenerateKey(nil, "example.com/theirs")
	if err != nil {
		t.Fatal(err)
	}
	random := &interrupted{Reader: &zeros{}, by: func() {
		if err := os.WriteFile(path, []byte(theirs+"\n"), 0o600); err != nil {
			t.Error(err)
		}
	}}
	l := open(t, store(t), ledger.Options{KeyFile: path, Random: random})
	if name := verifier(t, l).Name(); name != "example.com/theirs" {
		t.Errorf("the log is %s, and the key that was there first is of example.com/theirs", name)
	}
	closeLog(t, l)
	if kept, err := os.ReadFile(path); err != nil || string(kept) != theirs+"\n" {
		t.Errorf("the key of the other was overwritten (%v)", err)
	}
}

type zeros struct{}

func (*zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

// What the store says after a connection was lost is believed no more than at start.
func TestHeadAfterALostConnectionIsChecked(t *testing.T) {
	for name, damage := range map[string]func(m *memory, earlier ledger.Head){
		"gone back":  func(m *memory, earlier ledger.Head) { m.head = earlier },
		"not signed": func(m *memory, _ ledger.Head) { m.head.Checkpoint[30] ^= 1 },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := &memory{}
				f := &flaky{Store: m}
				l := open(t, f, ledger.Options{})
				entries := ledgertest.Entries("checked", 2)
				earlier := m.head
				if _, err := l.Append(entries[0]); err != nil {
					t.Fatal(err)
				}
				synctest.Wait() // until it is published, so that only the writer looks
				damage(m, earlier)
				f.lose(func(f *flaky) { f.before = 1 })
				if _, err := l.Append(entries[1]); !errors.Is(err, ledger.ErrBroken) || !errors.Is(err, ledger.ErrCorrupt) {
					t.Errorf("%v, want ErrBroken for ErrCorrupt", err)
				}
				closeLog(t, l)
			})
		})
	}
}

// An attempt may have been written though its connection was lost. Only success may follow it, or the end.
func TestFullDiskAfterALostConnectionEndsTheLog(t *testing.T) {
	f := &flaky{Store: store(t).Store, after: 1, lookups: 1, then: ledger.ErrNoSpace}
	l := open(t, f, ledger.Options{})
	defer closeLog(t, l)
	if _, err := l.Append(ledgertest.Entries("unknown", 1)[0]); !errors.Is(err, ledger.ErrBroken) || errors.Is(err, ledger.ErrNoSpace) {
		t.Errorf("%v, want ErrBroken: it is not known that nothing was written", err)
	}
}

func TestRecordsThatCannotBeReadBackShow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{}
		l := open(t, m, ledger.Options{})
		m.breakRange(errors.New("input/output error"))
		index, err := l.Append(ledgertest.Entries("unread", 1)[0])
		if err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if _, err := l.Prove(t.Context(), index); !errors.Is(err, ledger.ErrNotPublished) {
			t.Errorf("a proof of it: %v, want ErrNotPublished", err)
		}
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("the proof was given up after %s", took)
		}
		if err := l.Health(); err != nil {
			t.Errorf("health after 10 s: %v", err)
		}
		time.Sleep(time.Second)
		if err := l.Health(); err == nil {
			t.Error("what cannot be read back for 11 s does not show")
		}
		if c, err := proof.OpenCheckpoint(l.Checkpoint(t.Context()), verifier(t, l)); err != nil || c.Size != 0 {
			t.Errorf("the checkpoint is %+v, %v, want the last that was published", c, err)
		}
		m.breakRange(nil)
		time.Sleep(1100 * time.Millisecond)
		if err := l.Health(); err != nil {
			t.Errorf("health afterwards: %v", err)
		}
		if _, published := l.Sizes(); published != 1 {
			t.Errorf("%d records are published, want 1", published)
		}
		closeLog(t, l)
	})
}

// A store may be there to be read and not to be written, as one that has become a standby. It is not asked without pause.
func TestStoreThatCannotBeWrittenEndsTheLog(t *testing.T) {
	const forever = 1 << 20
	for name, f := range map[string]*flaky{
		"unavailable":              {before: forever},
		"in conflict with nothing": {before: 1, then: ledger.ErrConflict}, // which may be with the attempt before
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f.Store = &memory{}
				before := f.before
				l := open(t, f, ledger.Options{ReconnectTimeout: 5 * time.Second})
				began := time.Now()
				if _, err := l.Append(ledgertest.Entries("standby", 1)[0]); !errors.Is(err, ledger.ErrBroken) {
					t.Errorf("%v, want ErrBroken", err)
				}
				if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
					t.Errorf("it was given up after %s", took)
				}
				if attempts := before - f.before; attempts > 20 {
					t.Errorf("the store was asked %d times", attempts)
				}
				closeLog(t, l)
			})
		})
	}
}
