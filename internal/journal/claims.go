package journal

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// The names of claims begin with what they are on. A claim is held by one record at a time, so that
// of two records that want it one is refused.
const (
	keyClaims   = "key "        // an idempotency key: held by the record that its request made
	revealClaim = "reveal "     // held by the record that reveals the seed of another
	Commitments = "commitment " // held by the commitment, then by its use or its void
	Shoes       = "shoe "       // held by the last change of a shoe; due when the shoe expires
)

// RevealClaim is on the seed of a record.
func RevealClaim(id uuid.UUID) string { return revealClaim + id.String() }

// CommitmentClaim is on the use of a commitment.
func CommitmentClaim(id uuid.UUID) string { return Commitments + id.String() }

// ShoeClaim is on the next change of a shoe, which is named by its first record.
func ShoeClaim(first uuid.UUID) string { return Shoes + first.String() }

// OwnerClaim is held by the first record of the shoe with the id. Only a digest of the id is
// stored: whoever has the id has the shoe.
func OwnerClaim(id uuid.UUID) string {
	digest := sha256.Sum256(id[:])
	return keyClaims + Shoes + hex.EncodeToString(digest[:])
}

// ClaimID returns the id in the name of a claim. The error is [ledger.ErrCorrupt].
func ClaimID(claim *ledger.Claim, prefix string) (uuid.UUID, error) {
	id, err := uuid.Parse(strings.TrimPrefix(claim.Name, prefix))
	if err != nil {
		return id, fmt.Errorf("%w: the claim %q names no record", ledger.ErrCorrupt, claim.Name)
	}
	return id, nil
}

// A Counter counts claims: a log, or the store of one that is not open.
type Counter interface {
	CountClaims(ctx context.Context, q ledger.ClaimQuery) (uint64, error)
}

// CountDue returns how many claims with a prefix are due later, and how many are overdue.
func (j *Journal) CountDue(ctx context.Context, prefix string) (later, overdue uint64, err error) {
	return countDue(ctx, j.Log, prefix, j.Now())
}

func countDue(ctx context.Context, c Counter, prefix string, now time.Time) (later, overdue uint64, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: now.UnixMicro()}
	if overdue, err = c.CountClaims(ctx, q); err != nil {
		return 0, 0, err
	}
	q.DueBy = math.MaxInt64
	all, err := c.CountClaims(ctx, q)
	return all - min(overdue, all), overdue, err
}

// CountShoes returns how many shoes are open at a time, of which each has a claim with the status
// open or a due time.
func CountShoes(ctx context.Context, c Counter, now time.Time) (uint64, error) {
	lasting, err := c.CountClaims(ctx, ledger.ClaimQuery{Prefix: Shoes, Done: true, Status: string(shoe.Open)})
	if err != nil {
		return 0, err
	}
	expiring, _, err := countDue(ctx, c, Shoes, now)
	return lasting + expiring, err
}

// expireAtOnce is how many claims expire concurrently, so that they share a few commits of the log.
const expireAtOnce = 256

// Expire calls expire for every claim with a prefix that is overdue, and returns how many expired.
// An [ErrInFlight] or [ledger.ErrClaimed] of expire means that the claim is used at the last moment.
// It is passed over, as is one whose record could not be read among so many other reads
// ([ledger.ErrOverloaded]).
func (j *Journal) Expire(ctx context.Context, prefix string, expire func(context.Context, *ledger.Claim) error) (expired int, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: j.Now().UnixMicro(), Limit: expireAtOnce}
	for ctx.Err() == nil {
		claims, err := j.Log.Claims(ctx, q)
		if err != nil || len(claims) == 0 {
			return expired, err
		}
		outcomes := make([]error, len(claims))
		var wait sync.WaitGroup
		for i := range claims {
			wait.Go(func() { outcomes[i] = expire(ctx, &claims[i]) })
		}
		wait.Wait()
		outcomes = slices.DeleteFunc(outcomes, func(err error) bool {
			return errors.Is(err, ErrInFlight) || errors.Is(err, ledger.ErrClaimed) || errors.Is(err, ledger.ErrOverloaded)
		})
		if err := errors.Join(outcomes...); err != nil {
			return expired, err
		}
		if len(outcomes) == 0 {
			return expired, nil // those that are still due are left to the next sweep
		}
		expired += len(outcomes)
	}
	return expired, ctx.Err()
}

// sweepEvery is the time between two looks for what has expired.
const sweepEvery = time.Second

// Sweep calls each of the functions once a second until the context ends. Errors are reported, and
// tried again the next time.
func Sweep(ctx context.Context, report func(error), expire ...func(context.Context) (int, error)) {
	tick := time.NewTicker(sweepEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		for _, f := range expire {
			if _, err := f(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
	}
}

// IsShoeClaim reports whether a claim is on a shoe, by its first record or by its id.
func IsShoeClaim(name string) bool {
	return strings.HasPrefix(name, Shoes) || strings.HasPrefix(name, keyClaims+Shoes)
}
