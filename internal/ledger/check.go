package ledger

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// maxFindings is the number of findings that end a check. A damaged store may have one for every
// record.
const maxFindings = 20

// A Check reads a whole store and checks that
//
//   - every record has its hash, and the hashes lead to the signed root;
//   - look-ups by id, reference and claim find every record;
//   - there are no other claims, records and nodes.
type Check struct {
	Verifier note.Verifier
	// Visit checks an entry by rules outside of the ledger and returns the claims that it must
	// hold. If Visit is nil, claims are not checked.
	Visit func(*Stored) ([]Claim, error)
	// Except is a prefix of claims that Visit does not return; empty if it returns all.
	Except string
	// Progress is called before every few records; it may be nil.
	Progress func(done, total uint64)
}

// A CheckResult is the outcome of a check.
type CheckResult struct {
	Checkpoint proof.Checkpoint // of the store; zero if it is unreadable
	Findings   []string         // what is wrong; empty if nothing is
}

// Run checks the store. Defects are in the result; an error means that the store could not be read.
func (k Check) Run(ctx context.Context, store Store) (*CheckResult, error) {
	c := &checker{Check: k, ctx: ctx, store: store, result: &CheckResult{}}
	if err := c.checkStore(); err != nil && !errors.Is(err, errStop) {
		return c.result, err
	}
	c.result.Findings = c.result.Findings[:min(len(c.result.Findings), maxFindings)]
	return c.result, nil
}

// errStop ends a check that cannot continue or has enough findings.
var errStop = errors.New("the check ends here")

// A checker is a check in progress.
type checker struct {
	Check
	ctx     context.Context
	store   Store
	tree    Tree // of the records checked so far
	claims  uint64
	invalid bool // Visit rejected records, so not all claims are known
	result  *CheckResult
}

func (c *checker) report(format string, args ...any) {
	c.result.Findings = append(c.result.Findings, fmt.Sprintf(format, args...))
}

func (c *checker) stop(format string, args ...any) error {
	c.report(format, args...)
	return errStop
}

func (c *checker) checkStore() error {
	head, err := c.store.Head(c.ctx)
	if err != nil {
		return err
	}
	_, checkpoint, err := openHead(head, c.Verifier)
	if err != nil {
		return c.stop("the head of the log: %v", err)
	}
	c.result.Checkpoint = checkpoint
	size := checkpoint.Size
	for c.tree.Size() < size {
		if c.Progress != nil {
			c.Progress(c.tree.Size(), size)
		}
		if err := c.checkRecords(min(readBatch, int(size-c.tree.Size()))); err != nil {
			return err
		}
	}
	root, err := c.tree.Root()
	if err != nil {
		return err
	}
	if root != checkpoint.Root {
		c.report("the %d records have the root %s, and %s was signed", size, root, checkpoint.Root)
	}
	if err := c.checkClaimCount(); err != nil {
		return err
	}
	return c.checkEnd(size)
}

func (c *checker) checkRecords(n int) error {
	from := c.tree.Size()
	list, err := c.store.Range(c.ctx, from, n)
	if err != nil {
		return err
	}
	if len(list) != n {
		return c.stop("of the %d records from %d on there are %d", n, from, len(list))
	}
	var nodes []Node
	for i := range list {
		e := &list[i]
		if e.Index != from+uint64(i) {
			return c.stop("record %d is missing", from+uint64(i))
		}
		if err := c.checkEntry(e); err != nil {
			return err
		}
		if len(c.result.Findings) >= maxFindings {
			return errStop
		}
		nodes = c.tree.Add(e.Hash, nodes)
	}
	for _, node := range nodes {
		stored, err := c.store.Hashes(c.ctx, node.Level, node.Index, 1)
		if err != nil {
			return err
		}
		if len(stored) != 1 || stored[0] != node.Hash {
			c.report("the hash %d of tile level %d is wrong or missing", node.Index, node.Level)
		}
	}
	return nil
}

// checkEntry checks one record and its look-ups by id, claims and reference.
func (c *checker) checkEntry(e *Stored) error {
	if err := checkRecord(e.Index, e.Record, e.Hash, e.Index); err != nil {
		c.report("%v", err)
	}
	var claims []Claim
	if c.Visit != nil {
		var err error
		if claims, err = c.Visit(e); err != nil {
			c.invalid = true
			c.report("record %d: %v", e.Index, err)
		}
	}
	found, err := c.store.ByID(c.ctx, e.ID)
	if err := c.checkFound(e, "id", found, err); err != nil {
		return err
	}
	c.claims += uint64(len(claims))
	for i := range claims {
		if err := c.checkClaim(e, &claims[i]); err != nil {
			return err
		}
	}
	if e.Reference == "" {
		return nil
	}
	found, err = FirstOrNotFound(c.store.ByReference(c.ctx, e.Reference, e.Index, 1))
	return c.checkFound(e, "reference", found, err)
}

func (c *checker) checkClaim(e *Stored, want *Claim) error {
	holder, err := c.store.ByClaim(c.ctx, want.Name)
	if err := c.checkFound(e, "claim", holder, err); err != nil || holder == nil || holder.Index != e.Index {
		return err
	}
	if got := holder.Claims[0]; got.Status != want.Status || got.Due != want.Due {
		c.report("record %d holds the claim %s as %q due at %d, and not as %q due at %d", e.Index, want.Name, got.Status, got.Due, want.Status, want.Due)
	}
	return nil
}

func (c *checker) checkFound(e *Stored, by string, found *Stored, err error) error {
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	if err != nil || found.Index != e.Index {
		c.report("record %d is not found by its %s", e.Index, by)
	}
	return nil
}

// checkClaimCount checks that the store has no claims beyond the records' claims.
func (c *checker) checkClaimCount() error {
	if c.Visit == nil || c.invalid {
		return nil
	}
	claims, err := c.store.CountClaims(c.ctx, ClaimQuery{})
	if err != nil {
		return err
	}
	if c.Except != "" {
		except, err := c.store.CountClaims(c.ctx, ClaimQuery{Prefix: c.Except})
		if err != nil {
			return err
		}
		claims -= except
	}
	if claims != c.claims {
		c.report("there are %d claims, and the records have %d", claims, c.claims)
	}
	return nil
}

func (c *checker) checkEnd(size uint64) error {
	list, err := c.store.Range(c.ctx, size, 1)
	if err != nil {
		return err
	}
	if len(list) > 0 {
		c.report("there are records from %d on that the checkpoint does not cover", list[0].Index)
	}
	for level := 1; level <= 63/tileHeight; level++ {
		extra, err := c.store.Hashes(c.ctx, level, size>>(level*tileHeight), 1)
		if err != nil {
			return err
		}
		if len(extra) > 0 {
			c.report("there are hashes of tile level %d that the checkpoint does not cover", level)
		}
	}
	return nil
}
