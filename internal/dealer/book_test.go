package dealer

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
)

// open makes a book of commitments to the order of nine numbers.
func openBook(t *testing.T, d *Dealer, rounds uint64) *Commitment {
	t.Helper()
	c, err := d.Commit(t.Context(), ask(plan.Request{Size: ptr(9), Reference: "a player", Count: &rounds}))
	require.NoError(t, err)
	return c
}

func round(c *Commitment, clientSeed string) *Request {
	return ask(plan.Request{CommitmentID: c.ID, ClientSeed: clientSeed})
}

// Each round has the next seed, which only it shows, and proves that the book had it.
func TestBookIsDealtInOrder(t *testing.T) {
	for _, n := range []uint64{2, 3, 7, 8, audit.MaxRounds} {
		d, s := newDealer(t, Options{})
		shown := disclosure.New(d.journal, d.rules)
		c := openBook(t, d, n)
		seeds, deal := map[string]bool{}, min(n, 9)
		for i := range deal {
			if i == 1 {
				d = New(s.Journal(t), d.rules, Options{}) // restarted
			}
			made := mustShuffle(t, d, round(c, "lucky seven"))
			require.Equal(t, i+1, made.Round)
			require.False(t, seeds[string(made.Statement.Seed)], "a seed was used twice")
			seeds[string(made.Statement.Seed)] = true
			v := audit.Verify(made.Append(nil), made.Statement.Seed, 1000)
			assert.True(t, v.OK, "%+v", v.Steps)
			a, err := shown.Reveal(t.Context(), made.ID, made.Statement.Seed, nil)
			require.NoError(t, err)
			assert.Equal(t, made.Statement.Seed, a.Seed)
			got, err := d.Commitment(t.Context(), c.ID)
			require.NoError(t, err)
			assert.Equal(t, []any{i + 1, n, i+1 == n}, []any{got.Used, got.Count, got.Status == StatusUsed})
		}
		if deal == n {
			var closed *CommitmentClosedError
			_, err := d.Shuffle(t.Context(), round(c, "one more"))
			require.ErrorAs(t, err, &closed)
			assert.Equal(t, StatusUsed, closed.Status)
		}
		s.Check(t, d.journal)
	}
}

// What is left of a book at its deadline is void from a round on.
func TestRestOfABookIsVoid(t *testing.T) {
	d, s := newDealer(t, Options{Deadline: time.Minute})
	now := time.Now()
	s.Now = func() time.Time { return now }
	unused, begun := openBook(t, d, 5), openBook(t, d, 5)
	mustShuffle(t, d, round(begun, "x"))
	mustShuffle(t, d, round(begun, "y"))
	now = begun.Deadline
	var closed *CommitmentClosedError
	_, err := d.Shuffle(t.Context(), round(begun, "z"))
	require.ErrorAs(t, err, &closed)
	assert.Equal(t, StatusLate, closed.Status)
	n, err := d.ExpireCommitments(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 2, n)
	for c, want := range map[*Commitment]uint64{unused: 0, begun: 2} {
		got, err := d.Commitment(t.Context(), c.ID)
		require.NoError(t, err)
		assert.Equal(t, []any{StatusVoid, want}, []any{got.Status, got.Used})
		void, err := d.journal.ByID(t.Context(), got.ClosedBy)
		require.NoError(t, err)
		assert.Equal(t, []uint64{5, want + 1}, []uint64{void.Count, void.Round})
	}
	now = begun.Deadline.Add(-time.Second) // setting the clock back does not reopen it
	for _, d := range []*Dealer{d, New(s.Journal(t), d.rules, Options{})} {
		_, err := d.Shuffle(t.Context(), round(begun, "z"))
		require.ErrorAs(t, err, &closed)
		assert.Equal(t, StatusVoid, closed.Status)
	}
	s.Check(t, d.journal)
}

