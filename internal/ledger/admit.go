package ledger

import (
	"context"
	"fmt"
	"slices"
)

// admit returns the batch's admissible entries and sets the rejected ones.
//
// It looks up references in one query for the batch, which reads two index entries for each. The
// result holds until the log grows, and then the batch conflicts. It looks up claims only with
// locking.
func (l *Log) admit(ctx context.Context, b *batch, locking bool) ([]Entry, error) {
	b.rejected = nil
	a := admission{locking: locking, taken: map[string]bool{}}
	var err error
	if a.references, err = l.lookUpReferences(ctx, b, locking); err != nil {
		return nil, err
	}
	if locking {
		if a.holders, err = l.lookUpClaims(ctx, b); err != nil {
			return nil, err
		}
	}
	entries := make([]Entry, 0, len(b.entries))
	for place := range b.entries {
		e := &b.entries[place]
		if err := a.check(e); err != nil {
			if b.rejected == nil {
				b.rejected = map[int]error{}
			}
			b.rejected[place] = err
			continue
		}
		a.add(e)
		entries = append(entries, *e)
	}
	return entries, nil
}

// lookUpReferences returns the first entries of the batch's unique references. Without locking, it
// returns [ErrConflict] if another process has added one of them.
func (l *Log) lookUpReferences(ctx context.Context, b *batch, locking bool) (map[string][]Position, error) {
	var wanted []string
	for i := range b.entries {
		if e := &b.entries[i]; e.Unique {
			wanted = append(wanted, e.Reference)
		}
	}
	if wanted == nil {
		return nil, nil
	}
	slices.Sort(wanted)
	wanted = slices.Compact(wanted)
	found, err := l.store.Firsts(ctx, wanted)
	if err != nil {
		return nil, fmt.Errorf("looking up references: %w", err)
	}
	references := make(map[string][]Position, len(wanted))
	for _, reference := range wanted {
		references[reference] = found[reference]
		for _, p := range found[reference] {
			if !locking && p.Index >= l.tree.Size() {
				return nil, ErrConflict
			}
		}
	}
	return references, nil
}

// lookUpClaims returns the holders of the batch's claims.
func (l *Log) lookUpClaims(ctx context.Context, b *batch) (map[string]Holder, error) {
	var names []string
	for i := range b.entries {
		for _, c := range b.entries[i].Claims {
			names = append(names, c.Name)
		}
	}
	slices.Sort(names)
	holders, err := l.store.Holders(ctx, slices.Compact(names))
	if err != nil {
		return nil, fmt.Errorf("looking up claims: %w", err)
	}
	return holders, nil
}

// An admission decides which entries of a batch may be written, in their order.
type admission struct {
	references map[string][]Position // first entries of unique references, in the log and then the batch
	locking    bool                  // holders is known
	holders    map[string]Holder     // of claims in the log
	taken      map[string]bool       // claims by earlier entries of the batch
}

// check returns a [ClaimError] or a [NotUniqueError] unless the entry may be written.
func (a *admission) check(e *Entry) error {
	for i := range e.Claims {
		if c := &e.Claims[i]; a.taken[c.Name] || a.locking && !a.isFree(c, e) {
			return &ClaimError{c.Name}
		}
	}
	if !e.Unique {
		return nil
	}
	for _, p := range a.references[e.Reference] {
		if p.ID == e.ID {
			return nil // an earlier attempt committed it
		}
		if p.ID != e.Besides {
			return &NotUniqueError{p.ID}
		}
	}
	return nil
}

func (a *admission) isFree(c *Claim, e *Entry) bool {
	holder, held := a.holders[c.Name]
	if !held {
		return !c.Taken
	}
	// The entry itself is the holder if an earlier attempt committed it.
	return holder.ID == e.ID || c.Taken && holder.Index == c.From
}

// add makes later entries of the batch conflict with an admitted one.
func (a *admission) add(e *Entry) {
	for i := range e.Claims {
		a.taken[e.Claims[i].Name] = true
	}
	if list, wanted := a.references[e.Reference]; wanted {
		a.references[e.Reference] = append(list, Position{ID: e.ID})
	}
}
