package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"riffle/internal/audit/message"
	"riffle/internal/rng"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// A Step is one check of a verification.
type Step struct {
	Name string
	Err  error // why it does not hold, never with a seed; nil if it does
}

// A Verification is the outcome of [Verify].
type Verification struct {
	Record *Record // nil if it could not be parsed
	Steps  []Step  // up to and including the first that failed
	OK     bool
	// Orders are the replayed positions of every shuffle of the record; nil if they are more than
	// the caller wants.
	Orders [][]uint64
	// TooCostly is the cost of a record that is not replayed, because that takes too long; 0 for
	// others.
	TooCostly CostError
	// OrderDigest is the SHA-256, in hex, of the replayed positions: each shuffle a JSON array
	// without white space, ended by LF.
	OrderDigest string
}

// Verify checks a shuffle's record against its seed: it rebuilds the statement, compares the
// commitment, derives the keys and replays every shuffle with [rng.Reference]. It returns the
// orders if they have at most maxPositions in all.
//
// A replay takes as long as [Statement.Cost] says; above [MaxCost] the step order fails, and
// TooCostly is that cost.
func Verify(record []byte, seed rng.Seed, maxPositions uint64) *Verification {
	v := &Verification{}
	r, err := ParseRecord(record)
	if !v.step("record", err) {
		return v
	}
	v.Record = r
	if !r.Deals() {
		v.step("record", fmt.Errorf("a record of kind %s holds no order to replay", r.Kind))
		return v
	}
	statement := r.Statement
	statement.Seed = seed
	v.step("seed", nil)
	commitment := statement.Commitment()
	err = message.Rule(commitment == r.Commitment, "why.digest", message.Values{"digest": commitment.String(), "commitment": r.Commitment.String()})
	if !v.step("commitment", err) {
		return v
	}
	keys, err := rng.Keys(seed, r.Commitment, r.ClientSeed)
	if !v.step("keys", message.Rule(err == nil, "why.keys", nil)) {
		return v
	}
	err = v.replay(&statement, keys, maxPositions)
	errors.As(err, &v.TooCostly)
	if c := r.Cut; c != nil && c.IsDrawn() && err == nil {
		err = checkCut(c, keys)
	}
	v.OK = v.step("order", err)
	return v
}

// checkCut checks that a drawn cut is the one that the keys draw.
func checkCut(c *shoe.Cut, keys []byte) error {
	reference, err := rng.NewReference(keys, CutStream)
	if err != nil {
		return err
	}
	want := DrawCut(c, reference)
	return message.Rule(want == c.At, "why.cut", message.Values{"drawn": want, "low": c.From, "high": c.To, "cut": c.At})
}

// CutStream is the shuffle number whose keystream draws the cut. The order itself is number 0, and
// a shoe has no other.
const CutStream = 1

// DrawCut draws the number of cards before a cut card, from the range of c: each number of it is
// equally likely. The source is the start of the keystream [CutStream].
func DrawCut(c *shoe.Cut, source shuffle.Source) uint64 {
	n := c.To - c.From + 1
	return c.From + source.Ascend(n, n)[0]
}

// step adds the outcome of a check.
func (v *Verification) step(name string, err error) (holds bool) {
	v.Steps = append(v.Steps, Step{name, err})
	return err == nil
}

func (v *Verification) replay(s *Statement, keys []byte, maxPositions uint64) error {
	if cost := s.Cost(); cost > MaxCost {
		return CostError(cost)
	}
	returned := s.Repeat <= maxPositions && (s.Draw == 0 || s.Repeat <= maxPositions/s.Draw)
	h := sha256.New()
	var line []byte
	var scratch []uint64 // of all shuffles
	if !shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		scratch = make([]uint64, s.Size)
	}
	for r := range s.Repeat {
		reference, err := rng.NewReference(keys, r)
		if err != nil {
			return err
		}
		positions := shuffle.Positions(s.Algorithm, s.Size, s.Draw, reference, scratch)
		line = append(appendUints(append(line[:0], '['), positions), "]\n"...)
		h.Write(line)
		if returned {
			v.Orders = append(v.Orders, slices.Clone(positions)) // the rest of the array is not kept
		}
	}
	v.OrderDigest = hex.EncodeToString(h.Sum(nil))
	return nil
}

// Steps of a replay, in keystream blocks: on the machine that they were measured on, encrypting one
// takes 12 ns, and the others as many times that.
const (
	shuffleSteps  = 60 // to begin a shuffle
	keySteps      = 10 // to expand a key
	positionSteps = 20 // to draw a position, swap it, and hash its digits; to look it up in a map
)

// MaxCost is the most that a verifier has to replay, in steps: docs/spec.md, "Cost". [Verify]
// replays nothing above it, and the service makes no such record.
const MaxCost = 1 << 30

// CostError is for a record whose replay takes more than [MaxCost] steps.
type CostError uint64

// Error implements error.
func (e CostError) Error() string {
	return fmt.Sprintf("replaying it takes %d steps; verifiers replay up to 1,073,741,824", uint64(e))
}

// Cost estimates the steps of 12 ns that [Verify] takes to replay the statement, which must be
// well-formed. A shuffle expands all keys and encrypts a block under each for every word of the
// keystream; it lays out all places, or looks up a few. Without a seed, Cost assumes one of the
// length that the statement needs.
func (s *Statement) Cost() uint64 {
	keys := uint64(len(s.Seed) / rng.BlockSize)
	if s.Seed == nil {
		keys = uint64(rng.Blocks(s.Size, s.Draw))
	}
	places, drawn := s.Size, s.Algorithm.Integers(s.Size, s.Draw)
	if shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		places = times(positionSteps, s.Draw)
	}
	// As many bounds share a word as have a product of at most 2⁵⁶.
	shared := max(1, 56/uint64(max(1, bits.Len64(s.Size))))
	words := drawn/shared + 1
	keystream := times(keys, keySteps+words)
	return times(s.Repeat, add(add(shuffleSteps, keystream), add(times(positionSteps, drawn), places)))
}

// times and add stop at the largest number: a forged record may claim any.
func times(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

func add(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}
