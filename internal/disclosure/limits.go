package disclosure

import (
	"context"

	"riffle/internal/audit"
	"riffle/internal/plan"
)

// Work is what a replay or the proof of a shoe is going to take. It is known before it begins.
type Work struct {
	Steps uint64 // of 12 ns, about; see [audit.Statement.Cost]
	Most  uint64 // more steps are not begun
	Bytes uint64 // of memory
}

// Limits decide whether work may begin, and when it may go on.
type Limits interface {
	// Begin is called once, before the work. Its error ends it.
	Begin(ctx context.Context, work Work) error
	// Wait is called between units of work, of a millisecond at most, as a rule. Its error ends the
	// work.
	Wait(ctx context.Context) error
}

// begin and wait call limits, which may be nil for work that only its context ends.
func begin(ctx context.Context, limits Limits, work Work) error {
	if limits == nil {
		return nil
	}
	return limits.Begin(ctx, work)
}

func wait(ctx context.Context, limits Limits) error {
	if limits == nil {
		return ctx.Err()
	}
	return limits.Wait(ctx)
}

// ofReplay returns the work of a replay. An element takes a position, a second one in a copy or in
// a map, a node of a tree, and up to 20 bytes of text that may have grown by half.
func ofReplay(s *audit.Statement) Work {
	const element = 64
	return Work{Steps: s.Cost(), Most: audit.MaxCost, Bytes: element * plan.Elements(s)}
}

// ofShoe returns the work of the proof of a shoe with so many versions, of which there is no limit,
// before its first part can be sent: each record is read, and its index held. The rest goes at the
// pace of the caller.
func ofShoe(versions uint64) Work {
	const steps, most, index = 20_000, 10_000_000_000, 16
	return Work{Steps: steps * versions, Most: most, Bytes: index * versions}
}
