package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/ledger/archive"
)

// A logExport writes a log that has ended as files.
type logExport struct {
	logSource
	To     string `placeholder:"DIR" help:"The folder of the archive. Default archive in the data folder, where the service looks for it."`
	Remove bool   `help:"Remove the store once the archive was checked. Restart the service before, so that it reads the archive."`
}

// Run exports the log.
func (k *logExport) Run(ctx context.Context, c *console) (err error) {
	folder := cmp.Or(k.To, archive.Folder(k.folder()))
	t := &transfer{console: c, source: &k.logSource}
	if err := t.open(ctx, openEngine); errors.Is(err, ledger.ErrNoLog) && archive.Exists(archive.Folder(k.folder())) {
		_, err := fmt.Fprintf(c.out, "archive      %s\nremoved      %s, before\n", archive.Folder(k.folder()), t.name)
		return err
	} else if err != nil {
		return err
	}
	defer t.close(&err)
	_, _ = fmt.Fprintf(c.out, "store        %s\narchive      %s\n", t.name, folder)
	if end, err := endOf(ctx, t.from); err != nil {
		return err
	} else if end == nil {
		return errors.New("the log has not ended, and only a log that has can be exported: see riffle log close, and the setting rotate of the service")
	}
	if archive.Exists(folder) { // a service may be reading it
		err = t.checkArchive(ctx, folder)
	} else {
		err = k.write(ctx, t, folder)
	}
	if err != nil || !k.Remove {
		return err
	}
	return k.remove(ctx, c, t.name)
}

// write writes the archive, which counts once it was checked.
func (k *logExport) write(ctx context.Context, t *transfer, folder string) (err error) {
	to, err := archive.Open(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	if err := t.run(ctx, to, false); err != nil {
		return err
	}
	head, err := to.Head(ctx)
	if err != nil {
		return err
	}
	return inOrder(
		func() error { return to.WriteTiles(ctx, head.Size) },
		func() error { return t.conclude(ctx, to, 0) },
		func() error { return to.Finish(head.Checkpoint) },
	)
}

// endOf returns the last record of a store, which says which log follows; nil unless the log has
// ended. A check finds one that is damaged.
func endOf(ctx context.Context, store ledger.Inspector) (*audit.Record, error) {
	head, err := store.Head(ctx)
	if err != nil || head.Size == 0 {
		return nil, err
	}
	last, err := ledger.FirstOrNotFound(store.Select(ctx, ledger.Range(head.Size-1, 1)))
	if err != nil {
		return nil, err
	}
	if record, err := audit.ParseRecord(last.Record); err == nil && record.Kind == audit.KindLogEnd {
		return record, nil
	}
	return nil, nil
}

// remove removes the store.
func (k *logExport) remove(ctx context.Context, c *console, name string) error {
	if k.To != "" && !archive.Exists(archive.Folder(k.folder())) {
		return fmt.Errorf("the service would not find the archive: it looks for it in %s", archive.Folder(k.folder()))
	}
	store, err := openTarget(ctx, k.folder(), k.location())
	if err == nil {
		err = errors.Join(store.Remove(ctx), store.Close())
	}
	if errors.Is(err, ledger.ErrInUse) {
		return fmt.Errorf("%s is in use: restart the service first, each replica, so that it reads the archive: %w", name, err)
	}
	if err == nil {
		_, err = fmt.Fprintf(c.out, "removed      %s\n", name)
	}
	return err
}

// A logForget forgets the seeds of a log that was exported.
type logForget struct {
	Data  string        `placeholder:"DIR" env:"RIFFLE_DATA" help:"The data folder of the log, with its archive. Default ./data."`
	Older time.Duration `placeholder:"TIME" help:"Do nothing unless the log ended longer ago, such as 8760h for a year."`
}

// Run removes the sidecars.
func (k *logForget) Run(ctx context.Context, c *console) error {
	if k.Older < 0 {
		return fmt.Errorf("--older is %s, and must not be negative", k.Older)
	}
	folder := archive.Folder(logName("").folder(k.Data))
	if !archive.Exists(folder) {
		return fmt.Errorf("there is no archive in %s: riffle log export makes one of a log that has ended", folder)
	}
	a, err := archive.OpenReader(ctx, folder)
	if err != nil {
		return err
	}
	end, err := endOf(ctx, a)
	if err = errors.Join(err, a.Close()); err == nil && end == nil {
		err = fmt.Errorf("%w: the last record of %s does not end the log", ledger.ErrCorrupt, folder)
	}
	if err != nil {
		return err
	}
	if age := time.Since(end.Time); age < k.Older {
		_, err := fmt.Fprintf(c.out, "archive      %s\nkept         the log ended %s\n", folder, end.Time.Format(time.DateTime))
		return err
	}
	store := storeName(filepath.Dir(folder), "")
	if exists(store) {
		return fmt.Errorf("%s still has the seeds: restart the service, and remove it with riffle log export --remove", store)
	}
	if err := archive.ForgetSeeds(folder); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.out, "archive      %s\nforgotten    all seeds, shoe states and idempotency keys\n", folder)
	return err
}

