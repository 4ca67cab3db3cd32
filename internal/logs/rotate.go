package logs

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"riffle/internal/audit"
	"riffle/internal/journal"
	"riffle/internal/keycommand"
	"riffle/internal/ledger"
	"riffle/internal/system"
)

// A Rotation says when a log ends, so that another one follows it. Both are in the log's folder, and the
// second is served in place of the first.
type Rotation struct {
	Period  string // "day", "month" or "year", in UTC; empty for none
	Records uint64 // number of records; 0 for any
}

// minRotation is the least number of records of a log that ends for it.
const minRotation = 100

var periods = map[string]string{"day": "2006-01-02", "month": "2006-01", "year": "2006"}

// UnmarshalText parses day, month, year, or a number of records. An empty text is for never.
func (r *Rotation) UnmarshalText(text []byte) error {
	*r = Rotation{}
	if _, ok := periods[string(text)]; ok {
		r.Period = string(text)
		return nil
	}
	n, err := strconv.ParseUint(string(text), 10, 64)
	if len(text) > 0 && (err != nil || n < minRotation) {
		return fmt.Errorf("must be day, month, year, or a number of records from %d on; got %q", minRotation, text)
	}
	r.Records = n
	return nil
}

// isDue reports whether a log that began at a time, and has grown by a number of records, ends now.
func (r Rotation) isDue(began, now time.Time, records uint64) bool {
	layout := periods[r.Period]
	return r.Records > 0 && records >= r.Records || layout != "" && began.UTC().Format(layout) < now.UTC().Format(layout)
}

// rotateEvery is the interval at which a log may end.
const rotateEvery = time.Second

// tend ends the open log when it is due, and has the next one take its place, until ctx is done or the log
// has failed. Another process may end the log.
func (l *served) tend(ctx context.Context) {
	for {
		log := l.services.Log
		var ended <-chan struct{} // never for a log that is only read
		if !l.Retired {
			ended = log.Ended()
		}
		select {
		case <-ctx.Done():
			return
		case <-log.Failed():
			close(l.failed)
			return
		case <-ended:
			l.openNext(ctx)
		case <-time.After(rotateEvery):
			if err := l.endIfDue(ctx, log); err != nil && ctx.Err() == nil && !errors.Is(err, ledger.ErrEnded) { // by another process
				l.door.Failed(fmt.Errorf("ending the log: %w", err))
			}
		}
	}
}

// endIfDue ends the log if it is due and all shoes and commitments of the earlier log have been carried
// over.
func (l *served) endIfDue(ctx context.Context, log *ledger.Log) error {
	size, _ := log.Sizes()
	carried := l.carried.Load()
	if l.Retired || size == 0 || carried == nil {
		return nil
	}
	if l.Store != "" { // another process may have ended it
		if ended, err := log.CheckEnded(ctx); ended || err != nil {
			return err
		}
	}
	if l.Rotation == (Rotation{}) {
		return nil
	}
	first, err := log.At(ctx, 0)
	if err != nil {
		return err
	}
	record, err := audit.ParseRecord(first.Record)
	if err != nil || !l.Rotation.isDue(record.Time, time.Now(), size-min(size, *carried)) {
		return err
	}
	chain := l.chain()
	if err = l.makeRoom(ctx, l.after(len(chain))); err == nil {
		next := log.NextKey(ledger.SuccessorOrigin(chain[0].Origin(), len(chain)+1))
		err = journal.New(log, rand.Reader, time.Now).EndLog(ctx, next)
	} else if ended, _ := log.CheckEnded(ctx); ended { // meanwhile, and its place was taken by the next one
		err = nil
	}
	return err
}

// successorRoom is more than a new log takes on a disk, with its write-ahead log: 350 kB.
const successorRoom = 1 << 20

