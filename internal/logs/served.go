package logs

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

	"riffle/internal/journal"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// closeTimeout limits the use of a failed log by requests in flight.
const closeTimeout = 10 * time.Second

// A served log is open, or waits to be opened again.
type served struct {
	*Settings
	set      *Set
	rules    *plan.Rules
	logger   *slog.Logger
	door     Door
	observer Observer
	seen     []byte // the log's last checkpoint before it was closed; used only by keepOpen's goroutine

	mu       sync.Mutex
	services *services.Services // nil while the log is closed
	stop     func()             // the log's background work
}

// open opens the log and serves requests from it.
func (l *served) open(ctx context.Context) error {
	log, err := l.openLog(ctx)
	if err == nil {
		if err = l.set.claimKey(log.Verifier(), l.Name); err != nil {
			err = errors.Join(err, log.Close())
		}
	}
	if err != nil && l.set.several() {
		return fmt.Errorf("the log %s: %w", l.Name, err)
	} else if err != nil {
		return err
	}
	if !l.ReadOnly {
		checkPermissions(l.Settings, l.logger)
	}
	options := services.Options{
		Random: rand.Reader, Deadline: l.Deadline, Relays: l.Relays, TraceAppend: l.set.TraceAppend,
		ObserveCommitment: l.observer.Commitment, ObserveShoe: l.observer.ShoeChange, CacheShare: len(l.set.logs) * l.set.CacheShare, LoadShare: l.set.CacheShare,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.services = services.New(log, l.rules, options)
	l.stop = l.start()
	l.door.Open(l.services)
	return nil
}

// openLog opens the log. After the first time it creates no new one, and must extend the last
// checkpoint of this process: an older copy of the folder would also have an older checkpoint file.
func (l *served) openLog(ctx context.Context) (*ledger.Log, error) {
	anchors, err := l.readAnchors(ctx)
	if err != nil {
		return nil, err
	}
	anchors = append(anchors, ledger.Anchor{Source: "what this process last signed or saw", Note: l.seen})
	options := ledger.Options{
		Folder: l.Folder, ReadKey: keycommand.Reader(ctx, l.KeyCommand), KeyFile: l.Key, SeedKey: l.SeedKey, SeedKeyFile: l.SeedKeyFile,
		Origin: l.Origin, MustExist: l.Create == CreateNever || l.ReadOnly || l.seen != nil, Anchors: anchors,
		Queue: l.set.Queue, Patience: l.set.Patience, Observe: l.observer.Commit,
	}
	if options.MustExist {
		err = l.checkFiles()
	} else if err = os.MkdirAll(l.Folder, 0o700); err != nil {
		err = fmt.Errorf("creating the data folder: %w", err)
	}
	if err != nil {
		return nil, err
	}
	log, err := l.openWith(ctx, options)
	if errors.Is(err, ledger.ErrNoLog) {
		err = l.missing(err)
	}
	if err != nil {
		return nil, err
	}
	if err := l.checkAnchored(anchors, log); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return log, nil
}

// openWith opens the store, and the log in it.
func (l *served) openWith(ctx context.Context, options ledger.Options) (*ledger.Log, error) {
	if l.ReadOnly {
		store, err := l.set.OpenReader(ctx, l.Settings)
		if err != nil {
			return nil, err
		}
		log, err := ledger.OpenReadOnly(ctx, store, options)
		if err != nil {
			return nil, errors.Join(err, store.Close())
		}
		return log, nil
	}
	store, err := l.set.OpenStore(ctx, l.Settings)
	if err != nil {
		return nil, err
	}
	log, err := ledger.Open(ctx, store, options)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return log, nil
}

// start expires commitments and shoes and advances anchors in the background. stop waits for the end.
func (l *served) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	for _, place := range l.Anchors {
		if l.ReadOnly {
			break // they were compared, and stay
		}
		background.Go(func() { l.keepAnchor(ctx, l.services.Log, place) })
	}
	if l.Witnesses != nil {
		l.observer.Witnessed() // so that an alert counts from now on
		l.services.Log.AwaitsWitnesses()
		background.Go(func() { l.keepWitnessed(ctx, l.services.Log) })
	}
	if !l.ReadOnly {
		background.Go(func() {
			report := func(err error) { l.door.Failed(fmt.Errorf("expiring commitments or shoes: %w", err)) }
			journal.Sweep(ctx, report, l.services.Dealer.ExpireCommitments, l.services.Shoes.Expire)
		})
	}
	return func() {
		cancel()
		background.Wait()
	}
}

// wait waits for a time, or until ctx is done.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// keepOpen opens the log again after each failure, until ctx is done. err is the error of the first
// attempt to open it, or nil.
func (l *served) keepOpen(ctx context.Context, err error) {
	pause := firstPause
	for {
		if err == nil {
			opened := time.Now()
			select {
			case <-ctx.Done():
			case <-l.services.Log.Failed():
				err = l.close()
			}
			if time.Since(opened) > longestPause {
				pause = firstPause
			}
		}
		if ctx.Err() != nil {
			return
		}
		l.logger.Error("opening a log failed; it is tried again", "error", err, "after", pause.String())
		if wait(ctx, pause); ctx.Err() != nil {
			return
		}
		pause = min(2*pause, longestPause)
		if err = l.open(ctx); err == nil {
			l.logger.Info("the log is open again")
		}
	}
}

// close closes the failed log, after the last request that uses it or closeTimeout. It returns why
// the log has failed.
func (l *served) close() error {
	select {
	case <-l.door.Close():
	case <-time.After(closeTimeout): // requests still in flight get errors from the store
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stop()
	log := l.services.Log
	failure := log.Err()
	if err := log.Close(); err != nil {
		l.logger.Warn("closing a failed log", "error", err)
	}
	l.seen = log.Durable() // after Close, which waits for the commit in flight
	l.services = nil
	return failure
}

// end closes the log for good. It leaves a failed log alone, for the next start to recover, and
// returns the failure unless err contains it.
func (l *served) end(err error) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.services == nil {
		return nil
	}
	l.stop()
	failure := l.services.Log.Err()
	switch {
	case failure == nil:
		return l.services.Log.Close()
	case errors.Is(err, failure):
		return nil
	}
	return failure
}

// checkFiles returns an error if the log's files are missing. It runs before anything creates them.
func (l *served) checkFiles() error {
	files := []string{l.checkpointFile()}
	if l.Store == "" {
		files = append(files, l.StoreFile())
	}
	for _, file := range files {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return l.missing(fmt.Errorf("%w: %s is missing", ledger.ErrNoLog, file))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// missing adds to the error of a missing log what the operator can do.
func (l *served) missing(err error) error {
	switch {
	case l.seen != nil:
		return fmt.Errorf("%w, and this process has had it open. Put its folder back, or restore a backup", err)
	case l.ReadOnly:
		return fmt.Errorf("%w, and --read-only serves one that exists. Put its folder back, or restore a backup", err)
	}
	return fmt.Errorf("%w, and create=never requires one. Check that its folder and store are right and that the volume is mounted, "+
		"or restore a backup. Only if a log or a replica is new, start it once with create=auto", err)
}
