package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"riffle/internal/anchor"
	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/proof"
)

// A backup copies a log into a folder from which a service could start: an SQLite store, the checkpoint
// and the keys.
type backup struct {
	logSource
	To     string `required:"" placeholder:"DIR" help:"The folder of the backup. A backup that is there already gets what is new."`
	Follow bool   `help:"Go on, and copy each record as soon as it is written, until a signal."`
	Verify bool   `help:"Read the records of earlier backups again, too. A disk may have changed them since."`
}

// followEvery is the interval at which a backup that follows looks for new records. After verifyEvery it
// looks up those that it has copied.
const (
	followEvery = 200 * time.Millisecond
	verifyEvery = time.Hour
)

// Run makes the backup.
func (k *backup) Run(ctx context.Context, c *console) error {
	if same(k.folder(), k.To) {
		return errors.New("the folder of the backup is the data folder: use --to to name another")
	}
	t := &transfer{console: c, source: &k.logSource, folder: k.To}
	return t.copyLog(ctx, openStore, func(ctx context.Context, to ledger.Store) error { return k.update(ctx, t, to) })
}

// update copies to a backup what is new, and with --follow goes on.
func (k *backup) update(ctx context.Context, t *transfer, to ledger.Store) error {
	if k.Verify {
		t.checked.CheckState = ledger.CheckState{}
	}
	before := t.checked.Size
	if err := inOrder(
		func() error { return t.isNewest(ctx, t.from, t.folder) },
		func() error { return t.run(ctx, to, false) },
		func() error { return t.copyKeys(true) },
		func() error { return t.conclude(ctx, to, before) },
		func() error { return t.saveCheckpoint(ctx, to) }, // without which create=never refuses to start
	); err != nil || !k.Follow {
		return err
	}
	return t.follow(ctx, to)
}

// same reports whether two folders are one.
func same(a, b string) bool {
	one, errA := os.Stat(a)
	other, errB := os.Stat(b)
	return errA == nil && errB == nil && os.SameFile(one, other)
}

// follow brings a store up to date until ctx ends. It waits for a source that cannot be reached, and
// ends when another file has taken the place of the source.
func (t *transfer) follow(ctx context.Context, to ledger.Store) error {
	opened, _ := os.Stat(t.name) // nil for a database
	_, _ = fmt.Fprintln(t.out, "\nfollowing")
	t.progress = nil
	reached, last, size := true, time.Now(), t.checked.Size
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(followEvery):
		}
		if now, _ := os.Stat(t.name); opened != nil && !os.SameFile(opened, now) {
			return fmt.Errorf("%s was deleted or replaced: start the backup again", t.name)
		}
		head, lost := t.from.Head(ctx)
		if lost == nil && head.Size != size {
			lost = inOrder(
				func() error { return t.run(ctx, to, false) },
				func() error { return t.saveCheckpoint(ctx, to) },
			)
		}
		switch {
		case lost == nil:
			if !reached {
				_, _ = fmt.Fprintln(t.messages, "riffle: the backup is up to date again")
			}
			reached, size = true, head.Size
		case ctx.Err() != nil:
			return nil //nolint:nilerr // a signal ends it
		case !environmental(lost) && !errors.Is(lost, ledger.ErrNoSpace):
			return lost
		case reached:
			reached = false
			newest, _ := newestOf(ctx, to, size)
			_, _ = fmt.Fprintf(t.messages, "riffle: the backup falls behind; its newest record is of %s; trying again: %v\n", newest, lost)
		}
		if time.Since(last) > verifyEvery {
			last = time.Now()
			if _, err := t.check(ctx, to, false); err != nil {
				return err
			}
		}
	}
}

// A restore makes a data folder from a backup.
type restore struct {
	From    string `required:"" placeholder:"DIR" help:"The folder of the backup."`
	Data    string `placeholder:"DIR" env:"RIFFLE_DATA" help:"The data folder, without a log. Default ./data."`
	Store   string `placeholder:"URL" help:"An empty PostgreSQL database, postgres://..., for the records. Default SQLite in the data folder."`
	Key     string `placeholder:"FILE" help:"The log's key. Default log.key in the backup."`
	SeedKey string `placeholder:"FILE" help:"The key that encrypts seeds. Default seed.key in the backup."`
	Command string `name:"key-command" placeholder:"COMMAND" env:"RIFFLE_KEY_COMMAND" help:"A command that prints a key in place of the files; see the service's flag."`
	known
}

// known is what else than its backup tells how many records a log had.
type known struct {
	KnownSize  uint64 `placeholder:"N" help:"The number of records that the log had, such as the last riffle_log_size."`
	Checkpoint string `placeholder:"FILE|URL" help:"The last checkpoint that the log signed, such as that of an anchor or a witness."`
	MayFork    bool   `help:"Restore without knowing that, although the log may then be forked."`
}