// A book ends once: another process may have voided it, or dealt its last round, after claims were
// listed.
func TestBookIsVoidedOnce(t *testing.T) {
	d, s := newDealer(t, Options{})
	unused, used := openBook(t, d, 2), openBook(t, d, 2)
	mustShuffle(t, d, round(used, "a"))
	mustShuffle(t, d, round(used, "b"))
	claim := &ledger.Claim{Name: journal.CommitmentClaim(unused.ID)}
	require.NoError(t, d.void(t.Context(), claim))
	require.ErrorIs(t, d.void(t.Context(), claim), ledger.ErrClaimed)
	require.ErrorIs(t, d.void(t.Context(), &ledger.Claim{Name: journal.CommitmentClaim(used.ID)}), ledger.ErrClaimed)
	s.Check(t, d.journal)
}

// The tree of a book takes long, so it is made for a request that may take long and deals a round: a
// commitment, and the first round after a restart.
func TestTreeOfABookIsWork(t *testing.T) {
	now := time.Now()
	d, s := newDealer(t, Options{Deadline: time.Minute})
	s.Now = func() time.Time { return now }
	full := errors.New("full")
	busy := func(r *Request) *Request {
		r.Work = func(context.Context, uint64, func()) error { return full }
		return r
	}
	_, err := d.Commit(t.Context(), busy(ask(plan.Request{Size: ptr(9), Count: ptr(2)})))
	require.ErrorIs(t, err, full)
	void, used, begun := openBook(t, d, 2), openBook(t, d, 2), openBook(t, d, 2)
	for _, c := range []*Commitment{used, used, begun} {
		mustShuffle(t, d, round(c, "x"))
	}
	require.NoError(t, d.void(t.Context(), &ledger.Claim{Name: journal.CommitmentClaim(void.ID)}))
	restarted := func() *Dealer { return New(s.Journal(t), d.rules, Options{}) }
	var closed *CommitmentClosedError
	for _, c := range []*Commitment{void, used} {
		_, err := restarted().Shuffle(t.Context(), busy(round(c, "y")))
		require.ErrorAs(t, err, &closed)
	}
	d = restarted()
	var invalid *plan.Invalid
	_, err = d.Shuffle(t.Context(), busy(round(begun, "")))
	require.ErrorAs(t, err, &invalid)
	_, err = d.Shuffle(t.Context(), busy(round(begun, "y")))
	require.ErrorIs(t, err, full)
	now = begun.Deadline
	_, err = d.Shuffle(t.Context(), busy(round(begun, "y")))
	require.ErrorAs(t, err, &closed)
	assert.Equal(t, StatusLate, closed.Status)
	s.Check(t, d.journal)
}

// Large commitments are not kept in memory: a few thousand would take hundreds of megabytes.
func TestLargeCommitmentsAreReadAgain(t *testing.T) {
	d, s := newDealer(t, Options{})
	request := ask(plan.Request{Size: ptr(audit.MaxSize), Draw: ptr(1000), Hands: slices.Repeat([]uint64{1}, 1000)})
	c, err := d.Commit(t.Context(), request)
	require.NoError(t, err)
	assert.Zero(t, d.open.Len())
	mustShuffle(t, d, round(c, "a"))
	s.Check(t, d.journal)
}

func TestBooksAreBounded(t *testing.T) {
	d, _ := newDealer(t, Options{})
	for n, request := range map[uint64]plan.Request{
		0: {Size: ptr(9)}, 1: {Size: ptr(9)}, audit.MaxRounds + 1: {Size: ptr(9)}, 1<<53 - 1: {Size: ptr(9)},
		1000: {Size: ptr(audit.MaxSize), Draw: ptr(1024)},
	} {
		request.Count = ptr(n)
		_, err := d.Commit(t.Context(), ask(request))
		var invalid *plan.Invalid
		require.True(t, errors.As(err, &invalid), "%d: %v", n, err)
		assert.Equal(t, "/count", invalid.Pointer)
	}
}