// makeRoom makes the folder and the tables of the next log, unless there is too little room or another
// log. A log that has ended while the next one cannot begin takes no records.
func (l *served) makeRoom(ctx context.Context, next *Settings) error {
	taken := fmt.Errorf("another log is where the next one would begin, in the folder %s or in its database: move it away", next.Folder)
	if next.hasBegun() {
		return taken
	}
	if err := os.MkdirAll(next.Folder, 0o700); err != nil {
		return err
	}
	if free, ok := system.Free(next.Folder); ok && free < successorRoom {
		return fmt.Errorf("%w: %d bytes are free, and the next log takes up to %d", ledger.ErrNoSpace, free, successorRoom)
	}
	tables, err := l.set.OpenStore(ctx, next)
	if err != nil {
		return err
	}
	head, err := tables.Head(ctx)
	if err == nil && head.Size > 0 {
		err = taken
	}
	return errors.Join(err, tables.Close())
}

// openNext opens the log that follows the open one, and has it answer requests. It tries again until ctx
// is done.
func (l *served) openNext(ctx context.Context) {
	began := time.Now()
	for ctx.Err() == nil {
		chain, err := l.extend(ctx, l.chain(), nil)
		if err == nil {
			l.stop()
			l.serve(chain)
			l.logger.Info("the log has ended, and another one follows it", "next", chain[len(chain)-1].Verifier(), "took", time.Since(began).String())
			return
		}
		if time.Since(began) > firstPause { // another process may just be beginning it
			l.door.Failed(fmt.Errorf("opening the next log: %w", err))
		}
		wait(ctx, firstPause/10)
	}
}

// carry copies the open shoes and unused commitments of the earlier log, until it has or ctx is done.
func (l *served) carry(ctx context.Context) {
	before, _ := l.services.Log.Sizes()
	for began := time.Now(); ctx.Err() == nil; {
		err := journal.New(l.services.Log, rand.Reader, time.Now).Carry(ctx)
		if err == nil {
			copied, _ := l.services.Log.Sizes()
			copied -= before
			l.carried.Store(&copied)
			return
		}
		if time.Since(began) > startTimeout && ctx.Err() == nil { // the earlier log may just be opening
			l.door.Failed(fmt.Errorf("carrying shoes and commitments over from the earlier log: %w", err))
		}
		wait(ctx, firstPause)
	}
}

// openChain opens the log and all that follow it in its folder. After the first time it creates no new
// log, and must extend the last checkpoint of this process: an older copy of the folder would also have
// an older checkpoint file.
func (l *served) openChain(ctx context.Context) ([]*ledger.Log, error) {
	anchors, err := l.readAnchors(ctx)
	if err != nil {
		return nil, err
	}
	anchors = append(anchors, ledger.Anchor{Source: "what this process last signed or saw", Note: l.seen})
	return l.extend(ctx, nil, anchors)
}

// checkNames returns an error if an anchor names none of the logs.
func checkNames(anchors []ledger.Anchor, chain []*ledger.Log) error {
	for _, a := range anchors {
		if len(a.Note) > 0 && !slices.ContainsFunc(chain, func(log *ledger.Log) bool { return log.Origin() == a.Origin() }) {
			return fmt.Errorf("%s is of another log, or was changed: it names the log %q. Start with the key and the store that belong to this data folder", a.Source, a.Origin())
		}
	}
	return nil
}

