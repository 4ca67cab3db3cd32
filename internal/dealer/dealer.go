// Package dealer makes shuffles and commitments, each in one call.
//
// [Dealer.Shuffle] checks a request, draws a seed or takes it from a commitment, appends the record
// and returns a [Shuffle], which calculates the orders. A retry is replayed. If any step fails,
// there is no shuffle. [Dealer.Commit] logs a commitment to a seed and a statement in advance; the
// shuffle that uses it adds a client seed chosen afterwards.
package dealer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/singleflight"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/relay"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// An Event is reported to Options.Observe.
type Event string

// The events of commitments, and their names in metrics.
const (
	Committed Event = "made" // a commitment was made
	Used      Event = "used" // a commitment was used
	Voided    Event = "void" // a commitment was logged as void
	Late      Event = "late" // a request tried to use a commitment after its deadline
)

// Options configures New.
type Options struct {
	Deadline   time.Duration // time to use a commitment; default [DefaultDeadline]
	Observe    func(Event)   // called on events; may be nil
	Relays     relay.Relays  // asked for signatures of beacons that requests leave out
	CacheShare int           // this part of the memory for open commitments is used, 8 for an eighth; default 1
}

// DefaultDeadline is the default of Options.Deadline.
const DefaultDeadline = 10 * time.Minute

// A Dealer makes shuffles and commitments. It may be used concurrently.
type Dealer struct {
	journal *journal.Journal
	rules   *plan.Rules
	options Options
	open    *lru.Cache[uuid.UUID, *committed]
	books   *lru.Cache[uuid.UUID, *committed]
	asking  singleflight.Group // for signatures of beacons, by their rounds
}

// New returns a dealer that checks requests by rules and appends records to a journal.
func New(j *journal.Journal, rules *plan.Rules, options Options) *Dealer {
	options.Deadline = cmp.Or(options.Deadline, DefaultDeadline)
	if options.Observe == nil {
		options.Observe = func(Event) {}
	}
	open, _ := lru.New[uuid.UUID, *committed](max(1, maxOpen/max(1, options.CacheShare))) // it fails for 0
	books, _ := lru.New[uuid.UUID, *committed](max(1, maxBooks/max(1, options.CacheShare)))
	return &Dealer{journal: j, rules: rules, options: options, open: open, books: books}
}

// A Request asks for a shuffle or a commitment.
type Request struct {
	plan.Request
	Expiry time.Duration           // of a commitment: time to use it; 0 for the deadline of the options
	Key    *journal.IdempotencyKey // identifies retries; nil for a request that cannot be retried

	// Reserve may be nil. It is called with the statement before the shuffle is drawn or replayed,
	// and twice for a request that loses a race with its own retry. Its error ends the request.
	Reserve func(*audit.Statement) error

	// Work may be nil. It does work of so many steps, once the request may, or returns why it may
	// not.
	Work func(ctx context.Context, steps uint64, work func()) error
}

// work does work of so many steps, once it may.
func (r *Request) work(ctx context.Context, steps uint64, work func()) error {
	if r.Work == nil {
		work()
		return nil
	}
	return r.Work(ctx, steps, work)
}

// ReserveFor calls Reserve if it is set.
func (r *Request) ReserveFor(s *audit.Statement) error {
	if r.Reserve == nil {
		return nil
	}
	return r.Reserve(s)
}

// A Shuffle is a durable record with its orders. It is not safe for concurrent use.
type Shuffle struct {
	*audit.Record // its statement has the seed
	LogIndex      uint64
	Deck          *deck.Deck // nil if no deck was shuffled
	stream        *rng.Stream
}

// Shuffle makes a shuffle, or replays the first attempt's. The error is a [*plan.Invalid],
// [ErrNoCommitment], a [*CommitmentClosedError], a [*ledger.NotUniqueError], [journal.ErrInFlight],
// [journal.ErrKeyReused], Reserve's error, or an error of the ledger or the source of randomness.
func (d *Dealer) Shuffle(ctx context.Context, r *Request) (*Shuffle, error) {
	replay := func(first *journal.StoredRecord) (*Shuffle, error) { return d.replay(ctx, r, first) }
	return journal.Once(ctx, d.journal, r.Key, replay, func() (*Shuffle, error) {
		draft, err := d.Prepare(ctx, r)
		if err != nil {
			return nil, err
		}
		if err := r.ReserveFor(&draft.Plan.Statement); err != nil {
			return nil, err
		}
		if c := draft.committed; c != nil && c.book != nil {
			return d.dealRound(ctx, draft, r)
		}
		return d.deal(ctx, draft, r.Key)
	})
}

