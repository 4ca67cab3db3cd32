package logs

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
	"riffle/internal/witness"
)

// witnessEvery is the time between two looks for a checkpoint that witnesses have not cosigned.
const witnessEvery = time.Second

// keepWitnessed has witnesses cosign the newest checkpoint of a log, until ctx is done.
func (l *served) keepWitnessed(ctx context.Context, log *ledger.Log) {
	cosigner := witness.New(l.Witnesses)
	for ; ctx.Err() == nil; wait(ctx, witnessEvery) {
		c, note := log.Published()
		cosigned, suffice, outcomes := cosigner.Cosign(ctx, &witness.Checkpoint{Checkpoint: c, Note: note, Prove: log.ProveEarlier})
		if ctx.Err() != nil {
			return
		}
		if err := l.heard(ctx, c, note, outcomes); suffice {
			log.SetWitnessed(c, cosigned)
			l.observer.Witnessed()
		} else {
			l.door.Failed(errors.Join(ledger.ErrNotWitnessed, err))
		}
	}
}

// heard counts the answers of witnesses, and returns their errors.
func (l *served) heard(ctx context.Context, c proof.Checkpoint, note []byte, outcomes map[string]error) (all error) {
	for _, w := range l.Witnesses.Witnesses {
		err, isAsked := outcomes[w.Name]
		result := "cosigned"
		switch {
		case !isAsked:
			continue
		case errors.Is(err, witness.ErrOtherHistory):
			result = "other-history"
			l.keepNotes(ctx, &w, c, note, err)
		case errors.Is(err, witness.ErrAhead):
			result = "ahead"
		case err != nil:
			result = "failed"
		}
		l.observer.Witness(w.Name, result)
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", w.Name, err))
		}
	}
	return all
}

// keepNotes writes the note that a witness refused, and the last one that it has cosigned, to the
// folder of the log, once.
func (l *served) keepNotes(ctx context.Context, w *proof.Witness, c proof.Checkpoint, refused []byte, why error) {
	path := filepath.Join(l.Folder, "other-history-"+url.PathEscape(w.Name)+".txt")
	if _, err := os.Stat(path); err == nil {
		return
	}
	seen, err := witness.Seen(ctx, w, c.Origin)
	if err != nil {
		seen = []byte("It is not known: " + err.Error() + "\n")
	}
	text := fmt.Sprintf("The witness %s refused this checkpoint: %s\n\n%s\nIts last checkpoint of this log:\n\n%s", w.Name, why, refused, seen)
	err = ledger.ReplaceFile(path, []byte(text))
	l.logger.Error("a witness has cosigned another history of this log: somebody has forked it, or an older copy of its store goes on", "witness", w.Name, "notes", path, "error", errors.Join(why, err))
}
