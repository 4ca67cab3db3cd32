package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/rng"
)

// A Status says whether a commitment can be used.
type Status string

// The statuses of a commitment.
const (
	StatusOpen Status = "open"       // it can be used
	StatusLate Status = "late"       // its deadline has passed, but it is not logged as void yet
	StatusUsed Status = "used"       // a shuffle or a shoe used it
	StatusVoid Status = journal.Void // it was logged as void after its deadline
)

// Statuses returns all statuses.
func Statuses() []Status { return []Status{StatusOpen, StatusLate, StatusUsed, StatusVoid} }

// A Commitment fixes a seed and a statement before the client seed is known.
type Commitment struct {
	*audit.Record // its statement has no seed
	LogIndex      uint64
	Status        Status
	Used          uint64    // how many rounds of a book were used
	ClosedBy      uuid.UUID // the record that used or voided it; Nil while there is no such record
}

// ErrNoCommitment is for an unknown commitment id.
var ErrNoCommitment = errors.New("there is no such commitment")

// A CommitmentClosedError is for a commitment that was used or whose deadline has passed.
type CommitmentClosedError struct{ Commitment }

func (e *CommitmentClosedError) Error() string {
	return fmt.Sprintf("the commitment %s is %s", e.ID, e.Status)
}

// committed is a commitment with its seed, or a round of a book with the seed of that.
type committed struct {
	index  uint64
	record *audit.Record
	seed   rng.Seed
	book   *book // nil for another commitment, and for a round

	holder uint64      // log index of the last round of the book, which holds the claim; 0 for none
	round  uint64      // of a book; 0 for none
	path   []tlog.Hash // from the round to the book
}

// maxOpen is the capacity of the caches of open commitments, some 30 MB at most. A
// cached commitment may have been used by another replica; the append detects that.
const maxOpen = 1 << 14

// cache keeps a new commitment that takes one kilobyte at most, without players: others are read
// again. Of a book it keeps the first that was found, which has its turn, and returns that.
func (d *Dealer) cache(c *committed) *committed {
	id, size := c.record.ID, len(c.seed)+8*len(c.record.Statement.Hands)
	if c.book != nil {
		if first, found, _ := d.books.PeekOrAdd(id, c); found {
			return first
		}
	} else if c.record.Players == nil && size <= 1024 {
		d.open.Add(id, c)
	}
	return c
}

// commitment returns the public part, with the status open.
func (c *committed) commitment() *Commitment {
	return &Commitment{Record: c.record, LogIndex: c.index, Status: StatusOpen}
}

