package journaltest

import (
	"context"

	"riffle/internal/disclosure"
)

// Unlimited implements [disclosure.Limits] without limits.
type Unlimited struct{}

// Begin admits all work.
func (Unlimited) Begin(context.Context, disclosure.Work) error { return nil }

// Wait returns the error of ctx.
func (Unlimited) Wait(ctx context.Context) error { return ctx.Err() }
