// Package logs keeps the served logs open. Where there are several, each is opened again when it
// fails, and the others go on.
//
// [Open] opens the logs that [Settings] describe as a [Set].
package logs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/services"
)

const (
	maxOpening   = 8                // logs opened concurrently
	startTimeout = 10 * time.Second // how long a start waits for more logs once one is open

	// The pause before a log is opened again doubles from firstPause to longestPause. It is reset
	// once the log was open for longestPause.
	firstPause   = time.Second
	longestPause = time.Minute
)

// A Door lets callers in to the services of a log while it is open.
type Door interface {
	Open(*services.Services)
	Close() (unused <-chan struct{}) // closed once no caller uses the services
	Failed(error)                    // called when work in the background fails and is tried again
}

// An Observer is told what happens in a log.
type Observer interface {
	Commit(ledger.Commit)
	Commitment(dealer.Event)
	ShoeChange(audit.Kind)
	Anchored(place string)
	Witness(name, result string)
	Witnessed()
}

// Options of [Open]. All are required, except TraceAppend.
type Options struct {
	Logs       []*Settings // the main log first
	OpenStore  func(context.Context, *Settings) (ledger.Store, error)
	OpenReader func(context.Context, *Settings) (ledger.Reader, error) // of a log that is only read
	Limits     plan.Limits
	CacheShare int           // see [services.Options]; shared by all logs
	Queue      int           // see [ledger.Options]
	Patience   time.Duration // see [ledger.Options]
	Door       func(log string) Door
	Observer   func(log string) Observer
	Logger     *slog.Logger

	// TraceAppend is [services.Options.TraceAppend]; may be nil.
	TraceAppend func(context.Context) (traced context.Context, end func(error))
}

// A Set has all logs of the process.
type Set struct {
	Options
	logs    []*served          // in the order of Options.Logs
	cancel  context.CancelFunc // stops opening logs
	keeping sync.WaitGroup     // goroutines that keep logs open

	owners sync.Map // name of the log by its verifier key
}

// Open opens the logs. A single log must open. Of several, one must, and the others are tried again
// until ctx is done. If Open fails, no log stays open.
func Open(ctx context.Context, o Options) (*Set, error) {
	if err := checkUnnamed(ctx, o.Logs, o.Logger); err != nil {
		return nil, err
	}
	s := &Set{Options: o}
	decks := map[string]*deck.Catalogue{} // by folder
	for _, settings := range o.Logs {
		if decks[settings.Decks] == nil {
			loaded, err := loadDecks(settings.Decks)
			if err != nil {
				return nil, err
			}
			decks[settings.Decks] = loaded
		}
		l := &served{
			Settings: settings, set: s, logger: o.Logger, door: o.Door(settings.Name), observer: o.Observer(settings.Name),
			rules: &plan.Rules{Decks: decks[settings.Decks], Limits: o.Limits},
		}
		if s.several() {
			l.logger = o.Logger.With("log", l.Name)
		}
		s.logs = append(s.logs, l)
	}
	ctx, s.cancel = context.WithCancel(ctx)
	if err := s.open(ctx); err != nil {
		return nil, s.Close(err)
	}
	return s, nil
}

func (s *Set) open(ctx context.Context) error {
	if !s.several() {
		return s.logs[0].open(ctx)
	}
	outcomes, slots := make(chan error, len(s.logs)), make(chan struct{}, maxOpening)
	for _, l := range s.logs {
		s.keeping.Go(func() {
			slots <- struct{}{}
			err := l.open(ctx)
			<-slots
			outcomes <- err
			l.keepOpen(ctx, err)
		})
	}
	var errs []error
	var timeout <-chan time.Time
	for range s.logs {
		select {
		case err := <-outcomes:
			if err != nil {
				errs = append(errs, err)
			} else if timeout == nil {
				timeout = time.After(startTimeout)
			}
		case <-timeout:
			return nil
		}
	}
	if len(errs) == len(s.logs) {
		return errors.Join(errs...)
	}
	return nil
}

func (s *Set) several() bool { return len(s.Logs) > 1 }

// Failed returns a channel that is closed when the only log has failed. It is nil for several logs.
func (s *Set) Failed() <-chan struct{} {
	if s.several() {
		return nil
	}
	return s.logs[0].services.Log.Failed()
}

// Err returns why the only log has failed.
func (s *Set) Err() error { return s.logs[0].services.Log.Err() }

// Close closes all logs. It must be called after the last append. It returns err joined with the
// errors of the logs.
func (s *Set) Close(err error) error {
	s.cancel()
	s.keeping.Wait()
	errs := make([]error, len(s.logs))
	var closing sync.WaitGroup
	for i, l := range s.logs {
		closing.Go(func() { errs[i] = l.end(err) })
	}
	closing.Wait()
	return errors.Join(append([]error{err}, errs...)...)
}

// OpenShoes returns the number of open shoes in a log.
func (s *Set) OpenShoes(ctx context.Context, name string) (uint64, error) {
	l := s.logs[slices.IndexFunc(s.logs, func(l *served) bool { return l.Name == name })]
	l.mu.Lock()
	open := l.services
	l.mu.Unlock()
	if open == nil {
		return 0, errors.New("the log is not open")
	}
	return open.Shoes.Count(ctx)
}

// claimKey returns an error if another log has the key: one key must not sign two histories.
func (s *Set) claimKey(verifier, name string) error {
	if other, taken := s.owners.LoadOrStore(verifier, name); taken && other != name {
		return fmt.Errorf("its key is also the key of the log %s: give each log its own key and store", other)
	}
	return nil
}

// loadDecks returns the built-in deck types and those in the operator's folder, if there is one.
func loadDecks(folder string) (*deck.Catalogue, error) {
	decks, err := deck.Builtin()
	if err != nil || folder == "" {
		return decks, err
	}
	if err := decks.Load(os.DirFS(folder)); err != nil {
		return nil, fmt.Errorf("reading deck types from %s: %w", folder, err)
	}
	return decks, nil
}
