package prooffile

import (
	"errors"
	"fmt"
)

// committed checks that the order of a shuffle, or of a shoe, was fixed, but for the client seed, by a commitment that is earlier in the
// same log. Who knew the client seed when, no file can say.
func (r *Result) committed(given *Given) {
	id, named := r.Record.CommitmentID, r.Record.UsesCommitment()
	switch {
	case given.Commitment == nil && named:
		r.note(StepCommitted, Skipped, "the record names the commitment %s, of which no proof was given", id)
	case given.Commitment != nil && !named:
		r.note(StepCommitted, Unchecked, "the record names no commitment, and the proof of one was given")
	case named:
		err := r.uses(given.Commitment)
		r.step(StepCommitted, err, "the commitment %s is earlier in the same log: it fixed seed and statement, and was used before its deadline", id)
	}
}

// uses returns an error unless the text is the proof file of the commitment that the shuffle used.
func (r *Result) uses(text []byte) error {
	c := &Result{}
	c.entry(text, r.File.LogKey, func() {})
	if failed := c.Failed(); failed != nil {
		return fmt.Errorf("the proof of the commitment fails at the step %s: %s", failed.Name, failed.Detail)
	}
	if c.Record == nil {
		return errors.New("the proof given is of no commitment")
	}
	if err := r.Record.CheckCommitted(c.Record); err != nil {
		return err
	}
	if index, own := c.File.Inclusion.Index, r.File.Inclusion.Index; index >= own {
		return fmt.Errorf("the commitment is number %d in the log, from 0, and so not before the shuffle, which is number %d", index, own)
	}
	return nil
}
