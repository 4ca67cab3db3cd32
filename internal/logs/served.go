package logs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
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
	earlier  []*ledger.Log      // that the open log follows in the same folder, the first one first
	failed   chan struct{}      // closed once the open log has failed
	untend   func()             // ends tend
	// carried is the number of records that this process has copied from the earlier log; nil until
	// all are there.
	carried atomic.Pointer[uint64]
}

// open opens the log and serves requests from it.
func (l *served) open(ctx context.Context) error {
	chain, err := l.openChain(ctx)
	if err == nil {
		if err = l.set.claimKey(chain[0].Verifier(), l.Name); err != nil {
			err = errors.Join(err, closeAll(chain))
		}
	}
	if err != nil && l.set.several() {
		return fmt.Errorf("the log %s: %w", l.Name, err)
	} else if err != nil {
		return err
	}
	checkPermissions(l.Settings, l.logger)
	l.failed = make(chan struct{})
	l.serve(chain)
	tending, cancel := context.WithCancel(context.Background())
	var tend sync.WaitGroup
	tend.Go(func() { l.tend(tending) })
	l.untend = func() { cancel(); tend.Wait() }
	return nil
}

// serve has the last log of a chain answer requests.
func (l *served) serve(chain []*ledger.Log) {
	log := chain[len(chain)-1]
	options := services.Options{
		Random: rand.Reader, Deadline: l.Deadline, Relays: l.Relays, TraceAppend: l.set.TraceAppend,
		ObserveCommitment: l.observer.Commitment, ObserveShoe: l.observer.ShoeChange, CacheShare: len(l.set.logs) * l.set.CacheShare, LoadShare: l.set.CacheShare,
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.carried.Store(nil)
	l.earlier, l.services = chain[:len(chain)-1], services.New(log, l.rules, options)
	l.stop = l.start()
	l.door.Open(l.services)
}

// chain returns the open log after those that it follows in the same folder.
func (l *served) chain() []*ledger.Log { return append(slices.Clone(l.earlier), l.services.Log) }

// closeAll closes logs, the last one first.
func closeAll(chain []*ledger.Log) error {
	var errs []error
	for _, log := range slices.Backward(chain) {
		errs = append(errs, log.Close())
	}
	return errors.Join(errs...)
}

// start expires commitments and shoes and advances anchors in the background. stop waits for the end.
func (l *served) start() (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var background sync.WaitGroup
	for _, place := range l.Anchors {
		background.Go(func() { l.keepAnchor(ctx, l.services.Log, place) })
	}
	if l.Witnesses != nil {
		l.observer.Witnessed()          // so that an alert counts from now on
		for _, log := range l.chain() { // also the last checkpoints of those that ended
			log.AwaitsWitnesses()
			background.Go(func() { l.keepWitnessed(ctx, log) })
		}
	}
	if !l.Retired {
		background.Go(func() { l.reencrypt(ctx) })
		background.Go(func() { l.carry(ctx) })
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

// reencrypt encrypts the seeds under the current key, until all are or ctx is done.
func (l *served) reencrypt(ctx context.Context) {
	total := uint64(0)
	for chain := l.chain(); chain[0].SeedKeys() > 1; {
		changed, err := chain[0].Reencrypt(ctx)
		total += changed
		switch {
		case ctx.Err() != nil || chain[0].Err() != nil:
			return
		case err == nil && len(chain) > 1:
			chain = chain[1:]
			continue
		case err == nil:
			l.logger.Info("all seeds are encrypted under the first seed key; the others can be removed once every replica says so", "changed", total)
			return
		}
		l.door.Failed(fmt.Errorf("encrypting the seeds under the first seed key: %w", err))
		wait(ctx, longestPause)
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
			case <-l.failed:
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
	if err := closeAll(l.chain()); err != nil {
		l.logger.Warn("closing a failed log", "error", err)
	}
	l.seen = log.Durable() // after Close, which waits for the commit in flight
	l.services = nil
	return failure
}

// end closes the log for good. It leaves a failed log alone, for the next start to recover, and
// returns the failure unless err contains it.
func (l *served) end(err error) error {
	if l.untend != nil {
		l.untend()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.services == nil {
		return nil
	}
	l.stop()
	failure := l.services.Log.Err()
	switch {
	case failure == nil:
		return closeAll(l.chain())
	case errors.Is(err, failure):
		return nil
	}
	return failure
}

// checkFiles returns an error if the log's files are missing. It runs before anything creates them.
func (l *served) checkFiles(s *Settings) error {
	files := []string{s.checkpointFile()}
	if s.Store == "" && !archive.Exists(archive.Folder(s.Folder)) {
		files = append(files, s.StoreFile())
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
	case l.Retired:
		return fmt.Errorf("%w, and a retired log is never created. Put its folder back, or restore a backup", err)
	}
	return fmt.Errorf("%w, and create=never requires one. Check that its folder and store are right and that the volume is mounted, "+
		"or restore a backup. Only if a log or a replica is new, start it once with create=auto", err)
}
