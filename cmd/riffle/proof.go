package main

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
)

// A proofCmd prints proofs without the service that would answer them.
type proofCmd struct {
	logSource
	IDs []uuid.UUID `arg:"" name:"id" help:"Audit ids, in the order of the proofs."`
}

// Run prints the proofs.
func (k *proofCmd) Run(ctx context.Context, c *console) (err error) {
	t := &transfer{console: c, source: &k.logSource}
	if err := t.open(ctx, openStore); err != nil {
		return err
	}
	defer t.close(&err)
	log, err := ledger.View(ctx, t.from, &ledger.SigningKey{Verifier: t.verifier, Public: t.key}, t.vault)
	if err != nil {
		return t.wrong(err)
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
