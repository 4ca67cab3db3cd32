// Package liveshoes deals from live shoes: sealed decks whose cards are drawn, moved and returned.
//
// [Service.Create] seals a deck. [Service.Apply] makes one [Change] of a shoe, and [Service.Update]
// a change that depends on its current state. Changes are serialized across processes: each record
// takes over the shoe's claim from the previous record in the same transaction. Locks and caches
// only save work.
package liveshoes

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/journal"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// Limits of shoes; package shoe has the others.
const (
	MaxItemBytes = 1 << 20              // of all items together, which are stored with the shoe
	MaxNameBytes = 16 << 10             // of the names of all piles together
	MaxExpiry    = 366 * 24 * time.Hour // from now
	// MaxOrders is the number of orders that may have sealed the cards in a shoe. It bounds what is
	// held of a shoe, and the work of opening all its cards.
	MaxOrders = 64
)

// ErrNotSeen is for a card that has not been drawn.
var ErrNotSeen = errors.New("the card has not been drawn")

// A ClosedError is for a change of a closed or expired shoe.
type ClosedError struct {
	Status  shoe.Status // closed or expired
	AuditID uuid.UUID   // of the record that ended it; Nil if it is not logged yet
}

func (e *ClosedError) Error() string { return "the shoe is " + string(e.Status) }

// A VersionError is for a change whose IfVersion is not the shoe's version.
type VersionError struct{ Version uint64 } // of the shoe

func (e *VersionError) Error() string { return fmt.Sprintf("the shoe is at version %d", e.Version) }

// A CardsError is for a named card that cannot be taken.
type CardsError struct {
	Index     int  // in the request
	Ambiguous bool // several cards at the place have the code; otherwise no card has the name
}

func (e *CardsError) Error() string {
	return fmt.Sprintf("card %d of those named is not there", e.Index)
}

// maxCached is the size of the cached states, in bytes, at the default of --memory.
const maxCached = 32 << 20

// A Service deals from shoes. It may be used concurrently.
type Service struct {
	journal *journal.Journal
	dealer  *dealer.Dealer
	rules   *plan.Rules
	observe func(audit.Kind)
	locks   *lru.Cache[uuid.UUID, *semaphore.Weighted]

	caching sync.Mutex
	states  *lru.Cache[uuid.UUID, *state]
	room    int   // for more states, in bytes
	load    int64 // of [loads], for each shoe that is read
}

// Options configures New.
type Options struct {
	Observe    func(audit.Kind) // called with the kind of each record; may be nil
	CacheShare int              // this part of the cache memory is used, 8 for an eighth; from 16 on two shoes are read together, and from 24 on one; default 1
}

// New returns a service over a journal. The dealer makes its shoes.
func New(j *journal.Journal, d *dealer.Dealer, rules *plan.Rules, o Options) *Service {
	if o.Observe == nil {
		o.Observe = func(audit.Kind) {}
	}
	s := &Service{journal: j, dealer: d, rules: rules, observe: o.Observe, room: maxCached / max(1, o.CacheShare), load: int64(min(4, max(1, o.CacheShare/8)))}
	const most = maxCached >> 10                                                                 // more do not fit into the bytes
	s.states, _ = lru.NewWithEvict(most, func(_ uuid.UUID, old *state) { s.room += old.cost() }) // most is above 0
	s.locks, _ = lru.New[uuid.UUID, *semaphore.Weighted](mostLocks)
	return s
}
