package ledger

import (
	"fmt"
	"slices"

	"github.com/google/uuid"
)

// A recordBatch is a run of records with what is read in bulk to check them.
type recordBatch struct {
	list    []StoredEntry
	found   [][2]int64 // indexes of the entries that are found by id and reference
	visits  []*visit
	holders map[string]Holder // of claims that the records began or took
	others  map[uuid.UUID]*visit

	findings []string
	begun    uint64 // claims
	invalid  bool   // Visit rejected records
	err      error
}

// A visit is an entry with the result of [Check].Visit.
type visit struct {
	*StoredEntry
	Visited
	done bool
	err  error
}

func (b *recordBatch) report(format string, args ...any) {
	b.findings = append(b.findings, fmt.Sprintf(format, args...))
}

// checkBatch checks n records from an index on, and their look-ups by id, claim and reference.
func (c *checker) checkBatch(from uint64, n int) *recordBatch {
	b := &recordBatch{others: map[uuid.UUID]*visit{}}
	if b.err = c.readRecords(b, from, n); b.err == nil && c.Visit != nil {
		b.err = c.readOthers(b)
	}
	if b.err == nil {
		for i := range b.list {
			c.checkEntry(b, i)
		}
	}
	return b
}

// readRecords reads the records and what is found by their ids and references.
func (c *checker) readRecords(b *recordBatch, from uint64, n int) (err error) {
	if b.list, err = c.store.Select(c.ctx, Range(from, n)); err != nil {
		return err
	}
	for i := range b.list {
		if b.list[i].Index != from+uint64(i) {
			b.report("record %d is missing", from+uint64(i))
			return errStop
		}
	}
	if len(b.list) != n {
		b.report("of the %d records from %d on there are %d", n, from, len(b.list))
		return errStop
	}
	b.found = make([][2]int64, n)
	return c.store.Found(c.ctx, from, n, func(index uint64, byID, byReference int64) {
		b.found[index-from] = [2]int64{byID, byReference}
	})
}

// readOthers visits the records, and reads the holders of their claims and the entries on which they
// build.
func (c *checker) readOthers(b *recordBatch) (err error) {
	var names []string
	for i := range b.list {
		v := c.visit(&visit{StoredEntry: &b.list[i]})
		b.visits, b.others[v.ID] = append(b.visits, v), v
		for k := range v.Claims {
			names = append(names, v.Claims[k].Name)
		}
	}
	slices.Sort(names) // neighbours share pages
	if b.holders, err = c.store.Holders(c.ctx, slices.Compact(names)); err != nil {
		return err
	}
	wanted := map[uuid.UUID]bool{}
	for _, v := range b.visits {
		wanted[v.Origin] = true
		for k := range v.Claims {
			if holder, ok := b.holders[v.Claims[k].Name]; ok && holder.Index > v.Index {
				wanted[holder.ID] = true
			}
		}
	}
	var ids []uuid.UUID
	for id := range wanted {
		if b.others[id] == nil && id != uuid.Nil {
			ids = append(ids, id)
		}
	}
	list, err := c.store.ByIDs(c.ctx, ids)
	for i := range list {
		b.others[list[i].ID] = &visit{StoredEntry: &list[i]}
	}
	return err
}

// visit visits an entry once.
func (c *checker) visit(v *visit) *visit {
	if !v.done {
		v.Visited, v.err = c.Visit(v.StoredEntry)
		v.done = true
	}
	return v
}

func (c *checker) checkEntry(b *recordBatch, i int) {
	e := &b.list[i]
	if err := checkRecord(e.Index, e.Record, e.Hash, e.Index); err != nil {
		b.report("%v", err)
	}
	if c.Visit != nil {
		c.checkVisit(b, b.visits[i])
	}
	if b.found[i][0] != int64(e.Index) {
		b.report("record %d is not found by its id", e.Index)
	}
	if e.Reference != "" && b.found[i][1] != int64(e.Index) {
		b.report("record %d is not found by its reference", e.Index)
	}
}

func (c *checker) checkVisit(b *recordBatch, v *visit) {
	if v.err != nil {
		b.invalid = true
		b.report("record %d: %v", v.Index, v.err)
	}
	if v.Origin != uuid.Nil {
		var origin *StoredEntry
		if other := b.others[v.Origin]; other != nil {
			origin = other.StoredEntry
		}
		if err := v.CheckOrigin(origin); err != nil {
			b.report("record %d: %v", v.Index, err)
		}
	}
	for k := range v.Claims {
		if !v.Claims[k].Taken {
			b.begun++
		}
		c.checkClaim(b, v, &v.Claims[k])
	}
}

// checkClaim checks that the entry holds a claim as it took it, or that a later entry took it.
func (c *checker) checkClaim(b *recordBatch, v *visit, want *Claim) {
	holder, ok := b.holders[want.Name]
	switch {
	case !ok && want.Taken && want.Unchanged: // perhaps copied without it; the number of claims shows what is lost
	case !ok || holder.Index < v.Index:
		b.report("record %d is not found by its claim", v.Index)
	case holder.Index > v.Index:
		other := b.others[holder.ID]
		if other == nil || !slices.ContainsFunc(c.visit(other).Claims, func(o Claim) bool { return o.Taken && o.Name == want.Name }) {
			b.report("record %d is not found by its claim, which record %d holds without having taken it", v.Index, holder.Index)
		}
	case want.Unchanged && c.Except == "" && holder.Due == 0: // of all that is decrypted, only books that go on
		b.report("record %d holds the claim %s, which is never due", v.Index, want.Name)
	case !want.Unchanged && (holder.Status != want.Status || holder.Due != want.Due):
		b.report("record %d holds the claim %s as %q due at %d, and not as %q due at %d",
			v.Index, want.Name, holder.Status, holder.Due, want.Status, want.Due)
	}
}
