package ledger_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
)

// A faulty store is a real one whose next appends wait for leave and fail as told.
type faulty struct {
	ledger.Store
	entered chan struct{} // if not nil, an append says so
	leave   chan struct{} // if not nil, an append waits for it
	before  error         // if not nil, appends fail and write nothing
	after   error         // if not nil, appends write and then fail
}

func (f *faulty) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendAlone(ctx, f, next)
}

func (f *faulty) Append(ctx context.Context, b ledger.Batch) error {
	if len(b.Entries) == 0 { // the log begins
		return f.Store.Append(ctx, b)
	}
	if f.entered != nil {
		f.entered <- struct{}{}
	}
	if f.leave != nil {
		<-f.leave
	}
	if f.before != nil {
		return f.before
	}
	if err := f.Store.Append(ctx, b); err != nil {
		return err
	}
	return f.after
}

func store(t *testing.T) *faulty {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	return &faulty{Store: s}
}

func open(t *testing.T, s ledger.Store, o ledger.Options) *ledger.Log {
	t.Helper()
	if o.Folder == "" {
		o.Folder = t.TempDir()
	}
	l, err := ledger.Open(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func closeLog(t *testing.T, l *ledger.Log) {
	t.Helper()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestConcurrentAppendsGetEveryIndexOnce(t *testing.T) {
	var mu sync.Mutex
	commits, records := 0, 0
	l := open(t, store(t), ledger.Options{Observe: func(c ledger.Commit) {
		mu.Lock()
		defer mu.Unlock()
		commits, records = commits+1, records+c.Records
	}})
	defer closeLog(t, l)
	const callers, each = 32, 20
	var indexes []uint64
	var wait sync.WaitGroup
	for c := range callers {
		wait.Go(func() {
			for _, e := range ledgertest.Entries(fmt.Sprint("caller ", c), each) {
				index, err := l.Append(e)
				if err != nil {
					t.Error(err)
					return
				}
				got, err := l.ByID(t.Context(), e.ID)
				if err != nil || got.Index != index {
					t.Errorf("an acknowledged entry: %+v, %v, want index %d", got, err, index)
				}
				mu.Lock()
				indexes = append(indexes, index)
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	slices.Sort(indexes)
	for i, index := range indexes {
		if index != uint64(i) {
			t.Fatalf("index %d at place %d: there is a gap or a double", index, i)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	if records != callers*each || commits >= records {
		t.Errorf("%d records in %d commits: callers that wait together are to share a commit", records, commits)
	}
}

func TestFullQueueIsRefusedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faulty{Store: &memory{}, leave: make(chan struct{})}
		l := open(t, s, ledger.Options{Queue: 3})
		var wait sync.WaitGroup
		appendOne := func(e ledger.Entry, want error) {
			wait.Go(func() {
				if _, err := l.Append(e); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
			synctest.Wait()
		}
		entries := ledgertest.Entries("queue", 6)
		for _, e := range entries[:4] { // one is being committed, three wait
			appendOne(e, nil)
		}
		if depth, capacity := l.Queued(); depth != 3 || capacity != 3 {
			t.Errorf("%d of %d wait, want 3 of 3", depth, capacity)
		}
		began := time.Now()
		appendOne(entries[4], ledger.ErrBusy)
		if took := time.Since(began); took != 0 {
			t.Errorf("a full queue answered after %s", took)
		}
		if err := l.Health(); !errors.Is(err, ledger.ErrBusy) {
			t.Errorf("health with a full queue: %v", err)
		}
		s.leave <- struct{}{}
		s.leave <- struct{}{}
		wait.Wait()
		if err := l.Health(); err != nil {
			t.Errorf("health afterwards: %v", err)
		}
		closeLog(t, l)
	})
}

func TestSlowCommitShowsInHealth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faulty{Store: &memory{}, leave: make(chan struct{})}
		l := open(t, s, ledger.Options{})
		done := make(chan error)
		go func() {
			_, err := l.Append(ledgertest.Entries("slow", 1)[0])
			done <- err
		}()
		time.Sleep(900 * time.Millisecond)
		if err := l.Health(); err != nil {
			t.Errorf("health after 0.9 s: %v", err)
		}
		time.Sleep(200 * time.Millisecond)
		if err := l.Health(); err == nil {
			t.Error("a commit that runs for 1.1 s does not show")
		}
		s.leave <- struct{}{}
		if err := <-done; err != nil {
			t.Error(err)
		}
		if err := l.Health(); err != nil {
			t.Errorf("health afterwards: %v", err)
		}
		closeLog(t, l)
	})
}

// Whatever a commit fails with but a full disk, nobody gets an index, and nobody after them.
func TestFailedCommitEndsTheLog(t *testing.T) {
	for name, s := range map[string]func(*faulty, error){
		"nothing written": func(f *faulty, err error) { f.before = err },
		"written":         func(f *faulty, err error) { f.after = err },
		"conflict":        func(f *faulty, _ error) { f.before = ledger.ErrConflict },
	} {
		t.Run(name, func(t *testing.T) {
			f := store(t)
			l := open(t, f, ledger.Options{})
			entries := ledgertest.Entries("failing", 3)
			if _, err := l.Append(entries[0]); err != nil {
				t.Fatal(err)
			}
			s(f, errors.New("input/output error"))
			if _, err := l.Append(entries[1]); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("the entry of the failed commit: %v, want ErrBroken", err)
			}
			<-l.Failed()
			f.before, f.after = nil, nil
			if _, err := l.Append(entries[2]); !errors.Is(err, ledger.ErrBroken) {
				t.Errorf("the entry after it: %v, want ErrBroken", err)
			}
			if l.Err() == nil || l.Health() == nil {
				t.Error("the log does not say that it is broken")
			}
			if _, err := l.ByID(t.Context(), entries[0].ID); err != nil {
				t.Errorf("reading what was acknowledged: %v", err)
			}
			closeLog(t, l)
		})
	}
}

func TestFailedCommitFailsThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &faulty{Store: &memory{}, leave: make(chan struct{}), before: errors.New("input/output error")}
		l := open(t, s, ledger.Options{})
		var wait sync.WaitGroup
		for _, e := range ledgertest.Entries("waiting", 4) {
			wait.Go(func() {
				if _, err := l.Append(e); !errors.Is(err, ledger.ErrBroken) {
					t.Errorf("%v, want ErrBroken", err)
				}
			})
			synctest.Wait() // one is being committed, and the others wait
		}
		s.leave <- struct{}{}
		wait.Wait()
		closeLog(t, l)
	})
}

func TestFullDiskIsRecoveredFrom(t *testing.T) {
	f := store(t)
	now := time.Unix(0, 0)
	l := open(t, f, ledger.Options{Now: func() time.Time { return now }})
	entries := ledgertest.Entries("space", 3)
	f.before = fmt.Errorf("%w: database or disk is full", ledger.ErrNoSpace)
	if _, err := l.Append(entries[0]); !errors.Is(err, ledger.ErrNoSpace) {
		t.Errorf("%v, want ErrNoSpace", err)
	}
	if err := l.Health(); !errors.Is(err, ledger.ErrNoSpace) {
		t.Errorf("health: %v, want ErrNoSpace", err)
	}
	now = now.Add(6 * time.Second)
	if err := l.Health(); err != nil {
		t.Errorf("health once it is time to look again: %v", err)
	}
	f.before = nil
	for want, e := range entries[1:] {
		if index, err := l.Append(e); err != nil || index != uint64(want) {
			t.Errorf("after there is space: index %d, %v, want %d", index, err, want)
		}
	}
	closeLog(t, l)
}

// Of those who take one claim from one holder at the same time, one gets in, and the others hear which claim it was.
func TestClaimIsTakenOnce(t *testing.T) {
	f := store(t)
	l := open(t, f, ledger.Options{})
	defer closeLog(t, l)
	holder := ledgertest.Entries("holder", 1)[0]
	holder.Claims = []ledger.Claim{{Name: "the prize"}}
	if _, err := l.Append(holder); err != nil {
		t.Fatal(err)
	}
	f.leave = make(chan struct{}, 20)
	for range cap(f.leave) {
		f.leave <- struct{}{}
	}
	var wait sync.WaitGroup
	var won atomic.Int64
	for i, e := range ledgertest.Entries("takers", 10) {
		e.Claims = []ledger.Claim{{Name: fmt.Sprint("own ", i)}, {Name: "the prize", Taken: true, From: 0}}
		wait.Go(func() {
			_, err := l.Append(e)
			var claim *ledger.ClaimError
			switch {
			case err == nil:
				won.Add(1)
			case !errors.As(err, &claim) || claim.Name != "the prize":
				t.Errorf("a taker who was late: %v", err)
			}
			if _, err := l.ByClaim(t.Context(), fmt.Sprint("own ", i)); (err == nil) != (claim == nil) {
				t.Errorf("an entry has a part of its claims: %v beside %v", err, claim)
			}
		})
	}
	wait.Wait()
	if won.Load() != 1 {
		t.Errorf("%d got the prize, want 1", won.Load())
	}
	unknown := ledgertest.Entries("unknown", 1)[0]
	unknown.Claims = []ledger.Claim{{Name: "nobody's", Taken: true, From: 0}}
	if _, err := l.Append(unknown); !errors.Is(err, ledger.ErrClaimed) {
		t.Errorf("a claim that nobody holds was taken from somebody: %v", err)
	}
}

// An entry that is to be the first of its kind is so whether the other is in the log or in the same batch.
func TestEntryThatOthersRuleOut(t *testing.T) {
	f := store(t)
	f.entered, f.leave = make(chan struct{}), make(chan struct{})
	l := open(t, f, ledger.Options{})
	defer closeLog(t, l)
	entries := ledgertest.Entries("sole", 7)
	for i := range entries {
		entries[i].Reference = "game"
		entries[i].Conflicts = func(earlier []byte) bool { return !bytes.Contains(earlier, []byte(`"i":0,`)) }
	}
	entries[0].Conflicts = nil          // and rules nobody out
	entries[5].Reference = "other game" // the first of it
	entries[6].Conflicts = nil          // whom nobody rules out
	outcomes := make([]error, len(entries))
	var wait sync.WaitGroup
	add := func(i int) {
		wait.Go(func() { _, outcomes[i] = l.Append(entries[i]) })
		for queued := 0; i > 0 && queued < i; queued, _ = l.Queued() {
			time.Sleep(time.Millisecond)
		}
	}
	add(0)
	<-f.entered
	for i := 1; i < 4; i++ {
		add(i)
	}
	f.leave <- struct{}{}
	<-f.entered
	f.leave <- struct{}{}
	wait.Wait()
	f.entered, f.leave = nil, nil
	for i := 4; i < 7; i++ {
		_, outcomes[i] = l.Append(entries[i])
	}
	for i, want := range []error{nil, nil, ledger.ErrPrecondition, ledger.ErrPrecondition, ledger.ErrPrecondition, nil, nil} {
		if !errors.Is(outcomes[i], want) || want == nil && outcomes[i] != nil {
			t.Errorf("entry %d: %v, want %v", i, outcomes[i], want)
		}
	}
}

func TestClaimIsHeldOnce(t *testing.T) {
	f := store(t)
	f.leave = make(chan struct{}, 10)
	l := open(t, f, ledger.Options{})
	entries := ledgertest.Entries("claims", 12)
	for i := range entries {
		if i%3 != 2 {
			entries[i].Claims = []ledger.Claim{{Name: "the only one"}}
		}
	}
	var mu sync.Mutex
	outcomes := map[error]int{}
	var indexes []uint64
	var wait sync.WaitGroup
	for _, e := range entries {
		wait.Go(func() {
			index, err := l.Append(e)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				indexes = append(indexes, index)
				if got, err := l.ByID(t.Context(), e.ID); err != nil || got.Index != index {
					t.Errorf("entry %s: %+v, %v, want index %d", e.ID, got, err, index)
				}
			} else if errors.Is(err, ledger.ErrClaimed) {
				err = ledger.ErrClaimed
			}
			outcomes[err]++
		})
	}
	for range cap(f.leave) {
		f.leave <- struct{}{}
	}
	wait.Wait()
	if outcomes[nil] != 5 || outcomes[ledger.ErrClaimed] != 7 {
		t.Errorf("outcomes %v, want one claim and the four entries without", outcomes)
	}
	slices.Sort(indexes)
	if !slices.Equal(indexes, []uint64{0, 1, 2, 3, 4}) {
		t.Errorf("indexes %d: what was refused took a place in the log", indexes)
	}
	closeLog(t, l)
}

