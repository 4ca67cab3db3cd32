package dealer

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// A Status is what has become of a commitment.
type Status string

// The statuses of a commitment.
const (
	StatusOpen Status = "open" // it can be used
	StatusLate Status = "late" // its deadline has passed, and the log does not say so yet
	StatusUsed Status = "used" // a shuffle was made from it
	StatusVoid Status = "void" // its deadline passed before it was used, and the log says so
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{StatusOpen, StatusLate, StatusUsed, StatusVoid} }

// A Commitment is a seed and a statement that are fixed before a client seed is known.
type Commitment struct {
	ID        uuid.UUID
	LogIndex  uint64
	Statement audit.Statement // without its seed
	Hash      audit.Commitment
	Deadline  time.Time
	Status    Status
	SettledBy uuid.UUID // the record that used it or says that it is void; Nil before there is one
}

// ErrNoCommitment is for an id that no commitment has.
var ErrNoCommitment = errors.New("there is no such commitment")

// A SettledError is for a commitment that cannot be used any more.
type SettledError struct{ Commitment }

func (e *SettledError) Error() string {
	return fmt.Sprintf("the commitment %s is %s", e.ID, e.Status)
}

// commitmentClaims begins the names of claims on commitments. The commitment itself holds its claim, which is due at its
// deadline, until a shuffle takes it, or a void, which gives it a status.
const commitmentClaims = "commitment "

func commitmentClaim(id uuid.UUID) string { return commitmentClaims + id.String() }

// claimed returns the id that a claim has behind its prefix. The error is [ledger.ErrCorrupt].
func claimed(claim *ledger.Claim, prefix string) (uuid.UUID, error) {
	id, err := uuid.Parse(strings.TrimPrefix(claim.Name, prefix))
	if err != nil {
		return id, fmt.Errorf("%w: a claim %q", ledger.ErrCorrupt, claim.Name)
	}
	return id, nil
}

// committed is a commitment with what it takes to use it.
type committed struct {
	index  uint64
	record *audit.Record
	seed   rng.Seed
}

// An openSet has commitments of this process that are open as far as it knows, so that the one who uses one need not read
// it back. What another process has done to them shows when they are used.
type openSet struct {
	mu   sync.Mutex
	list map[uuid.UUID]*committed
}

// mostOpen is how many commitments are remembered: a few megabytes.
const mostOpen = 1 << 14

func (o *openSet) get(id uuid.UUID) *committed {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.list[id]
}

func (o *openSet) add(c *committed) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.list == nil {
		o.list = map[uuid.UUID]*committed{}
	}
	if len(o.list) >= mostOpen {
		for id := range o.list {
			delete(o.list, id) // any one: it is read back when it is used
			break
		}
	}
	o.list[c.record.ID] = c
}

func (o *openSet) remove(id uuid.UUID) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.list, id)
}

// Commit fixes a seed for a plan and logs the commitment to both. A retry of its call gets the first one. The error is one
// of the ledger, of the source of randomness, [ErrOtherRequest] or a [*NotUniqueError].
func (d *Dealer) Commit(ctx context.Context, plan *Plan) (*Commitment, error) {
	seed, err := d.newSeed(plan)
	if err != nil {
		return nil, err
	}
	record, err := d.newRecord(audit.KindCommitment)
	if err != nil {
		return nil, err
	}
	c := &committed{record: record, seed: seed}
	record.Parameters, record.Deadline = plan.parameters(), record.Time.Add(d.options.Deadline)
	statement := plan.statement
	statement.Seed = seed
	record.Statement, record.Commitment = plan.statement, statement.Commitment()
	claims := []ledger.Claim{{Name: commitmentClaim(record.ID), Due: record.Deadline.UnixMicro()}}
	c.index, err = d.append(ctx, plan.request, record, kept{seed: seed, call: plan.request.Call}, claims)
	if plan.request.Call.isTaken(err) {
		return d.Committed(ctx, plan.request.Call)
	} else if err != nil {
		return nil, err
	}
	d.open.add(c)
	d.observe(EventCommitted)
	return c.show(), nil
}

// show returns what may be shown of a commitment, as it is when it is made.
func (c *committed) show() *Commitment {
	return &Commitment{
		ID: c.record.ID, LogIndex: c.index, Statement: c.record.Statement, Hash: c.record.Commitment,
		Deadline: c.record.Deadline, Status: StatusOpen,
	}
}

