package journal

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// Prefixes of claim names. One record holds a claim at a time, so concurrent changes conflict.
const (
	keyClaims   = "key "        // an idempotency key; held by the record of its request
	revealClaim = "reveal "     // a seed; held by the record that reveals it
	Commitments = "commitment " // a commitment; held by its record, then by the record that uses or voids it
	Shoes       = "shoe "       // a shoe; held by the record of its last change, and due when the shoe expires
)

// RevealClaim names the claim on a record's seed.
func RevealClaim(id uuid.UUID) string { return revealClaim + id.String() }

// CommitmentClaim names the claim on a commitment.
func CommitmentClaim(id uuid.UUID) string { return Commitments + id.String() }

// ShoeClaim names the claim on a shoe, which is identified by its first record.
func ShoeClaim(first uuid.UUID) string { return Shoes + first.String() }

// OwnerClaim names the claim on a shoe's secret id, held by the shoe's first record. Only a digest
// is stored, since the id gives access to the shoe.
func OwnerClaim(id uuid.UUID) string {
	digest := sha256.Sum256(id[:])
	return keyClaims + Shoes + hex.EncodeToString(digest[:])
}

// ClaimID returns the id in a claim's name. The error is [ledger.ErrCorrupt].
func ClaimID(claim *ledger.Claim, prefix string) (uuid.UUID, error) {
	id, err := uuid.Parse(strings.TrimPrefix(claim.Name, prefix))
	if err != nil {
		return id, fmt.Errorf("%w: the claim %q names no record", ledger.ErrCorrupt, claim.Name)
	}
	return id, nil
}

// A Counter counts claims: an open log, or a closed log's store.
type Counter interface {
	CountClaims(ctx context.Context, q ledger.ClaimQuery) (uint64, error)
}

// CountDue returns the number of claims with a prefix that are due later, and of those overdue.
func CountDue(ctx context.Context, c Counter, prefix string, now time.Time) (later, overdue uint64, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: now.UnixMicro()}
	if overdue, err = c.CountClaims(ctx, q); err != nil {
		return 0, 0, err
	}
	q.DueBy = math.MaxInt64
	all, err := c.CountClaims(ctx, q)
	return all - min(overdue, all), overdue, err
}

// CountShoes returns the number of open shoes. The claim of each has the status open or a due time.
func CountShoes(ctx context.Context, c Counter, now time.Time) (uint64, error) {
	lasting, err := c.CountClaims(ctx, ledger.ClaimQuery{Prefix: Shoes, Done: true, Status: string(shoe.Open)})
	if err != nil {
		return 0, err
	}
	expiring, _, err := CountDue(ctx, c, Shoes, now)
	return lasting + expiring, err
}

// expireBatch is the number of claims that expire concurrently, sharing a few log commits.
const expireBatch = 256

// Expire calls expire once for every overdue claim with a prefix, and returns the number that
// expired. Claims that fail do not keep the others from their turn; the error is the first of them. It
// skips claims for which expire returns [ErrInFlight], [ledger.ErrClaimed] or
// [ledger.ErrOverloaded]: they are in use, or the store is too busy to read their record. The next
// sweep retries all that are left.
func (j *Journal) Expire(ctx context.Context, prefix string, expire func(context.Context, *ledger.Claim) error) (expired int, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: j.Now().UnixMicro(), Limit: expireBatch}
	for ctx.Err() == nil {
		claims, listing := j.Log.Claims(ctx, q)
		if listing != nil || len(claims) == 0 {
			return expired, cmp.Or(listing, err)
		}
		outcomes := make([]error, len(claims))
		var wait sync.WaitGroup
		for i := range claims {
			wait.Go(func() { outcomes[i] = expire(ctx, &claims[i]) })
		}
		wait.Wait()
		for i, outcome := range outcomes {
			switch {
			case outcome == nil:
				expired++
			case errors.Is(outcome, ErrInFlight), errors.Is(outcome, ledger.ErrClaimed), errors.Is(outcome, ledger.ErrOverloaded):
			case err == nil:
				err = fmt.Errorf("claim %s: %w", claims[i].Name, outcome)
			}
		}
		q.After = claims[len(claims)-1].Name
	}
	return expired, ctx.Err()
}

// sweepEvery is the interval of Sweep.
const sweepEvery = time.Second

// Sweep calls each function once a second until ctx is done, and reports errors.
func Sweep(ctx context.Context, report func(error), expire ...func(context.Context) (int, error)) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-time.After(sweepEvery):
		}
		for _, f := range expire {
			if _, err := f(ctx); err != nil && ctx.Err() == nil {
				report(err)
			}
		}
	}
}

// IsShoeClaim reports whether a claim is on a shoe or its secret id.
func IsShoeClaim(name string) bool {
	return strings.HasPrefix(name, Shoes) || strings.HasPrefix(name, keyClaims+Shoes)
}
