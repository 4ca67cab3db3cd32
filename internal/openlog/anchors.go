package openlog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"riffle/internal/anchor"
	"riffle/internal/ledger"
)

// anchorEvery is the time between two looks at an anchor.
const anchorEvery = 5 * time.Second

// readAnchors returns the checkpoints of the log's anchors, empty for those that do not exist. One
// that can be read suffices.
func (l *Log) readAnchors(ctx context.Context) (anchors []ledger.Anchor, err error) {
	var errs []error
	for _, place := range l.settings.Anchors {
		note, _, err := place.Read(ctx)
		if err != nil {
			errs = append(errs, fmt.Errorf("the anchor %s cannot be read: %w", place.Name, err))
			continue
		}
		if len(note) == 0 {
			l.Logger.Warn("the anchor does not exist, so the store is not compared with it; it protects the log from now on", "anchor", place.Name)
		}
		anchors = append(anchors, ledger.Anchor{Source: "the anchor " + place.Name, Note: note})
	}
	switch {
	case len(l.settings.Anchors) == 0:
		l.Logger.Info("no --anchor is set: an older copy of the store together with its checkpoint file would not be noticed")
	case len(anchors) == 0:
		return nil, fmt.Errorf("%w. Without one, an older copy of the store cannot be told; start again once one answers, or without --anchor", errors.Join(errs...))
	}
	for _, err := range errs {
		l.Logger.Warn("an anchor is not compared with the store", "error", err)
	}
	return anchors, nil
}

// checkAnchored returns an error if none of the log's anchors exists, and the log has records.
func (s *Settings) checkAnchored(anchors []ledger.Anchor, log *ledger.Log) error {
	exists := slices.ContainsFunc(anchors, func(a ledger.Anchor) bool { return len(a.Note) > 0 })
	if size, _ := log.Sizes(); size == 0 || len(s.Anchors) == 0 || s.NewAnchors || exists {
		return nil
	}
	return fmt.Errorf("the log has records, and no anchor exists (%s): its volume may not be mounted, or it was lost, so an older copy of the store cannot be told. "+
		"Put it back; only if it is new, start once with --anchor-create", s.Anchors[0].Name)
}

// keepAnchor compares an anchor with the log and advances it, until ctx is done and once more then. It
// reports changes between success and failure.
func (l *Log) keepAnchor(ctx context.Context, place anchor.Place) {
	failing, replaced := false, "none"
	for {
		isLast := ctx.Err() != nil // asked before: records may come while an anchor answers
		err := advance(context.WithoutCancel(ctx), l.Log, place, &replaced)
		switch {
		case err == nil || errors.Is(err, anchor.ErrReplaced): // the next look compares
			l.Observer.Anchored(place.Name)
			if failing {
				l.Logger.Info("the anchor is up to date again", "anchor", place.Name)
			}
			failing = false
		case !failing:
			l.Logger.Warn("the anchor cannot be compared or advanced; it is tried again", "anchor", place.Name, "error", err)
			failing = true
		}
		if isLast {
			return
		}
		select {
		case <-time.After(anchorEvery):
		case <-l.Log.Failed():
			return
		case <-ctx.Done():
		}
	}
}

// errNotKept is the error of an anchor that still has the version that it let the last look
// replace.
var errNotKept = errors.New("it accepted a newer checkpoint and did not keep it")

// advance replaces an anchor by the log's checkpoint if that is newer, and remembers the tag of the
// version that it replaced. A log that does not extend it fails.
func advance(ctx context.Context, log *ledger.Log, place anchor.Place, replaced *string) error {
	note, tag, err := place.Read(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, anchor.Timeout)
	defer cancel()
	a := ledger.Anchor{Source: "the anchor " + place.Name, Note: note}
	next, err := log.Extend(ctx, a)
	if err != nil || next == nil {
		return err
	}
	if err := place.Replace(ctx, next, tag); err != nil {
		return err
	}
	if tag == *replaced {
		return errNotKept
	}
	*replaced = tag
	return nil
}
