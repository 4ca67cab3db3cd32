package journal_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/journal"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

func TestClaimsHaveTheirNamesInStores(t *testing.T) {
	id := uuid.MustParse("01234567-89ab-7fff-bfff-ffffffffffff")
	for want, got := range map[string]string{
		"reveal " + id.String():     journal.RevealClaim(id),
		"commitment " + id.String(): journal.CommitmentClaim(id),
		"shoe " + id.String():       journal.ShoeClaim(id),
		"key shoe f58885587839447c136a60c37e335f1063ed08048126c6b78cffced2cb908f3b": journal.OwnerClaim(id),
	} {
		assert.Equal(t, want, got, "the claim")
	}
	if got, err := journal.ClaimID(&ledger.Claim{Name: journal.ShoeClaim(id)}, journal.Shoes); err != nil || got != id {
		t.Errorf("the id of a claim is %s, %v", got, err)
	}
	_, err := journal.ClaimID(&ledger.Claim{Name: "shoe 7"}, journal.Shoes)
	assert.ErrorIs(t, err, ledger.ErrCorrupt, "a claim without an id")
	for name, want := range map[string]bool{journal.ShoeClaim(id): true, journal.OwnerClaim(id): true, journal.CommitmentClaim(id): false, keyClaim("shoe"): false} {
		assert.Equalf(t, want, journal.IsShoeClaim(name), "%q is on a shoe", name)
	}
}

// appendDue appends n records with claims that are due at a time, or never.
func appendDue(t *testing.T, j *journal.Journal, prefix string, n int, due time.Time) {
	t.Helper()
	at := int64(0)
	if !due.IsZero() {
		at = due.UnixMicro()
	}
	var wait sync.WaitGroup
	for i := range n {
		wait.Go(func() {
			claim := ledger.Claim{Name: fmt.Sprintf("%s%s %d", prefix, due, i), Due: at}
			_, err := appendReveal(j, &journal.Addition{Claims: []ledger.Claim{claim}})
			assert.NoError(t, err)
		})
	}
	wait.Wait()
}

func TestExpireEndsEveryOverdueClaim(t *testing.T) {
	s := journaltest.New(t)
	j, other := s.Journal(t), s.Journal(t)
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	s.Now = func() time.Time { return now }
	appendDue(t, j, "thing ", 300, now.Add(-time.Second))
	appendDue(t, j, "thing ", 1, now)
	appendDue(t, j, "thing ", 2, now.Add(time.Microsecond))
	appendDue(t, j, "thing ", 3, time.Time{})
	appendDue(t, j, "other ", 4, now)
	count := func(wantLater, wantOverdue uint64) {
		t.Helper()
		if later, overdue, err := journal.CountDue(t.Context(), j.Log, "thing ", j.Now()); err != nil || later != wantLater || overdue != wantOverdue {
			t.Errorf("%d are due later and %d overdue, %v, want %d and %d", later, overdue, err, wantLater, wantOverdue)
		}
	}
	count(2, 301)
	end := func(ctx context.Context, by *journal.Journal, c *ledger.Claim) error {
		holder, err := by.ByClaim(ctx, c.Name)
		if err != nil {
			return err
		}
		taken := ledger.Claim{Name: c.Name, Taken: true, From: holder.Index}
		_, err = appendReveal(by, &journal.Addition{Claims: []ledger.Claim{taken}})
		return err
	}
	var once, overload sync.Once
	n, err := j.Expire(t.Context(), "thing ", func(ctx context.Context, c *ledger.Claim) error {
		busy := false
		overload.Do(func() { busy = true }) // the store is too busy once
		if busy {
			return ledger.ErrOverloaded
		}
		var race error
		once.Do(func() { race = end(ctx, other, c) }) // another process takes one claim first
		if race != nil {
			return race
		}
		return end(ctx, j, c)
	})
	require.NoError(t, err)
	assert.Equal(t, 300, n, "expired but for the one that the store was too busy for")
	count(2, 1)
	now = now.Add(time.Microsecond)
	appendDue(t, j, "thing 0 ", 300, now) // listed before the rest
	failure := errors.New("failure")
	n, err = j.Expire(t.Context(), "thing ", func(ctx context.Context, c *ledger.Claim) error {
		if strings.HasPrefix(c.Name, "thing 0 ") {
			return failure
		}
		return end(ctx, j, c)
	})
	require.ErrorIs(t, err, failure)
	assert.Equal(t, 3, n, "expired behind those that fail")
	count(0, 300)
	n, err = j.Expire(t.Context(), "thing ", func(ctx context.Context, c *ledger.Claim) error {
		if err := end(ctx, other, c); err != nil {
			return err
		}
		return ledger.ErrClaimed
	})
	require.NoError(t, err, "of two that others used")
	assert.Equal(t, 0, n, "of two that others used")
	count(0, 0)
}

func TestSweepExpiresEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		start := time.Now()
		var calls, reports []string
		failure := errors.New("failure")
		expire := func(name string, fail func() error) func(context.Context) (int, error) {
			return func(context.Context) (int, error) {
				calls = append(calls, fmt.Sprint(name, time.Since(start)))
				return 0, fail()
			}
		}
		journal.Sweep(ctx, func(err error) { reports = append(reports, err.Error()) },
			expire("a", func() error { return failure }),
			expire("b", func() error {
				if time.Since(start) == 3*time.Second {
					cancel() // errors after cancel are not reported
					return ctx.Err()
				}
				return nil
			}))
		assert.Equal(t, []string{"a1s", "b1s", "a2s", "b2s", "a3s", "b3s"}, calls, "called")
		assert.Equal(t, []string{"failure", "failure", "failure"}, reports, "reported")
	})
}