// extend opens the logs that follow a chain, up to one that has not ended. It begins that one if it is
// new. If it fails, it closes what it has opened.
func (l *served) extend(ctx context.Context, chain []*ledger.Log, anchors []ledger.Anchor) (_ []*ledger.Log, err error) {
	given := len(chain)
	defer func() {
		if err != nil {
			err = errors.Join(err, closeAll(chain[given:]))
		}
	}()
	for {
		log, err := l.openOne(ctx, chain, anchors)
		if err != nil {
			return nil, err
		}
		chain = append(chain, log)
		before := len(chain) - 2
		size, _ := log.Sizes()
		begin, end, err := journal.Neighbours(ctx, log)
		if err == nil && end == nil {
			err = errors.Join(checkNames(anchors, chain), l.checkAnchored(anchors, chain))
			if next := l.after(len(chain)); next.hasBegun() {
				err = errors.Join(err, fmt.Errorf("%w: a log follows this one in %s, and this one has not ended: its store comes from an older backup. "+
					"Put back the newest store that there is, of each log", ledger.ErrCorrupt, next.Folder))
			}
		}
		if err == nil && size == 0 && before >= 0 {
			err = follow(ctx, log, chain[before])
		}
		if err != nil {
			return nil, err
		}
		switch {
		case before >= 0:
			log.Follow(func() (*ledger.Log, error) { return chain[before], nil })
		case begin != nil:
			log.Follow(func() (*ledger.Log, error) { return l.set.predecessor(begin) })
		}
		if end == nil {
			return chain, nil
		}
		switch {
		case end.Successor == log.NextKey(ledger.SuccessorOrigin(chain[0].Origin(), len(chain)+1)):
		case l.Retired:
			return chain, nil
		default:
			return nil, errors.New("the log was closed, so it takes no more records: serve it as one of the logs of a configuration file, with retired: true")
		}
	}
}

// openOne opens the log that follows a chain. Anchors of its name are compared with it.
func (l *served) openOne(ctx context.Context, chain []*ledger.Log, anchors []ledger.Anchor) (*ledger.Log, error) {
	one, mustExist := l.after(len(chain)), l.Create == CreateNever || l.Retired || l.seen != nil
	options := ledger.Options{
		Folder: one.Folder, ReadKey: keycommand.Reader(ctx, l.KeyCommand), KeyFile: l.Key, SeedKeys: l.SeedKeys, SeedKeyFile: l.SeedKeyFile,
		Origin: l.Origin, ReadOnly: l.Retired, MustExist: mustExist, Anchors: anchors,
		Queue: l.set.Queue, Patience: l.set.Patience, Observe: l.observer.Commit,
	}
	if len(chain) > 0 {
		options.Follows, options.Origin = chain[len(chain)-1], ledger.SuccessorOrigin(chain[0].Origin(), len(chain)+1)
		options.ReadKey, options.KeyFile, options.SeedKeyFile = nil, "", ""
		options.MustExist = one.hasBegun()
		if _, err := os.Stat(one.Folder); err != nil && one.Store == "" && anchors != nil { // endIfDue made it
			return nil, fmt.Errorf("%w: the log has ended, and the folder of the next one is missing: put %s back, or restore a backup", ledger.ErrNoLog, one.Folder)
		}
	}
	if !options.MustExist {
		if err := os.MkdirAll(one.Folder, 0o700); err != nil {
			return nil, fmt.Errorf("creating the data folder: %w", err)
		}
	} else if err := l.checkFiles(one); err != nil {
		return nil, err
	}
	store, err := l.set.OpenStore(ctx, one)
	if err != nil {
		return nil, err
	}
	head, err := store.Head(ctx)
	if err == nil && mustExist && !options.MustExist && head.Size > 0 {
		err = l.checkFiles(one)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	log, err := ledger.Open(ctx, store, options)
	if errors.Is(err, ledger.ErrNoLog) {
		err = l.missing(err)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return log, nil
}

// follow begins a log that follows one that has ended, unless another process does.
func follow(ctx context.Context, log, before *ledger.Log) error {
	end, err := journal.New(before, rand.Reader, time.Now).ByClaim(ctx, ledger.EndClaim) // durable, whoever appended it
	if err != nil {
		return err
	}
	last := before.Checkpoint(ctx)
	if _, published := before.Sizes(); published <= end.Index {
		return ledger.ErrNotPublished
	}
	// It begins no earlier than the other ended, by whichever process: else it would be due again.
	now := func() time.Time { return time.UnixMicro(max(time.Now().UnixMicro(), end.Time.UnixMicro())) }
	return journal.New(log, rand.Reader, now).BeginLog(ctx, before.Verifier(), string(last))
}
