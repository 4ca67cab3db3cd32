package ledger

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// maxFindings is the number of findings that end a check. A damaged store may have one for every
// record.
const maxFindings = 20

// checkedBatch is the number of records of a batch that one worker checks.
const checkedBatch = 4 * tileWidth

// A Check reads a whole store and checks that
//
//   - every record has its hash, and the hashes lead to the signed root;
//   - look-ups by id, reference and claim find every record;
//   - there are no other claims, records and nodes.
//
// The log may grow meanwhile: the check covers the records that were there when it began.
type Check struct {
	Verifier note.Verifier
	// Visit checks an entry by rules outside of the ledger. It is called concurrently. If Visit is
	// nil, claims are not checked.
	Visit func(*StoredEntry) (Visited, error)
	// Except is a prefix of claims that Visit does not return; empty if it returns all.
	Except string
	// From is how far an earlier check came. What it covers is trusted.
	From CheckState
	// Ahead accepts a store with fewer records than its checkpoint was signed for, as [Copy] makes. The
	// result then has no signed root: the rest of the copy compares it.
	Ahead bool
	// Progress is called after every few records, and Save as long as nothing is wrong. Both may be nil.
	Progress func(done, total uint64)
	Save     func(CheckState)
}

// Visited is what an entry should have done.
type Visited struct {
	Claims []Claim // that it began or took; Unchanged if status and due time are unknown. From is unused
	// Origin is the id of an entry that it builds on, if there is one. CheckOrigin is called with that
	// entry, or with nil if it does not exist.
	Origin      uuid.UUID
	CheckOrigin func(*StoredEntry) error
}

// A CheckState is how far a check has come, so that another one can continue there.
type CheckState struct {
	Size   uint64 `json:"size"`   // number of checked records
	Edge   []byte `json:"edge"`   // of their tree, as in Head
	Claims uint64 `json:"claims"` // that they began
}

// A CheckResult is the outcome of a check.
type CheckResult struct {
	Checkpoint proof.Checkpoint // of the store; zero if it is unreadable
	Findings   []string         // what is wrong; empty if nothing is
	State      CheckState       // to continue from, if nothing is wrong
}

// Run checks the store. Defects are in the result; an error means that the store could not be read.
func (k Check) Run(ctx context.Context, store Inspector) (*CheckResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	c := &checker{Check: k, ctx: ctx, store: store, claims: k.From.Claims, result: &CheckResult{}}
	err := c.checkStore()
	cancel()
	c.workers.Wait()
	if err != nil && !errors.Is(err, errStop) {
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
	store   Inspector
	workers sync.WaitGroup
	tree    Tree   // of the records checked so far
	claims  uint64 // that they began
	invalid bool   // Visit rejected records, so not all claims are known
	result  *CheckResult
}

func (c *checker) report(format string, args ...any) {
	c.result.Findings = append(c.result.Findings, fmt.Sprintf(format, args...))
}

func (c *checker) checkStore() error {
	head, claims, err := c.store.Snapshot(c.ctx, c.Except)
	if err != nil {
		return err
	}
	tree, checkpoint, err := openHead(head, c.Verifier)
	if c.Ahead && errors.Is(err, errUnfinished) {
		checkpoint.Size, checkpoint.Root, err = tree.Size(), tree.Root(), nil
	}
	if err != nil {
		c.report("the head of the log: %v", err)
		return errStop
	}
	c.result.Checkpoint = checkpoint
	if c.tree, err = treeOf(Head{Size: c.From.Size, Edge: c.From.Edge}); err != nil {
		return fmt.Errorf("how far an earlier check came: %w", err)
	}
	if c.tree.Size() > checkpoint.Size {
		c.report("there are %d records, and an earlier check found %d", checkpoint.Size, c.tree.Size())
		return errStop
	}
	if err := c.checkRecords(checkpoint.Size); err != nil {
		return err
	}
	if root := c.tree.Root(); root != checkpoint.Root {
		c.report("the %d records have the root %s, and %s was signed", checkpoint.Size, root, checkpoint.Root)
	}
	if c.Visit != nil && !c.invalid && claims != c.claims {
		c.report("there are %d claims, and the records have %d", claims, c.claims)
	}
	c.result.State = c.state()
	return c.checkEnd(checkpoint.Size)
}

func (c *checker) state() CheckState {
	return CheckState{Size: c.tree.Size(), Edge: c.tree.Head().Edge, Claims: c.claims}
}

// checkRecords checks batches of records concurrently, and adds them to the tree in log order.
func (c *checker) checkRecords(size uint64) error {
	batches := make(chan chan *recordBatch, 2*runtime.GOMAXPROCS(0))
	begin := c.tree.Size()
	c.workers.Go(func() {
		defer close(batches)
		for from := begin; from < size; from += checkedBatch {
			done := make(chan *recordBatch, 1)
			select {
			case batches <- done:
			case <-c.ctx.Done():
				return
			}
			c.workers.Go(func() { done <- c.checkBatch(from, min(checkedBatch, int(size-from))) })
		}
	})
	for done := range batches {
		if err := c.add(<-done); err != nil {
			return err
		}
		if c.Progress != nil {
			c.Progress(c.tree.Size(), size)
		}
		if c.Save != nil && len(c.result.Findings) == 0 {
			c.Save(c.state())
		}
	}
	return c.ctx.Err()
}

// add adds a batch to the tree and checks the nodes that it completes.
func (c *checker) add(b *recordBatch) error {
	c.result.Findings = append(c.result.Findings, b.findings...)
	c.claims, c.invalid = c.claims+b.begun, c.invalid || b.invalid
	if b.err != nil {
		return b.err
	}
	if len(c.result.Findings) >= maxFindings {
		return errStop
	}
	var nodes []Node
	for i := range b.list {
		nodes = c.tree.Add(b.list[i].Hash, nodes)
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

// checkEnd checks that nothing follows the log's records. The log may have grown by now.
func (c *checker) checkEnd(size uint64) error {
	for {
		extra, err := c.beyond(size)
		if err != nil || len(extra) == 0 {
			return err
		}
		head, err := c.store.Head(c.ctx)
		if err != nil {
			return err
		}
		if head.Size <= size {
			c.result.Findings = append(c.result.Findings, extra...)
			return nil
		}
		size = head.Size
	}
}

// beyond returns what the store has beyond a log of a size.
func (c *checker) beyond(size uint64) (extra []string, err error) {
	list, err := c.store.Select(c.ctx, Range(size, 1))
	if err != nil {
		return nil, err
	}
	if len(list) > 0 {
		extra = append(extra, fmt.Sprintf("there are records from %d on that the checkpoint does not cover", list[0].Index))
	}
	for level := 1; level <= 63/tileHeight; level++ {
		hashes, err := c.store.Hashes(c.ctx, level, size>>(level*tileHeight), 1)
		if err != nil {
			return nil, err
		}
		if len(hashes) > 0 {
			extra = append(extra, fmt.Sprintf("there are hashes of tile level %d that the checkpoint does not cover", level))
		}
	}
	return extra, nil
}