func TestCloseCommitsWhatWaits(t *testing.T) {
	f := store(t)
	f.entered, f.leave = make(chan struct{}, 2), make(chan struct{}, 2)
	l := open(t, f, ledger.Options{})
	entries := ledgertest.Entries("closing", 10)
	results := make(chan error, len(entries))
	appendAll := func(entries []ledger.Entry) {
		for _, e := range entries {
			go func() {
				_, err := l.Append(e)
				results <- err
			}()
		}
	}
	appendAll(entries[:1])
	<-f.entered // the first is being committed, so
	appendAll(entries[1:])
	for depth := 0; depth < len(entries)-1; depth, _ = l.Queued() { // the others wait
		runtime.Gosched()
	}
	closed := make(chan error)
	go func() { closed <- l.Close() }()
	for !errors.Is(l.Health(), ledger.ErrClosed) {
		runtime.Gosched()
	}
	f.leave <- struct{}{}
	f.leave <- struct{}{}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
	for range entries {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
	if _, err := l.Append(entries[0]); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("after Close: %v, want ErrClosed", err)
	}
	if err := l.Close(); !errors.Is(err, ledger.ErrClosed) {
		t.Errorf("a second Close: %v, want ErrClosed", err)
	}
}

// A memory is a store for tests of time, whose bubble a real database would leave.
type memory struct {
	ledger.Store
	mu      sync.Mutex
	head    ledger.Head
	entries []ledger.Stored
	unread  error // if not nil, entries cannot be read
}

func (m *memory) breakRange(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unread = err
}

func (m *memory) Head(context.Context) (ledger.Head, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.head, nil
}

func (m *memory) Records(_ context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.unread != nil {
		return m.unread
	}
	for _, e := range m.entries[from:min(int(from)+n, len(m.entries))] {
		if err := each(e.Index, e.Record, e.Hash); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) ByID(_ context.Context, id uuid.UUID) (*ledger.Stored, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.entries {
		if m.entries[i].ID == id {
			return &m.entries[i], nil
		}
	}
	return nil, ledger.ErrNotFound
}

func (m *memory) Append(_ context.Context, b ledger.Batch) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i, e := range b.Entries {
		m.entries = append(m.entries, ledger.Stored{Index: b.Size + uint64(i), Entry: e})
	}
	m.head = b.Head
	return nil
}

func (*memory) Close() error { return nil }

func (m *memory) AppendNext(ctx context.Context, next func(ledger.Head) (*ledger.Batch, error)) error {
	return ledger.AppendAlone(ctx, m, next)
}
