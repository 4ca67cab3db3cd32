package rng

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"math/bits"
	"slices"
)

// A Reference makes integers exactly as in the specification, without tables and early exits. It shares
// no code with [Stream] and replaces it wherever a result is checked. The word size is a parameter, so
// that tests can enumerate all words of a small size. Integers of a Reference from [NewReference] are
// valid until the next call.
type Reference struct {
	// Bits is the word size, 9 to 64; riffle/1 has 64. The product of a group is at most
	// 2^(Bits-8).
	Bits uint
	// Word returns the next word, below 2^Bits.
	Word func() uint64

	scratch *scratch // nil to allocate for each group
}

// scratch is the memory of a group.
type scratch struct{ bounds, integers []uint64 }

// NewReference returns the integers of shuffle number r under keys, as [Keys] makes them. The error
// is [ErrSeed].
func NewReference(keys []byte, r uint64) (Reference, error) {
	if len(keys) == 0 || len(keys)%BlockSize != 0 {
		return Reference{}, ErrSeed
	}
	var ciphers []cipher.Block
	for ; len(keys) > 0; keys = keys[BlockSize:] {
		c, err := aes.NewCipher(keys[:BlockSize])
		if err != nil {
			return Reference{}, err
		}
		ciphers = append(ciphers, c)
	}
	var index uint64
	counter, block := make([]byte, aes.BlockSize), make([]byte, aes.BlockSize)
	binary.BigEndian.PutUint64(counter, r)
	return Reference{Bits: 64, scratch: &scratch{}, Word: func() uint64 {
		binary.BigEndian.PutUint64(counter[8:], index/2)
		word := uint64(0)
		for _, c := range ciphers {
			c.Encrypt(block, counter)
			word ^= binary.BigEndian.Uint64(block[index%2*8:])
		}
		index++
		return word
	}}, nil
}

// Descend is [Stream.Descend].
func (r Reference) Descend(from uint64) []uint64 { return r.group(from, 2, -1) }

// Ascend is [Stream.Ascend].
func (r Reference) Ascend(from, last uint64) []uint64 { return r.group(from, last, 1) }

// group returns the integers for the longest run of bounds, by steps of 1 or -1, whose product is at
// most 2^(Bits-8), and for one bound at least, from the first word that is not rejected.
func (r Reference) group(from, last uint64, step int) []uint64 {
	if r.scratch == nil {
		r.scratch = &scratch{}
	}
	bounds, product := r.scratch.bounds[:0], uint64(1)
	for b := from; step > 0 && b <= last || step < 0 && b >= last; b += uint64(step) {
		high, wider := bits.Mul64(product, b)
		if len(bounds) > 0 && (high > 0 || wider > 1<<(r.Bits-8)) {
			break
		}
		bounds, product = append(bounds, b), wider
	}
	r.scratch.bounds = bounds
	for {
		if integers, ok := r.serve(r.Word(), bounds); ok {
			return integers
		}
	}
}

// serve returns one integer below each bound from the word x. It reports false if x must be
// rejected: if the low word after the last bound is below 2^Bits mod B, B being the product of the
// bounds.
func (r Reference) serve(x uint64, bounds []uint64) ([]uint64, bool) {
	if r.scratch == nil {
		r.scratch = &scratch{}
	}
	integers := slices.Grow(r.scratch.integers[:0], len(bounds))[:len(bounds)]
	r.scratch.integers = integers
	product := uint64(1)
	for i, b := range bounds {
		high, low := bits.Mul64(x, b)
		integers[i] = high<<(64-r.Bits) | low>>r.Bits // the word above the low Bits bits
		x = low & (1<<r.Bits - 1)
		product *= b
	}
	// 2⁶⁴ does not fit, but 2⁶⁴ - B does and has the same remainder.
	if r.Bits == 64 {
		return integers, x >= -product%product
	}
	return integers, x >= (1<<r.Bits)%product
}
