// Package openlog opens the log that a service serves, as its settings say, and tends it until it is
// closed: it expires commitments and shoes, advances anchors, and has witnesses cosign checkpoints.
//
// [Open] opens the log that [Settings] describe as a [Log].
package openlog

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"sync"
	"time"

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/journal"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// An Observer is told what happens in the log.
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
	OpenStore  func(context.Context, *Settings) (ledger.Store, error)
	OpenReader func(context.Context, *Settings) (ledger.Reader, error) // with Settings.ReadOnly
	Limits     plan.Limits
	CacheShare int           // see [services.Options]
	Queue      int           // see [ledger.Options]
	Patience   time.Duration // see [ledger.Options]
	Observer   Observer
	Logger     *slog.Logger

	// TraceAppend is [services.Options.TraceAppend]; may be nil.
	TraceAppend func(context.Context) (traced context.Context, end func(error))
}

// A Log is open.
type Log struct {
	*services.Services
	settings *Settings
	Options
	stop func() // the work of Tend
}

// Open opens the log.
func Open(ctx context.Context, s *Settings, o Options) (*Log, error) {
	decks, err := loadDecks(s.Decks)
	if err != nil {
		return nil, err
	}
	l := &Log{settings: s, Options: o, stop: func() {}}
	opened, err := l.open(ctx)
	if err != nil {
		return nil, err
	}
	if !s.ReadOnly {
		checkPermissions(s, o.Logger)
	}
	l.Services = services.New(opened, &plan.Rules{Decks: decks, Limits: o.Limits}, services.Options{
		Random: rand.Reader, Deadline: s.Deadline, Relays: s.Relays, TraceAppend: o.TraceAppend,
		ObserveCommitment: o.Observer.Commitment, ObserveShoe: o.Observer.ShoeChange, CacheShare: o.CacheShare,
	})
	return l, nil
}

func (l *Log) open(ctx context.Context) (*ledger.Log, error) {
	s := l.settings
	anchors, err := l.readAnchors(ctx)
	if err != nil {
		return nil, err
	}
	options := ledger.Options{
		Folder: s.Folder, ReadKey: keycommand.Reader(ctx, s.KeyCommand), KeyFile: s.Key, SeedKey: s.SeedKey, SeedKeyFile: s.SeedKeyFile,
		Origin: s.Origin, MustExist: s.Create == CreateNever || s.ReadOnly, Anchors: anchors,
		Queue: l.Queue, Patience: l.Patience, Observe: l.Observer.Commit,
	}
	if options.MustExist {
		err = s.checkFiles()
	} else if err = os.MkdirAll(s.Folder, 0o700); err != nil {
		err = fmt.Errorf("creating the data folder: %w", err)
	}
	if err != nil {
		return nil, err
	}
	opened, err := l.openWith(ctx, options)
	if errors.Is(err, ledger.ErrNoLog) {
		err = s.missing(err)
	}
	if err != nil {
		return nil, err
	}
	if err := s.checkAnchored(anchors, opened); err != nil {
		return nil, errors.Join(err, opened.Close())
	}
	return opened, nil
}

// openWith opens the store, and the log in it.
func (l *Log) openWith(ctx context.Context, options ledger.Options) (opened *ledger.Log, err error) {
	if l.settings.ReadOnly {
		store, err := l.OpenReader(ctx, l.settings)
		if err != nil {
			return nil, err
		}
		if opened, err = ledger.OpenReadOnly(ctx, store, options); err != nil {
			return nil, errors.Join(err, store.Close())
		}
		return opened, nil
	}
	store, err := l.OpenStore(ctx, l.settings)
	if err != nil {
		return nil, err
	}
	if opened, err = ledger.Open(ctx, store, options); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return opened, nil
}

// Tend begins the work in the background: it expires commitments and shoes, advances anchors and has
// witnesses cosign checkpoints, until Close. It calls failed when some of that fails and is tried again.
func (l *Log) Tend(failed func(error)) {
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	if !l.settings.ReadOnly { // its anchors were compared, and stay
		for _, place := range l.settings.Anchors {
			background.Go(func() { l.keepAnchor(ctx, place) })
		}
	}
	if l.settings.Witnesses != nil {
		l.Observer.Witnessed() // so that an alert counts from now on
		l.Log.AwaitsWitnesses()
		background.Go(func() { l.keepWitnessed(ctx, failed) })
	}
	if !l.settings.ReadOnly {
		background.Go(func() {
			report := func(err error) { failed(fmt.Errorf("expiring commitments or shoes: %w", err)) }
			journal.Sweep(ctx, report, l.Dealer.ExpireCommitments, l.Shoes.Expire)
		})
	}
	l.stop = func() {
		cancel()
		background.Wait()
	}
}

// Close closes the log, after the last append. It leaves a log that has failed alone, for the next start
// to recover, and returns err, joined with why the log has failed unless err contains that.
func (l *Log) Close(err error) error {
	l.stop()
	failure := l.Log.Err()
	switch {
	case failure == nil:
		return errors.Join(err, l.Log.Close())
	case errors.Is(err, failure):
		return err
	}
	return errors.Join(err, failure)
}

// checkFiles returns an error if the log's files are missing. It runs before anything creates them.
func (s *Settings) checkFiles() error {
	files := []string{s.checkpointFile()}
	if s.Store == "" {
		files = append(files, s.StoreFile())
	}
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return s.missing(fmt.Errorf("%w: %s is missing", ledger.ErrNoLog, file))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// missing adds to the error of a missing log what the operator can do.
func (s *Settings) missing(err error) error {
	if s.ReadOnly {
		return fmt.Errorf("%w, and --read-only creates none. Check that its folder and store are right and that the volume is mounted, or restore a backup", err)
	}
	return fmt.Errorf("%w, and create=never requires one. Check that its folder and store are right and that the volume is mounted, "+
		"or restore a backup. Only if a log or a replica is new, start it once with create=auto", err)
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
