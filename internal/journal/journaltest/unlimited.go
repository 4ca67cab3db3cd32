package journaltest

import "context"

// Unlimited implements [riffle/internal/disclosure.Limits] without limits.
type Unlimited struct{}

// Begin admits all work.
func (Unlimited) Begin(context.Context, uint64) error { return nil }

// Wait returns the error of ctx.
func (Unlimited) Wait(ctx context.Context) error { return ctx.Err() }