// Committed returns the commitment that the call made before, as it was made; nil if this is its first attempt.
func (d *Dealer) Committed(ctx context.Context, call *Call) (*Commitment, error) {
	stored, record, err := d.earlier(ctx, call)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return (&committed{index: stored.Index, record: record}).show(), nil
}

// Commitment returns the commitment with the id. The error is [ErrNoCommitment] or one of the ledger's.
func (d *Dealer) Commitment(ctx context.Context, id uuid.UUID) (*Commitment, error) {
	stored, record, err := d.readCommitment(ctx, id)
	if err != nil {
		return nil, err
	}
	shown := (&committed{index: stored.Index, record: record}).show()
	return shown, d.settle(ctx, shown, d.options.Now())
}

// readCommitment reads the entry of a commitment.
func (d *Dealer) readCommitment(ctx context.Context, id uuid.UUID) (*ledger.Stored, *audit.Record, error) {
	stored, err := d.log.ByID(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) {
		return nil, nil, ErrNoCommitment
	} else if err != nil {
		return nil, nil, err
	}
	record, err := parse(stored)
	if err == nil && record.Kind != audit.KindCommitment {
		err = ErrNoCommitment
	}
	return stored, record, err
}

// settle finds out what has become of a commitment by now.
func (d *Dealer) settle(ctx context.Context, c *Commitment, now time.Time) error {
	holder, err := d.log.ByClaim(ctx, commitmentClaim(c.ID))
	if errors.Is(err, ledger.ErrNotFound) {
		return fmt.Errorf("%w: nobody holds the claim of the commitment %s", ledger.ErrCorrupt, c.ID)
	} else if err != nil {
		return err
	}
	record, err := parse(holder)
	switch {
	case err != nil:
		return err
	case record.ID == c.ID && now.Before(c.Deadline):
		c.Status = StatusOpen
	case record.ID == c.ID:
		c.Status = StatusLate
	case record.CommitmentID != c.ID:
		return fmt.Errorf("%w: record %d holds the claim of the commitment %s and has not used it", ledger.ErrCorrupt, holder.Index, c.ID)
	case record.UsesCommitment():
		c.Status, c.SettledBy = StatusUsed, record.ID
	default:
		c.Status, c.SettledBy = StatusVoid, record.ID
	}
	return nil
}

// toUse returns the commitment that a request wants to use. Whether it can be used shows when it is.
func (d *Dealer) toUse(ctx context.Context, id uuid.UUID) (*committed, error) {
	if c := d.open.get(id); c != nil {
		return c, nil
	}
	stored, record, err := d.readCommitment(ctx, id)
	if err != nil {
		return nil, err
	}
	seed, err := d.seedOf(ctx, stored, record)
	if err != nil {
		return nil, err
	}
	return &committed{index: stored.Index, record: record, seed: seed}, nil
}

// use has an order take a commitment, and appends its record with what is kept beside it and the other claims that it takes.
// The error is a [*SettledError] if that is too late.
func (d *Dealer) use(ctx context.Context, plan *Plan, record *audit.Record, k kept, claims []ledger.Claim) (uint64, error) {
	c := plan.committed
	name := commitmentClaim(c.record.ID)
	end, err := d.running.begin(name)
	if err != nil {
		return 0, err
	}
	defer end()
	if d.open.get(c.record.ID) == nil || !record.Time.Before(c.record.Deadline) {
		if err := d.usable(ctx, c, record.Time); err != nil {
			return 0, err
		}
	}
	index, err := d.append(ctx, plan.request, record, k, append(claims, ledger.Claim{Name: name, Taken: true, From: c.index}))
	var claimed *ledger.ClaimError
	switch {
	case err == nil:
		d.open.remove(c.record.ID)
		d.observe(EventUsed)
	case errors.As(err, &claimed) && claimed.Name == name: // through another process
		d.open.remove(c.record.ID)
		if settled := d.usable(ctx, c, record.Time); settled != nil {
			return 0, settled
		}
	}
	return index, err
}

// usable returns a [*SettledError] unless the commitment is open at a time.
func (d *Dealer) usable(ctx context.Context, c *committed, at time.Time) error {
	shown := c.show()
	if err := d.settle(ctx, shown, at); err != nil || shown.Status == StatusOpen {
		return err
	}
	if shown.Status != StatusUsed {
		d.observe(EventLate)
	}
	return &SettledError{*shown}
}