// check returns an error if a backup does not have all records that its log is known to have had.
// A checkpoint in the target's folder is known, too: a service does not start on fewer records.
func (k *known) check(ctx context.Context, t *transfer) error {
	head, err := t.from.Head(ctx)
	switch {
	case err != nil:
		return err
	case k.KnownSize == 0 && k.Checkpoint == "":
		if k.MayFork || t.hasCheckpoint() {
			return nil
		}
		newest, err := newestOf(ctx, t.from, head.Size)
		return cmp.Or(err, errors.New(words("unknown", map[string]any{"Folder": t.folder, "Store": t.name, "Size": head.Size, "Newest": newest})))
	case head.Size < k.KnownSize:
		return fmt.Errorf("%w: %s has %d records, and the log had %d. Look for the others: to go on without them would fork the log", errFindings, t.name, head.Size, k.KnownSize)
	case k.Checkpoint == "":
		return nil
	}
	location := k.Checkpoint
	if !strings.Contains(location, "://") {
		location, _ = filepath.Abs(location)
	}
	place, err := anchor.Parse(location)
	if err != nil {
		return err
	}
	note, _, err := place.Read(ctx)
	if err == nil && len(note) == 0 {
		err = fs.ErrNotExist
	}
	if err != nil {
		return fmt.Errorf("the checkpoint at %s: %w", place.Name, err)
	}
	return t.continues(ctx, t.from, ledger.Anchor{Source: place.Name, Note: note})
}

// newestOf says when the last record of a store was written, which has size records.
func newestOf(ctx context.Context, store ledger.Reader, size uint64) (string, error) {
	if size == 0 {
		return "never", nil
	}
	last, err := store.Select(ctx, ledger.Range(size-1, 1))
	if err != nil || len(last) == 0 {
		return "", cmp.Or(err, ledger.ErrCorrupt)
	}
	record, err := audit.ParseRecord(last[0].Record)
	if err != nil {
		return "", err
	}
	return record.Time.Format("2006-01-02T15:04:05Z"), nil
}

// Run restores the backup.
func (k *restore) Run(ctx context.Context, c *console) error {
	data := dataFolder(k.Data)
	if same(k.From, data) {
		return errors.New("the data folder is the folder of the backup: use --data to name another")
	}
	s := logSource{Data: k.From, Key: k.Key, SeedKey: k.SeedKey, Command: k.Command}
	t := &transfer{console: c, source: &s, folder: data, location: k.Store, known: &k.known}
	err := t.copyLog(ctx, openStore, t.fill)
	if errors.Is(err, ledger.ErrNoLog) {
		err = fmt.Errorf("%w in %s: use --from to name the folder of a backup", ledger.ErrNoLog, k.From)
	}
	return err
}

// fill copies the log's records to a store, and its checkpoint and keys.
func (t *transfer) fill(ctx context.Context, to ledger.Store) error {
	err := inOrder(
		func() error { return t.run(ctx, to, true) },
		func() error { return t.copyKeys(true) },
		func() error { _, err := t.check(ctx, to, true); return err },
	)
	if err == nil && !t.ahead {
		err = t.finish(ctx, to)
	}
	return err
}

// finish copies the last record once the others were checked, since a service can start then.
func (t *transfer) finish(ctx context.Context, to ledger.Store) error {
	if !t.hasCheckpoint() {
		if err := t.saveCheckpoint(ctx, t.from); err != nil {
			return err
		}
	}
	return inOrder(
		func() error { return t.end(ctx, identityOf(t.folder, t.location)) },
		func() error { return t.run(ctx, to, false) },
		func() error { return errors.Join(t.conclude(ctx, to, 0), os.Remove(t.checked.path)) },
	)
}

// accepts returns an error if the log must not be copied to a store.
func (t *transfer) accepts(ctx context.Context, to ledger.Store, name string) error {
	head, errHead := to.Head(ctx)
	source, err := t.from.Head(ctx)
	if err = cmp.Or(errHead, err); err != nil {
		return err
	}
	c, err := proof.OpenCheckpoint(head.Checkpoint, t.verifier)
	if t.known != nil && err == nil && c.Size == head.Size && !bytes.Equal(head.Checkpoint, source.Checkpoint) {
		return fmt.Errorf("%s holds a log already: name one that is empty", name)
	}
	if t.moved && head.Size+1 < source.Size {
		return fmt.Errorf("the log was moved, and %s is not the store that it was moved to: a second copy would fork it", name)
	}
	if database, ok := to.(*postgres.Store); ok {
		if n, err := database.Sessions(ctx, copyName); err != nil || n > 0 {
			return errors.Join(err, fmt.Errorf("%s is the old store: use --to to name another", name))
		}
	}
	return nil
}
