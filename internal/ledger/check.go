package ledger

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// mostFindings is how many findings a check ends with. A damaged store may have one for every record.
const mostFindings = 20

// A Check goes through a whole store: every record is hashed anew, the tree is built anew from the hashes, and both have
// to lead to the signed root; every record has to be found by its id and its reference, and has to hold the claims that are
// its own; and there must be no others.
type Check struct {
	Verifier note.Verifier
	// Visit looks at each entry by rules that are not the ledger's, and returns the claims that it holds. It may be nil; then
	// claims are not checked.
	Visit func(*Stored) ([]Claim, error)
	// Except begins the names of claims that Visit cannot know of; empty for none.
	Except   string
	Progress func(done, total uint64) // is told how far the check has come; may be nil
}

// A CheckResult is what a check has found.
type CheckResult struct {
	Checkpoint proof.Checkpoint // the store's; zero if it could not be read
	Findings   []string         // what is wrong; none if all is well
}

// errFindings ends a check that has found enough.
var errFindings = errors.New("enough findings")

// Run checks the store. The error is for a store that could not be read; what is wrong with it is in the result.
func (k Check) Run(ctx context.Context, store Store) (*CheckResult, error) {
	r := &checking{Check: k, ctx: ctx, store: store, result: &CheckResult{}}
	if err := r.run(); err != nil && !errors.Is(err, errFindings) {
		return r.result, err
	}
	return r.result, nil
}

type checking struct {
	Check
	ctx     context.Context
	store   Store
	tree    Tree
	claims  uint64 // how many there have to be
	strange bool   // whether there are records whose claims are not known
	result  *CheckResult
}

func (r *checking) find(format string, args ...any) error {
	r.result.Findings = append(r.result.Findings, fmt.Sprintf(format, args...))
	if len(r.result.Findings) == mostFindings {
		return errFindings
	}
	return nil
}

func (r *checking) run() error {
	head, err := r.store.Head(r.ctx)
	if err != nil {
		return err
	}
	_, c, err := openHead(head, r.Verifier)
	if err != nil {
		return errors.Join(errFindings, r.find("the head of the log: %v", err))
	}
	r.result.Checkpoint = c
	for r.tree.Size() < c.Size {
		if r.Progress != nil {
			r.Progress(r.tree.Size(), c.Size)
		}
		if err := r.some(min(readAtOnce, int(c.Size-r.tree.Size()))); err != nil {
			return err
		}
	}
	root, err := r.tree.Root()
	if err != nil {
		return err
	}
	if root != c.Root {
		if err := r.find("the %d records have the root %s, and %s was signed", c.Size, root, c.Root); err != nil {
			return err
		}
	}
	return r.nothingMore(c.Size)
}

// some checks the next n records.
func (r *checking) some(n int) error {
	from := r.tree.Size()
	list, err := r.store.Range(r.ctx, from, n)
	if err != nil {
		return err
	}
	if len(list) != n {
		return errors.Join(errFindings, r.find("of the %d records from %d on there are %d", n, from, len(list)))
	}
	var nodes []Node
	for i := range list {
		e := &list[i]
		if e.Index != from+uint64(i) {
			return errors.Join(errFindings, r.find("record %d is missing", from+uint64(i)))
		}
		if err := r.entry(e); err != nil {
			return err
		}
		nodes = r.tree.Add(e.Hash, nodes)
	}
	for _, node := range nodes {
		kept, err := r.store.Hashes(r.ctx, node.Level, node.Index, 1)
		if err != nil {
			return err
		}
		if len(kept) != 1 || kept[0] != node.Hash {
			if err := r.find("the hash %d of tile level %d is wrong or missing", node.Index, node.Level); err != nil {
				return err
			}
		}
	}
	return nil
}

// entry checks one record and the ways to find it.
func (r *checking) entry(e *Stored) error {
	if err := intact(e.Index, e.Record, e.Hash, e.Index); err != nil {
		if err := r.find("%v", err); err != nil {
			return err
		}
	}
	var claims []Claim
	if r.Visit != nil {
		var err error
		if claims, err = r.Visit(e); err != nil {
			r.strange = true
			if err := r.find("record %d: %v", e.Index, err); err != nil {
				return err
			}
		}
	}
	found, err := r.store.ByID(r.ctx, e.ID)
	if err := r.same(e, "id", found, err); err != nil {
		return err
	}
	r.claims += uint64(len(claims))
	for i := range claims {
		if err := r.holds(e, &claims[i]); err != nil {
			return err
		}
	}
	if e.Reference == "" {
		return nil
	}
	found, err = First(r.store.ByReference(r.ctx, e.Reference, e.Index, 1))
	return r.same(e, "reference", found, err)
}

// holds checks that a record holds a claim, of this status and due time.
func (r *checking) holds(e *Stored, want *Claim) error {
	holder, err := r.store.ByClaim(r.ctx, want.Name)
	if err := r.same(e, "claim", holder, err); err != nil || holder == nil || holder.Index != e.Index {
		return err
	}
	if got := holder.Claims[0]; got.Status != want.Status || got.Due != want.Due {
		return r.find("record %d holds the claim %s as %q due at %d, and not as %q due at %d", e.Index, want.Name, got.Status, got.Due, want.Status, want.Due)
	}
	return nil
}

// same checks that a record was found in one of the ways to find it.
func (r *checking) same(e *Stored, way string, found *Stored, err error) error {
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil || found.Index != e.Index {
		return r.find("record %d is not found by its %s", e.Index, way)
	}
	return nil
}

// nothingMore checks that there is nothing that the checkpoint does not cover.
func (r *checking) nothingMore(size uint64) error {
	if r.Visit != nil && !r.strange {
		claims, err := r.store.CountClaims(r.ctx, ClaimQuery{})
		if err == nil && r.Except != "" {
			var except uint64
			except, err = r.store.CountClaims(r.ctx, ClaimQuery{Prefix: r.Except})
			claims -= except
		}
		if err != nil {
			return err
		}
		if claims != r.claims {
			if err := r.find("there are %d claims, and the records have %d", claims, r.claims); err != nil {
				return err
			}
		}
	}
	list, err := r.store.Range(r.ctx, size, 1)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		if err := r.find("there are records from %d on that the checkpoint does not cover", list[0].Index); err != nil {
			return err
		}
	}
	for level := 1; level <= 63/tileHeight; level++ {
		extra, err := r.store.Hashes(r.ctx, level, size>>(level*tileHeight), 1)
		if err != nil {
			return err
		}
		if len(extra) > 0 {
			if err := r.find("there are hashes of tile level %d that the checkpoint does not cover", level); err != nil {
				return err
			}
		}
	}
	return nil
}