// deal makes the shuffle of a draft.
func (d *Dealer) deal(ctx context.Context, t *Draft, key *journal.IdempotencyKey) (*Shuffle, error) {
	if err := d.Seed(t); err != nil {
		return nil, err
	}
	record, err := d.Record(audit.KindShuffle, t)
	if err != nil {
		return nil, err
	}
	record.RevealNow = t.Plan.Request.RevealNow
	stream := Stream(record, t.Seed)
	index, err := d.Append(ctx, t, &journal.Addition{Record: record, Sidecar: journal.Sidecar{Key: key}})
	if err != nil {
		stream.Release()
		return nil, err
	}
	return &Shuffle{record, index, t.Plan.Deck, stream}, nil
}

// replay returns the shuffle recorded by a request's first attempt.
func (d *Dealer) replay(ctx context.Context, r *Request, first *journal.StoredRecord) (*Shuffle, error) {
	if first.Kind != audit.KindShuffle {
		return nil, fmt.Errorf("%w: record %d is a %s, and its request was a shuffle", ledger.ErrCorrupt, first.Index, first.Kind)
	}
	if err := r.ReserveFor(&first.Statement); err != nil {
		return nil, err
	}
	seed, err := d.journal.Seed(ctx, first)
	if err != nil {
		return nil, err
	}
	first.Statement.Seed = seed
	cards, err := d.rules.DeckOf(first.Record)
	if err != nil {
		return nil, err
	}
	return &Shuffle{first.Record, first.Index, cards, Stream(first.Record, seed)}, nil
}

// A Draft is a checked plan before its record is appended.
type Draft struct {
	Plan *plan.Plan
	Seed rng.Seed // nil before [Dealer.Seed]

	committed *committed // the commitment to use, or nil
}

// Prepare checks a request and draws nothing. The error is a [*plan.Invalid], [ErrNoCommitment], a
// [*CommitmentClosedError], [relay.ErrNone], Work's error or a ledger error.
func (d *Dealer) Prepare(ctx context.Context, r *Request) (*Draft, error) {
	if r.CommitmentID == uuid.Nil {
		p, err := d.rules.Check(&r.Request, nil)
		return &Draft{Plan: p}, err
	}
	c, err := d.findCommitment(ctx, r.CommitmentID)
	if err != nil {
		return nil, err
	}
	round, isKnown := beacon.Parse(c.record.Beacon)
	if isKnown && d.journal.Now().Before(round.Time()) {
		return nil, plan.Refuse("/commitment_id", "the commitment waits for %s, which is published at %s", round, round.Time().Format(time.RFC3339))
	}
	p, err := d.rules.Check(&r.Request, c.record)
	if err != nil { // which no correction helps once the commitment is closed
		return nil, cmp.Or(d.checkOpen(ctx, c, d.journal.Now()), err)
	}
	if isKnown {
		p.Request.ClientSeed, err = d.signature(ctx, r, c, round)
	}
	return &Draft{Plan: p, committed: c}, err
}

// checkSteps is the cost of checking a signature, as [blockSteps] is of a block.
const checkSteps = 10_000_000

// signature returns the signature of the round that a commitment waits for: the request's,
// or a relay's. Only a right request for an open commitment is worth the check, or the question.
func (d *Dealer) signature(ctx context.Context, r *Request, c *committed, round beacon.Round) (string, error) {
	signature := r.BeaconSignature
	if signature != "" && signature == round.Known() {
		return signature, nil
	}
	if err := d.checkOpen(ctx, c, d.journal.Now()); err != nil {
		return "", err
	}
	check := func(ctx context.Context, signature string) error {
		var wrong error
		err := r.work(ctx, checkSteps, func() { wrong = round.Check(signature) })
		return cmp.Or(err, wrong)
	}
	switch {
	case signature == "" && len(d.options.Relays) == 0:
		return "", plan.Refuse("/beacon_signature", "beacon_signature is required: the commitment waits for the signature of %s", round)
	case signature == "":
		found, err, _ := d.asking.Do(round.String(), func() (any, error) { // once for all who wait
			return d.options.Relays.Signature(context.WithoutCancel(ctx), round, check)
		})
		signature, _ = found.(string)
		return signature, err
	}
	err := check(ctx, signature)
	if errors.Is(err, beacon.ErrWrong) {
		err = plan.Refuse("/beacon_signature", "beacon_signature is %s", err)
	}
	return signature, err
}

