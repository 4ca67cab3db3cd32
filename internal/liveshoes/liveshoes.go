// Package liveshoes deals from live shoes: sealed decks that lose, move and regain cards.
//
// [Service.Create] seals a deck. [Service.Apply] makes one [Change] of a shoe, and [Service.Update]
// one that depends on how the shoe is. However many callers and processes change a shoe at once,
// every change is of the shoe as the one before left it: each record takes the shoe's claim over
// from the record before, in its own transaction. Locks and cached states only save work.
package liveshoes

import (
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/cache"
	"riffle/internal/dealer"
	"riffle/internal/journal"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// Limits of shoes.
const (
	MaxItemBytes = 1 << 20              // the items of a shoe are stored with it
	MaxExpiry    = 366 * 24 * time.Hour // from now
)

// ErrNotSeen is for a card that has not been drawn.
var ErrNotSeen = errors.New("the card has not been drawn")

// A ClosedError is for a change of a shoe that takes none any more.
type ClosedError struct {
	Status  shoe.Status // closed or expired
	AuditID uuid.UUID   // of the record that ended it; Nil if it is not logged yet
}

func (e *ClosedError) Error() string { return "the shoe is " + string(e.Status) }

// A VersionError is for a change of another version than the shoe is at.
type VersionError struct{ Version uint64 } // of the shoe

func (e *VersionError) Error() string { return fmt.Sprintf("the shoe is at version %d", e.Version) }

// A CardsError is for named cards that are not where they were to be taken from.
type CardsError struct {
	Index     int    // in the request
	Name      string // as in the request
	Ambiguous bool   // several cards there have the code; otherwise there is none
}

func (e *CardsError) Error() string { return "the card " + e.Name + " is not there" }

// maxCached bounds the cached states of shoes of all logs of the process, in bytes.
const maxCached = 128 << 20

// A Service deals from shoes. It may be used concurrently.
type Service struct {
	journal *journal.Journal
	dealer  *dealer.Dealer
	rules   *plan.Rules
	observe func(audit.Kind)
	locks   locks
	states  *cache.Cache[uuid.UUID, *state]
}

// Options of a service. The zero value of a field stands for its default.
type Options struct {
	Observe func(audit.Kind) // called with the kind of each record; may be nil
	Logs    int              // how many logs share the memory for cached shoes; 1
}

// New returns a service over a journal, whose shoes are made by a dealer.
func New(j *journal.Journal, d *dealer.Dealer, rules *plan.Rules, o Options) *Service {
	if o.Observe == nil {
		o.Observe = func(audit.Kind) {}
	}
	states := cache.New[uuid.UUID, *state](maxCached / max(1, o.Logs))
	return &Service{journal: j, dealer: d, rules: rules, observe: o.Observe, states: states}
}
