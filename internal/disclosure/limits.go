package disclosure

import (
	"context"

	"riffle/internal/audit"
	"riffle/internal/plan"
)

// Work is the cost of a replay or of a shoe's proof, known before it begins.
type Work struct {
	Steps uint64 // of about 12 ns each; see [audit.Statement.Cost]
	Most  uint64 // limit of Steps
	Bytes uint64 // of memory
}

// Limits admit work and pace it.
type Limits interface {
	// Begin is called once, before the work. Its error cancels the work.
	Begin(ctx context.Context, work Work) error
	// Wait is called between units of work of usually at most 1 ms. Its error cancels the work.
	Wait(ctx context.Context) error
}

// ofReplay returns the cost of a replay. Each element takes a position, a copy of it in a slice or
// map, a tree node, and up to 20 bytes of text with half as much unused capacity.
func ofReplay(s *audit.Statement) Work {
	const element = 64
	return Work{Steps: s.Cost(), Most: audit.MaxCost, Bytes: element * plan.Elements(s)}
}

// ofShoe returns the cost of proving a shoe with a number of versions, up to the first part sent:
// each record is read, and its log index stored. The items of the first record take a mebibyte. The
// caller paces the rest.
func ofShoe(versions uint64) Work {
	const steps, most, index = 20_000, 10_000_000_000, 16
	return Work{Steps: steps * versions, Most: most, Bytes: max(index*versions, 1<<20)}
}