// Seed draws the draft's seed, or takes the commitment's.
func (d *Dealer) Seed(t *Draft) (err error) {
	if t.committed != nil {
		t.Seed = t.committed.seed
		return nil
	}
	t.Seed, err = d.journal.NewSeed(t.Plan.Statement.Size, t.Plan.Statement.Draw)
	return err
}

// Record returns a record of a kind for a draft. It panics if the draft has no seed.
func (d *Dealer) Record(kind audit.Kind, t *Draft) (*audit.Record, error) {
	if len(t.Seed) == 0 {
		panic("dealer: a record of a draft without a seed")
	}
	s := t.Plan.Statement
	s.Seed = t.Seed
	record := &audit.Record{
		Kind: kind, Statement: s, Parameters: t.Plan.Parameters, ItemsDigest: t.Plan.ItemsDigest,
		ClientSeed: t.Plan.Request.ClientSeed, Joined: t.Plan.Request.Joined,
	}
	switch c := t.committed; {
	case c == nil:
		record.Commitment = s.Commitment()
	case c.round > 0:
		record.Commitment, record.CommitmentID = s.Commitment(), c.record.ID
		record.Count, record.Round, record.Path = c.record.Count, c.round, c.path
	case c.record.Count > 0:
		return nil, plan.Refuse("/commitment_id", "the commitment is a book, whose rounds are shuffles: a shoe needs a commitment without count")
	default:
		record.Commitment, record.CommitmentID = c.record.Commitment, c.record.ID
	}
	return record, d.journal.Identify(record)
}

// Append appends a draft's record. The seed is stored in its sidecar, or stays in its commitment's.
// The error is a [*CommitmentClosedError], [journal.ErrInFlight] or an error of
// [journal.Journal.Append].
func (d *Dealer) Append(ctx context.Context, t *Draft, e *journal.Addition) (index uint64, err error) {
	e.Reference, e.Unique = e.Record.Statement.Reference, t.Plan.Request.UniqueReference
	if t.committed != nil {
		return d.use(ctx, t.committed, e)
	}
	e.Sidecar.Seed = t.Seed
	return d.journal.Append(ctx, e)
}

// Stream returns the keystream of a record with its seed. Release it after use. It panics if the
// seed is invalid, which none is that was drawn, or fits its commitment.
func Stream(record *audit.Record, seed rng.Seed) *rng.Stream {
	keys, invalid := rng.Keys(seed, record.Commitment, record.ClientSeed)
	stream, err := rng.NewStream(keys)
	if err != nil {
		panic(fmt.Sprintf("dealer: the seed of the record %s: %v", record.ID, cmp.Or(invalid, err)))
	}
	return stream
}

// FirstOrder returns the drawn input positions of the first shuffle of a record with its seed.
func FirstOrder(record *audit.Record, seed rng.Seed) []uint64 {
	s := &Shuffle{Record: record, stream: Stream(record, seed)}
	defer s.Release()
	return s.Positions(0, nil)
}

// Release returns the shuffle's keystream to the pool. The shuffle must not be used afterwards.
func (s *Shuffle) Release() {
	s.stream.Release()
	s.stream = nil
}

// Positions returns the drawn input positions of the shuffle with a number below Repeat. It may
// reuse scratch, an earlier result or nil.
func (s *Shuffle) Positions(number uint64, scratch []uint64) []uint64 {
	s.stream.Seek(number)
	return shuffle.Positions(s.Statement.Algorithm, s.Statement.Size, s.Statement.Draw, s.stream, scratch)
}

// Order shuffles a, whose length is the statement's size, and returns the drawn prefix, which may
// share memory with a: the elements at [Shuffle.Positions].
func Order[T any](s *Shuffle, number uint64, a []T) []T {
	s.stream.Seek(number)
	return shuffle.Order(s.Statement.Algorithm, a, int(s.Statement.Draw), s.stream)
}
