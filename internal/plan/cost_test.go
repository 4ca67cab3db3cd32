package plan

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/audit"
	"riffle/internal/shuffle"
)

// Every shuffle that is permitted can be replayed by all verifiers, and hardly any that they can
// replay is refused.
func TestNoShuffleIsAboveTheCostThatVerifiersReplay(t *testing.T) {
	const bound = audit.MaxCost
	rules := newRules(t)
	most := uint64(0)
	for _, size := range []uint64{1, 2, 52, 1024, 4096, 16_384, 16_385, 1 << 17, 416_127, 1 << 19, 1_000_000, 1 << 40, audit.MaxSize} {
		for _, draw := range []uint64{0, 1, 52, 1023, 1024, 1025, size / 17, size/16 + 1, size} {
			for _, algorithm := range shuffle.Algorithms() {
				// The largest repeat that is permitted, by bisection.
				permitted := func(repeat uint64) bool {
					_, err := rules.Check(&Request{Size: &size, Draw: &draw, Repeat: &repeat, Algorithm: string(algorithm)}, nil)
					return err == nil
				}
				repeat := uint64(0)
				for step := uint64(1 << 24); step > 0; step /= 2 {
					if permitted(repeat + step) {
						repeat += step
					}
				}
				if repeat == 0 {
					continue
				}
				s := audit.Statement{Algorithm: algorithm, Size: size, Draw: draw, Repeat: repeat}
				if cost := s.Cost(); cost > bound {
					t.Errorf("%d of %d by %s, %d times, costs %d steps", draw, size, algorithm, repeat, cost)
				} else {
					most = max(most, cost)
				}
			}
		}
	}
	assert.Truef(t, most >= bound/10*9, "the most expensive shuffle costs %d steps, and the bound is %d", most, uint64(bound))
}
