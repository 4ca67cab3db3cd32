package rng

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"math"
)

const (
	// BlockSize is the length of a seed block, of a key and of a commitment, in bytes.
	BlockSize = 32

	// MaxBlocks is the longest seed that riffle/1 asks for, in blocks: 1,024 items drawn out of 2⁵³
	// need ceil((1024·53 + 64) / 256) of them.
	MaxBlocks = 213

	// margin is the number of bits that a seed has beyond the ones that number all possible results.
	margin = 64

	// exhaustive is the largest draw for which the seed covers every result.
	exhaustive = 1024
)

// ErrSeed is for a seed that is not 1 to [MaxBlocks] whole blocks, or that has two equal blocks.
var ErrSeed = errors.New("a seed is 1 to 213 blocks of 32 bytes, no two of them equal")

// A Seed is k blocks of [BlockSize] bytes, one after the other. It is secret until it is revealed.
type Seed []byte

// Blocks returns k, the number of seed blocks for drawing m of n items: the least for which the
// seed is at least 64 bits longer than log2(n!/(n-m)!), the number of results in bits. Above 1,024
// items drawn k is 1: the order is then computationally, not exhaustively, complete. It panics if m
// > n.
func Blocks(n, m uint64) int {
	if m > n {
		panic("rng: draw above size")
	}
	if m > exhaustive {
		return 1
	}
	return max(1, int(math.Ceil((resultBits(n, m)+margin)/(8*BlockSize))))
}

// Exhaustive reports whether a seed of riffle/1 covers every result of drawing m items.
func Exhaustive(m uint64) bool { return m <= exhaustive }

// log2Factorial holds log2(n!) for every n whose whole order is covered.
var log2Factorial = func() (table [exhaustive + 1]float64) {
	for n := 2; n <= exhaustive; n++ {
		table[n] = table[n-1] + math.Log2(float64(n))
	}
	return table
}()

// resultBits returns log2(n!/(n-m)!) for m <= 1,024.
func resultBits(n, m uint64) float64 {
	if n <= exhaustive {
		return log2Factorial[n] - log2Factorial[n-m]
	}
	bits := 0.0
	for i := n - m + 1; i <= n; i++ {
		bits += math.Log2(float64(i))
	}
	return bits
}

// Check returns [ErrSeed] for a seed that cannot have come from a working generator. Two equal
// blocks would have equal keys, and equal keystreams cancel out under XOR.
func (s Seed) Check() error {
	if len(s) == 0 || len(s)%BlockSize != 0 || len(s) > MaxBlocks*BlockSize {
		return ErrSeed
	}
	for i := BlockSize; i < len(s); i += BlockSize {
		for j := 0; j < i; j += BlockSize {
			if string(s[i:i+BlockSize]) == string(s[j:j+BlockSize]) {
				return ErrSeed
			}
		}
	}
	return nil
}

// NewSeed reads a seed of k blocks from random, which must be the operating system's generator
// wherever the result matters. On an error there is no seed: it never falls back to a weaker
// source.
func NewSeed(random io.Reader, k int) (Seed, error) {
	if k < 1 || k > MaxBlocks {
		return nil, ErrSeed
	}
	seed := make(Seed, k*BlockSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fmt.Errorf("reading %d bytes of randomness: %w", len(seed), err)
	}
	if err := seed.Check(); err != nil {
		return nil, fmt.Errorf("the source of randomness repeats itself: %w", err)
	}
	return seed, nil
}

// Keys returns the key of each seed block i, k·32 bytes in all:
//
//	key_i = HMAC-SHA-256(block_i, "riffle/1 key\n" + commitment + clientSeed)
//
// (HMAC as in FIPS 198-1.) The commitment binds everything else that the statement says; the client
// seed may be empty. The error is [ErrSeed].
func Keys(seed Seed, commitment [sha256.Size]byte, clientSeed string) ([]byte, error) {
	if err := seed.Check(); err != nil {
		return nil, err
	}
	// HMAC(K, m) is H((K ^ opad) + H((K ^ ipad) + m)). Written out, it needs one buffer;
	// crypto/hmac makes six allocations a key, half of what a small shuffle would allocate.
	buf := make([]byte, 0, 384)
	keys := make([]byte, 0, len(seed))
	for block := seed; len(block) > 0; block = block[BlockSize:] {
		buf = appendPadded(buf[:0], block[:BlockSize], innerPad)
		buf = append(buf, "riffle/1 key\n"...)
		buf = append(buf, commitment[:]...)
		buf = append(buf, clientSeed...)
		digest := sha256.Sum256(buf)
		buf = appendPadded(buf[:0], block[:BlockSize], outerPad)
		key := sha256.Sum256(append(buf, digest[:]...))
		keys = append(keys, key[:]...)
	}
	return keys, nil
}

// innerPad and outerPad are the pads of HMAC: one byte repeated to the block size of SHA-256.
var innerPad, outerPad = bytes.Repeat([]byte{0x36}, sha256.BlockSize), bytes.Repeat([]byte{0x5c}, sha256.BlockSize)

// appendPadded appends the pad with its head XORed with the key.
func appendPadded(b, key, pad []byte) []byte {
	b = append(b, pad...)
	head := b[len(b)-len(pad):]
	subtle.XORBytes(head, head, key)
	return b
}