// copyArchive copies the archive, the keys and the checkpoint of the source to the target's folder,
// unless that is its own, and checks the copy. A store that the folder has from the time before the
// export stays, and makes a copy unnecessary if it has all records.
func (t *transfer) copyArchive(ctx context.Context) error {
	if same(t.source.folder(), t.folder) {
		return nil
	}
	target := archive.Folder(t.folder)
	t.print("archive      %s\ncopy         %s\n", t.name, target)
	if err := inOrder(
		func() error { return t.copyKeys(false) },
		func() error { return t.isNewest(ctx, t.from, t.folder) },
	); err != nil {
		return err
	}
	if exists(storeName(t.folder, "")) {
		switch isWhole, err := t.isWhole(ctx); {
		case err != nil:
			return err
		case isWhole:
			t.print("records      in the store that %s has already\n\n", t.folder)
			return nil
		case t.fresh:
			return fmt.Errorf("%s holds a log already: name one that is empty", t.folder)
		}
	}
	if t.first {
		return nil
	}
	return inOrder(
		func() error { return os.MkdirAll(t.folder, 0o700) },
		func() error { return t.copyKeys(true) },
		func() error { return archive.Copy(t.name, target) },
		func() error { return t.checkArchive(ctx, target) },
		func() error { return t.saveCheckpoint(ctx, t.from) },
	)
}

// isWhole reports whether the store in the target's folder has all records of the source.
func (t *transfer) isWhole(ctx context.Context) (bool, error) {
	store, _, err := openEngine(ctx, t.folder, "")
	if err != nil {
		return false, err
	}
	has, errHead := store.Head(ctx)
	head, err := t.from.Head(ctx)
	return has.Size == head.Size && bytes.Equal(has.Edge, head.Edge), errors.Join(errHead, err, store.Close())
}

// checkArchive checks a whole archive, and that it has all records of the source.
func (t *transfer) checkArchive(ctx context.Context, folder string) error {
	written, err := archive.OpenReader(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { _ = written.Close() }()
	has, errHead := written.Head(ctx)
	head, err := t.from.Head(ctx)
	if err = cmp.Or(errHead, err); err != nil || head.Size != has.Size {
		return cmp.Or(err, fmt.Errorf("%s has %d records, and the store %d", folder, has.Size, head.Size))
	}
	if written.WithoutSeeds() {
		t.checker.Decrypt = nil
	}
	if findings, err := written.Check(ctx); err != nil || len(findings) > 0 {
		return t.wrong(cmp.Or(err, fmt.Errorf("%w: %q", ledger.ErrCorrupt, findings)))
	}
	return t.conclude(ctx, written, 0)
}

// A proofCmd prints proofs without the service that would answer them.
type proofCmd struct {
	logSource
	From string      `placeholder:"DIR" help:"The data folder, as --data, or the folder archive in it. In a copy of the archive alone the keys go beside that folder."`
	IDs  []uuid.UUID `arg:"" name:"id" help:"Audit ids, in the order of the proofs."`
}

// Run prints the proofs.
func (k *proofCmd) Run(ctx context.Context, c *console) error {
	k.Data = cmp.Or(k.From, k.Data)
	from, err := filepath.Abs(k.From)
	if err != nil {
		return err
	}
	if k.From != "" && archive.Folder(filepath.Dir(from)) == from {
		if k.Data = filepath.Join(k.From, ".."); !archive.Exists(k.From) {
			return fmt.Errorf("there is no whole archive in %s: it lacks the checkpoint, which riffle log export writes last", k.From)
		}
	}
	return k.print(ctx, c, nil, "")
}

// print opens the log that follows an earlier one, which names its key, and those that follow it:
// the last one knows which seeds are public. For the first log, the earlier one is nil, and the key
// is empty.
func (k *proofCmd) print(ctx context.Context, c *console, earlier *ledger.Log, key string) (err error) {
	t := &transfer{console: c, source: &k.logSource}
	if err := t.open(ctx, openStore); err != nil {
		return err
	}
	defer t.close(&err)
	log, err := ledger.View(ctx, t.from, &ledger.SigningKey{Verifier: t.verifier, Public: t.key}, t.vault, earlier)
	end, errRead := endOf(ctx, t.from)
	if err = t.wrong(cmp.Or(err, errRead)); err != nil {
		return err
	}
	if earlier != nil && t.key != key {
		return fmt.Errorf("%s is another log than the one that follows, whose key is %s", t.name, key)
	}
	if end != nil {
		if k.isInFolder(end.Successor, t.verifier.Name()) {
			k.number = k.following()
			if err := k.print(ctx, c, log, end.Successor); !errors.Is(err, ledger.ErrNoLog) {
				return err
			}
		}
		_, _ = fmt.Fprintf(c.messages, "riffle: warning: the log that follows is not in %s: seeds that were revealed there are left out\n", k.folder())
	}
	records := disclosure.New(journal.New(log, nil, nil), nil)
	for _, id := range k.IDs {
		p, err := records.Prove(ctx, id, false)
		if err == nil {
			_, err = c.out.Write(p.Text())
		}
		if err != nil {
			return fmt.Errorf("%s: %w", id, t.wrong(err))
		}
	}
	return nil
}
