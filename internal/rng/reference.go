package rng

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"iter"
	"math/bits"
)

// A Reference makes integers exactly as the specification words it, with no table, no buffer and no
// early exit. It shares no code with [Stream], and replaces it wherever a result is checked. The
// word size is a parameter so that tests can enumerate all words of a small size.
type Reference struct {
	// Bits is the word size, 9 to 64; riffle/1 has 64. The product of a group is at most
	// 2^(Bits-8).
	Bits uint
	// Word returns the next word, below 2^Bits.
	Word func() uint64
}

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
	block := make([]byte, aes.BlockSize)
	return Reference{Bits: 64, Word: func() uint64 {
		counter := binary.BigEndian.AppendUint64(nil, r)
		counter = binary.BigEndian.AppendUint64(counter, index/2)
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
func (r Reference) Descend(from uint64) []uint64 {
	return r.group(func(yield func(uint64) bool) {
		for b := from; b >= 2 && yield(b); b-- {
		}
	})
}

// Ascend is [Stream.Ascend].
func (r Reference) Ascend(from, last uint64) []uint64 {
	return r.group(func(yield func(uint64) bool) {
		for b := from; b <= last && yield(b); b++ {
		}
	})
}

// group returns the integers for the longest run of bounds whose product is at most 2^(Bits-8), and
// for one bound at least, from the first word that is not rejected.
func (r Reference) group(sequence iter.Seq[uint64]) []uint64 {
	var bounds []uint64
	product := uint64(1)
	for b := range sequence {
		high, wider := bits.Mul64(product, b)
		if len(bounds) > 0 && (high > 0 || wider > 1<<(r.Bits-8)) {
			break
		}
		bounds, product = append(bounds, b), wider
	}
	for {
		if integers, ok := r.serve(r.Word(), bounds); ok {
			return integers
		}
	}
}

// serve returns one integer below each bound from the word x. It reports false if x has to be
// rejected: if the low word after the last bound is below 2^Bits mod B, B being the product of the
// bounds.
func (r Reference) serve(x uint64, bounds []uint64) ([]uint64, bool) {
	integers := make([]uint64, len(bounds))
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
