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
	Name   string `json:"step"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"` // why it does not hold, never a seed; empty if it does
	Err    error  `json:"-"`      // the same; nil if it does
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
// TooCostly is that cost. interrupt is called about ten times a millisecond. Its error ends the replay and is the error of Verify; it
// may be nil, and then so is the error.
func Verify(record []byte, seed rng.Seed, maxPositions uint64, interrupt func() error) (*Verification, error) {
	v := &Verification{}
	r, err := ParseRecord(record)
	if !v.step("record", err) {
		return v, nil
	}
	v.Record = r
	if !r.Deals() {
		v.step("record", fmt.Errorf("a record of kind %s holds no order to replay", r.Kind))
		return v, nil
	}
	statement := r.Statement
	statement.Seed = seed
	v.step("seed", nil)
	commitment := statement.Commitment()
	err = message.Rule(commitment == r.Commitment, "why.digest", message.Values{"digest": commitment.String(), "commitment": r.Commitment.String()})
	if !v.step("commitment", err) {
		return v, nil
	}
	keys, err := rng.Keys(seed, r.Commitment, r.ClientSeed)
	if !v.step("keys", message.Rule(err == nil, "why.keys", nil)) {
		return v, nil
	}
	pace := &pacer{interrupt: interrupt}
	err = v.replay(&statement, keys, maxPositions, pace)
	if pace.err != nil {
		return nil, pace.err
	}
	errors.As(err, &v.TooCostly)
	if c := r.Cut; c != nil && c.IsDrawn() && err == nil {
		err = checkCut(c, keys)
	}
	v.OK = v.step("order", err)
	return v, nil
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
	s := Step{Name: name, OK: err == nil, Err: err}
	if err != nil {
		s.Detail = err.Error()
	}
	v.Steps = append(v.Steps, s)
	return s.OK
}

func (v *Verification) replay(s *Statement, keys []byte, maxPositions uint64, pace *pacer) error {
	if cost := s.Cost(); cost > MaxCost {
		return CostError(cost)
	}
	returned := s.Repeat <= maxPositions && (s.Draw == 0 || s.Repeat <= maxPositions/s.Draw)
	blocks := len(keys) / rng.BlockSize
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
		pace.spend(shuffleSteps + blocks*keySteps)
		positions := shuffle.Positions(s.Algorithm, s.Size, s.Draw, source{reference, pace, blocks}, scratch)
		if pace.err != nil {
			return pace.err
		}
		line = append(appendUints(append(line[:0], '['), positions), "]\n"...)
		h.Write(line)
		if returned {
			v.Orders = append(v.Orders, slices.Clone(positions)) // the rest of the array is not kept
		}
	}
	v.OrderDigest = hex.EncodeToString(h.Sum(nil))
	return nil
}

// interruptSteps is the number of steps between two calls of interrupt; see [Statement.Cost].
const interruptSteps = 8192

// A pacer calls interrupt from time to time until that returns an error.
type pacer struct {
	interrupt func() error // may be nil
	spent     int          // steps since its last call
	err       error        // what it returned
}

// spend counts steps.
func (p *pacer) spend(steps int) {
	p.spent += steps
	if p.spent >= interruptSteps && p.interrupt != nil && p.err == nil {
		p.spent, p.err = 0, p.interrupt()
	}
}

// A source is the reference, paced. A shuffle cannot be stopped, but ends soon after an interrupt:
// the source then returns zeros, many per call.
type source struct {
	rng.Reference
	*pacer
	blocks int // of keystream to a word
}

// zeros are returned after an interrupt. They are never written.
var zeros [4096]uint64

// Descend is [rng.Reference.Descend].
func (s source) Descend(from uint64) []uint64 {
	if s.err != nil {
		return zeros[:min(from-1, uint64(len(zeros)))]
	}
	group := s.Reference.Descend(from)
	s.spend(s.blocks + positionSteps*len(group))
	return group
}

// Ascend is [rng.Reference.Ascend].
func (s source) Ascend(from, last uint64) []uint64 {
	if s.err != nil {
		return zeros[:min(last-from+1, uint64(len(zeros)))]
	}
	group := s.Reference.Ascend(from, last)
	s.spend(s.blocks + positionSteps*len(group))
	return group
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
