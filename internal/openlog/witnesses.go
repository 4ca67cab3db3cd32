package openlog

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

// keepWitnessed has witnesses cosign the newest checkpoint, until ctx is done. It calls failed
// while too few do.
func (l *Log) keepWitnessed(ctx context.Context, failed func(error)) {
	cosigner := witness.New(l.settings.Witnesses)
	for ; ctx.Err() == nil; wait(ctx, witnessEvery) {
		c, note := l.Log.Published()
		cosigned, suffice, outcomes := cosigner.Cosign(ctx, &witness.Checkpoint{Checkpoint: c, Note: note, Prove: l.Log.ProveEarlier})
		if ctx.Err() != nil {
			return
		}
		if err := l.heard(ctx, c, note, outcomes); suffice {
			l.Log.SetWitnessed(c, cosigned)
			l.Observer.Witnessed()
		} else {
			failed(errors.Join(ledger.ErrNotWitnessed, err))
		}
	}
}

// heard counts the answers of witnesses, and returns their errors.
func (l *Log) heard(ctx context.Context, c proof.Checkpoint, note []byte, outcomes map[string]error) (all error) {
	for _, w := range l.settings.Witnesses.Witnesses {
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
		l.Observer.Witness(w.Name, result)
		if err != nil {
			all = errors.Join(all, fmt.Errorf("%s: %w", w.Name, err))
		}
	}
	return all
}

// keepNotes writes the note that a witness refused, and the last one that it has cosigned, to the
// folder of the log, once.
func (l *Log) keepNotes(ctx context.Context, w *proof.Witness, c proof.Checkpoint, refused []byte, why error) {
	path := filepath.Join(l.settings.Folder, "other-history-"+url.PathEscape(w.Name)+".txt")
	if _, err := os.Stat(path); err == nil {
		return
	}
	seen, err := witness.Seen(ctx, w, c.Origin)
	if err != nil {
		seen = []byte("It is not known: " + err.Error() + "\n")
	}
	text := fmt.Sprintf("The witness %s refused this checkpoint: %s\n\n%s\nIts last checkpoint of this log:\n\n%s", w.Name, why, refused, seen)
	err = ledger.ReplaceFile(path, []byte(text))
	l.Logger.Error("a witness has cosigned another history of this log: somebody has forked it, or an older copy of its store goes on", "witness", w.Name, "notes", path, "error", errors.Join(why, err))
}

// wait waits for a time, or until ctx is done.
func wait(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
