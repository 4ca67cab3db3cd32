// Package services builds the services over the log.
package services

import (
	"context"
	"io"
	"time"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/relay"
)

// Options configures New.
type Options struct {
	Random            io.Reader          // the operating system's generator; required
	Now               func() time.Time   // default time.Now
	Deadline          time.Duration      // time to use a commitment; default dealer.DefaultDeadline
	Relays            relay.Relays       // of beacons; may be nil
	ObserveCommitment func(dealer.Event) // may be nil
	ObserveShoe       func(audit.Kind)   // called with the kind of each shoe record; may be nil
	CacheShare        int                // caches and shoes that are read take this part of their memory, 8 for an eighth; default 1

	// TraceAppend is [journal.Journal.TraceAppend]; may be nil.
	TraceAppend func(context.Context) (traced context.Context, end func(error))
}

// Services are the services over the log.
type Services struct {
	Log        *ledger.Log
	Rules      *plan.Rules
	Dealer     *dealer.Dealer
	Shoes      *liveshoes.Service
	Disclosure *disclosure.Service
}

// A Call has the services for a request, for handlers beside the contract.
type Call struct {
	*Services
	Caller string                // name of the request's key; empty for none
	Cache  func(lifetime string) // makes the answer cacheable
}

// New returns the services over the log. They check requests by rules.
func New(log *ledger.Log, rules *plan.Rules, o Options) *Services {
	if o.Now == nil {
		o.Now = time.Now
	}
	records := journal.New(log, o.Random, o.Now)
	records.TraceAppend = o.TraceAppend
	d := dealer.New(records, rules, dealer.Options{Deadline: o.Deadline, Relays: o.Relays, Observe: o.ObserveCommitment, CacheShare: o.CacheShare})
	return &Services{
		Log: log, Rules: rules, Dealer: d,
		Shoes: liveshoes.New(records, d, rules, liveshoes.Options{Observe: o.ObserveShoe, CacheShare: o.CacheShare}), Disclosure: disclosure.New(records, rules),
	}
}