// Commitments returns commitments of a status, or of any if it is empty, in the order they were made, at most limit, behind
// the one with the id.
func (d *Dealer) Commitments(ctx context.Context, status Status, after uuid.UUID, limit int) ([]Commitment, error) {
	q := ledger.ClaimQuery{Prefix: commitmentClaims, Limit: limit}
	switch status {
	case StatusOpen:
		q.DueBy = math.MaxInt64
	case StatusLate:
		q.DueBy = d.options.Now().UnixMicro()
	case StatusUsed:
		q.Done = true
	case StatusVoid:
		q.Done, q.Status = true, string(StatusVoid)
	}
	if after != uuid.Nil {
		q.After = commitmentClaim(after)
	}
	list := []Commitment{}
	for {
		claims, err := d.log.Claims(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range claims {
			id, err := claimed(&claims[i], commitmentClaims)
			if err != nil {
				return nil, err
			}
			c, err := d.Commitment(ctx, id)
			if err != nil {
				return nil, err
			}
			if status == "" || c.Status == status { // one that is open may be late, and it may have changed meanwhile
				list = append(list, *c)
			}
			if len(list) == limit {
				return list, nil
			}
		}
		if len(claims) < q.Limit {
			return list, nil
		}
		q.After = claims[len(claims)-1].Name
	}
}

// CountCommitments returns how many commitments are open and how many are late.
func (d *Dealer) CountCommitments(ctx context.Context) (open, late uint64, err error) {
	return d.countDue(ctx, commitmentClaims)
}

// countDue returns how many claims are due later, and how many are by now.
func (d *Dealer) countDue(ctx context.Context, prefix string) (later, late uint64, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: d.options.Now().UnixMicro()}
	if late, err = d.log.CountClaims(ctx, q); err != nil {
		return 0, 0, err
	}
	q.DueBy = math.MaxInt64
	all, err := d.log.CountClaims(ctx, q)
	return all - min(late, all), late, err
}

// expireAtOnce is how much is ended in one go. It shares few commits of the log.
const expireAtOnce = 256

// Expire logs as void the commitments that are late, and as expired the shoes that are, and returns how many that was. What was
// used in the last moment is not.
func (d *Dealer) Expire(ctx context.Context) (expired int, err error) {
	for _, late := range []struct {
		prefix string
		end    func(context.Context, *ledger.Claim) error
	}{{commitmentClaims, d.void}, {shoeClaims, d.expireShoe}} {
		n, err := d.expire(ctx, late.prefix, late.end)
		expired += n
		if err != nil {
			return expired, err
		}
	}
	return expired, nil
}

func (d *Dealer) expire(ctx context.Context, prefix string, end func(context.Context, *ledger.Claim) error) (expired int, err error) {
	q := ledger.ClaimQuery{Prefix: prefix, DueBy: d.options.Now().UnixMicro(), Limit: expireAtOnce}
	for ctx.Err() == nil {
		claims, err := d.log.Claims(ctx, q)
		if err != nil || len(claims) == 0 {
			return expired, err
		}
		outcomes := make([]error, len(claims))
		var wait sync.WaitGroup
		for i := range claims {
			wait.Go(func() { outcomes[i] = end(ctx, &claims[i]) })
		}
		wait.Wait()
		outcomes = slices.DeleteFunc(outcomes, func(err error) bool { return errors.Is(err, ledger.ErrClaimed) }) // settled by others
		if err := errors.Join(outcomes...); err != nil {
			return expired, err
		}
		expired += len(outcomes)
	}
	return expired, ctx.Err()
}

// void logs that a commitment was not used in time.
func (d *Dealer) void(ctx context.Context, claim *ledger.Claim) error {
	id, err := claimed(claim, commitmentClaims)
	if err != nil {
		return err
	}
	stored, commitment, err := d.readCommitment(ctx, id)
	if err != nil {
		return err
	}
	record, err := d.newRecord(audit.KindVoid)
	if err != nil {
		return err
	}
	record.CommitmentID, record.Commitment = id, commitment.Commitment
	_, err = d.log.Append(ledger.Entry{
		ID: record.ID, Reference: stored.Reference, Record: record.Append(nil),
		Claims: []ledger.Claim{{Name: claim.Name, Taken: true, From: stored.Index, Status: string(StatusVoid)}},
	})
	d.open.remove(id)
	if err == nil {
		d.observe(EventVoid)
	}
	return err
}

// expireEvery is how often commitments and shoes are looked for whose time has passed.
const expireEvery = time.Second

// Run logs as void what gets late, until the context ends. What kept it from doing so is reported, and tried again.
func (d *Dealer) Run(ctx context.Context, report func(error)) {
	tick := time.NewTicker(expireEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if _, err := d.Expire(ctx); err != nil && ctx.Err() == nil {
			report(err)
		}
	}
}