// Commit draws a seed for a request and logs a commitment to both, or replays the first attempt. It
// fails like [Dealer.Shuffle].
func (d *Dealer) Commit(ctx context.Context, r *Request) (*Commitment, error) {
	replay := func(first *journal.StoredRecord) (*Commitment, error) {
		return (&committed{index: first.Index, record: first.Record}).commitment(), nil
	}
	return journal.Once(ctx, d.journal, r.Key, replay, func() (*Commitment, error) {
		draft, err := d.Prepare(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := d.Seed(draft); err != nil {
			return nil, err
		}
		record, err := d.Record(audit.KindCommitment, draft)
		if err != nil {
			return nil, err
		}
		c := &committed{record: record, seed: draft.Seed}
		if rounds := draft.Plan.Request.Count; rounds != nil {
			tree, err := r.makeBook(ctx, &record.Statement, *rounds)
			if err != nil {
				return nil, err
			}
			c.book = newBook(tree)
			record.Count, record.Commitment = *rounds, audit.Commitment(tree.Root())
		}
		record.Statement.Seed = nil
		record.Deadline = record.Time.Add(cmp.Or(r.Expiry, d.options.Deadline))
		record.Players = r.Players
		if record.Beacon, err = beaconOf(&r.Request, record); err != nil {
			return nil, err
		}
		c.index, err = d.Append(ctx, draft, &journal.Addition{
			Record: record, Sidecar: journal.Sidecar{Key: r.Key},
			Claims: []ledger.Claim{{Name: journal.CommitmentClaim(record.ID), Due: record.Deadline.UnixMicro()}},
		})
		if err != nil {
			return nil, err
		}
		d.cache(c)
		d.options.Observe(Committed)
		return c.commitment(), nil
	})
}

// beaconOf returns the round of a beacon that a request names for its commitment; empty for none.
func beaconOf(q *plan.Request, record *audit.Record) (string, error) {
	round := q.Beacon
	switch {
	case q.BeaconAfter > 0:
		round = beacon.From(record.Time.Add(q.BeaconAfter))
	case round == 0:
		return "", nil
	}
	if at := round.Time(); !at.After(record.Time) || !at.Before(record.Deadline) {
		return "", plan.Refuse("/beacon", "beacon must be published after now, and before the deadline, which is at %s: %s is at %s",
			record.Deadline.Format(time.RFC3339), round, at.Format(time.RFC3339))
	}
	return round.String(), nil
}

// Commitment returns the commitment with an id. The error is [ErrNoCommitment] or a ledger error.
func (d *Dealer) Commitment(ctx context.Context, id uuid.UUID) (*Commitment, error) {
	stored, err := d.readCommitment(ctx, id)
	if err != nil {
		return nil, err
	}
	c := (&committed{index: stored.Index, record: stored.Record}).commitment()
	return c, d.findStatus(ctx, c, d.journal.Now())
}

// readCommitment returns a commitment's record.
func (d *Dealer) readCommitment(ctx context.Context, id uuid.UUID) (*journal.StoredRecord, error) {
	stored, err := d.journal.ByID(ctx, id)
	if errors.Is(err, ledger.ErrNotFound) || err == nil && stored.Kind != audit.KindCommitment {
		return nil, ErrNoCommitment
	}
	return stored, err
}

// findStatus sets a commitment's status at a time, from the record that holds its claim.
func (d *Dealer) findStatus(ctx context.Context, c *Commitment, at time.Time) error {
	holder, err := d.journal.Holder(ctx, journal.CommitmentClaim(c.ID))
	switch {
	case err != nil:
		return err
	case holder.ID != c.ID && holder.CommitmentID != c.ID:
		return fmt.Errorf("%w: record %d holds the claim of the commitment %s and has not used it", ledger.ErrCorrupt, holder.Index, c.ID)
	case holder.Kind == audit.KindVoid:
		c.Status, c.ClosedBy, c.Used = StatusVoid, holder.ID, max(holder.Round, 1)-1
	case holder.EndsCommitment():
		c.Status, c.ClosedBy, c.Used = StatusUsed, holder.ID, holder.Round
	case !at.Before(c.Deadline):
		c.Status, c.Used = StatusLate, holder.Round
	default:
		c.Status, c.Used = StatusOpen, holder.Round
	}
	return nil
}

// findCommitment returns a commitment to use, which may have been used already: see use.
func (d *Dealer) findCommitment(ctx context.Context, id uuid.UUID) (*committed, error) {
	if c, ok := d.open.Get(id); ok {
		return c, nil
	}
	if c, ok := d.books.Get(id); ok {
		return c, nil
	}
	stored, err := d.readCommitment(ctx, id)
	if err != nil {
		return nil, err
	}
	c := &committed{index: stored.Index, record: stored.Record}
	if stored.Count == 0 {
		c.seed, err = d.journal.Seed(ctx, stored)
		return c, err
	}
	sidecar, err := d.journal.Sidecar(stored)
	if err != nil {
		return nil, err
	}
	c.seed, c.book = sidecar.Seed, newBook(nil) // the seed is checked once a round is dealt
	return d.cache(c), nil
}

// use appends a record that uses a commitment. The error is a [*CommitmentClosedError] if the
// commitment was used, or if its deadline has passed, and errRoundTaken if another process used the
// round of a book and more are left.
func (d *Dealer) use(ctx context.Context, c *committed, e *journal.Addition) (index uint64, err error) {
	id := c.record.ID
	claim := journal.CommitmentClaim(id)
	if !e.Record.Time.Before(c.record.Deadline) { // avoids a race with the void record
		return 0, d.checkOpen(ctx, c, e.Record.Time)
	}
	done, err := d.journal.Begin(claim)
	if err != nil {
		return 0, err
	}
	defer done()
	if c.round == 0 && !d.open.Contains(id) {
		if err := d.checkOpen(ctx, c, e.Record.Time); err != nil {
			return 0, err
		}
	}
	moved := ledger.Claim{Name: claim, Taken: true, From: cmp.Or(c.holder, c.index)}
	if !e.Record.EndsCommitment() {
		moved.Due, moved.Unchanged = c.record.Deadline.UnixMicro(), true
	}
	e.Claims = append(e.Claims, moved)
	index, err = d.journal.Append(ctx, e)
	if err == nil {
		if e.Record.EndsCommitment() {
			d.open.Remove(id)
		}
		d.options.Observe(Used)
	} else if _, taken := errors.AsType[*ledger.NotUniqueError](err); taken || journal.Conflicts(err, claim) {
		d.open.Remove(id) // another process may have used it, with the same reference
		if closed := d.checkOpen(ctx, c, e.Record.Time); closed != nil {
			return 0, closed
		}
		if c.round > 0 && !taken {
			return 0, errRoundTaken
		}
	}
	return index, err
}

// checkOpen returns a [*CommitmentClosedError] if the commitment is not open at a time.
func (d *Dealer) checkOpen(ctx context.Context, c *committed, at time.Time) error {
	found := c.commitment()
	if err := d.findStatus(ctx, found, at); err != nil || found.Status == StatusOpen {
		return err
	}
	if found.Status != StatusUsed {
		d.options.Observe(Late)
	}
	return &CommitmentClosedError{*found}
}

// Commitments returns at most limit commitments after an id, oldest first. An empty status selects
// all. It calls reserve with each before it reads further.
func (d *Dealer) Commitments(ctx context.Context, status Status, after uuid.UUID, limit int, reserve func(*Commitment) error) ([]Commitment, error) {
	q := ledger.ClaimQuery{Prefix: journal.Commitments, Limit: limit}
	switch status {
	case StatusOpen:
		q.DueBy = math.MaxInt64
	case StatusLate:
		q.DueBy = d.journal.Now().UnixMicro()
	case StatusUsed:
		q.Done = true
	case StatusVoid:
		q.Done, q.Status = true, string(StatusVoid)
	}
	if after != uuid.Nil {
		q.After = journal.CommitmentClaim(after)
	}
	list := []Commitment{}
	for {
		claims, err := d.journal.Log.Claims(ctx, q)
		if err != nil {
			return nil, err
		}
		for i := range claims {
			id, err := journal.ClaimID(&claims[i], journal.Commitments)
			if err != nil {
				return nil, err
			}
			c, err := d.Commitment(ctx, id)
			if err != nil {
				return nil, err
			}
			if status == "" || c.Status == status { // an open claim may be late, or used in between
				if err := reserve(c); err != nil {
					return nil, err
				}
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

// CountCommitments returns the number of open and of late commitments.
func (d *Dealer) CountCommitments(ctx context.Context) (open, late uint64, err error) {
	return journal.CountDue(ctx, d.journal.Log, journal.Commitments, d.journal.Now())
}

// ExpireCommitments logs late commitments as void and returns their number.
func (d *Dealer) ExpireCommitments(ctx context.Context) (expired int, err error) {
	return d.journal.Expire(ctx, journal.Commitments, d.void)
}

// void logs that a claim's commitment was not used in time. The error is [journal.ErrInFlight] if a
// request is using it.
func (d *Dealer) void(ctx context.Context, claim *ledger.Claim) error {
	id, err := journal.ClaimID(claim, journal.Commitments)
	if err != nil {
		return err
	}
	done, err := d.journal.Begin(claim.Name)
	if err != nil {
		return err
	}
	defer done()
	commitment, err := d.readCommitment(ctx, id)
	if err != nil {
		return err
	}
	holder, record := commitment, &audit.Record{Kind: audit.KindVoid, CommitmentID: id, Commitment: commitment.Commitment, Count: commitment.Count}
	if record.Count > 0 {
		if holder, err = d.journal.Holder(ctx, claim.Name); err != nil {
			return err
		}
		if holder.EndsCommitment() { // by another request or process, since claims were listed
			return ledger.ErrClaimed
		}
		record.Round = holder.Round + 1
	}
	err = d.journal.AppendNew(ctx, &journal.Addition{
		Record: record, Reference: commitment.Reference,
		Claims: []ledger.Claim{{Name: claim.Name, Taken: true, From: holder.Index, Status: string(StatusVoid)}},
	})
	d.open.Remove(id)
	if err == nil {
		d.options.Observe(Voided)
	}
	return err
}
