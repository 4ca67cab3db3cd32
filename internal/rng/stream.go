package rng

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"slices"
	"sync"
)

const (
	// headBytes of a keystream are encrypted block by block, without allocating; they are enough
	// for 140 cards. Beyond them the stream uses a bulk cipher, which is ten times as fast per byte
	// and costs an allocation a key.
	headBytes = 128

	// firstBytes of the head are encrypted first: 52 cards take five words, and a sixth if one is
	// rejected. The processor encrypts the blocks of a part in parallel, so a part is more than one
	// block.
	firstBytes = 48

	// bulkBytes is the amount that the bulk cipher encrypts at a time.
	bulkBytes = 1024
)

// A Stream is the keystream of one shuffle, read as big-endian 64-bit words: the XOR over all keys
// of AES-256-CTR (NIST SP 800-38A, 6.5) whose first counter block is the shuffle's number (8 bytes,
// big-endian) followed by 8 zero bytes. Make one with [NewStream], and turn it to other shuffles of
// the same keys with [Stream.Seek]. It is not safe for concurrent use.
type Stream struct {
	ciphers []cipher.Block
	bulk    []cipher.Stream // nil until the head is used up
	shuffle uint64
	words   []byte // a part of the keystream: read up to next, filled up to end
	next    int
	end     int
	head    [headBytes]byte
	other   [headBytes]byte // the head under another key

	// counters are the counter blocks of the head. The shuffle's number is written into the first
	// part of each, through numbered.
	counters [headBytes / aes.BlockSize][aes.BlockSize]byte
	numbered uint64

	integers [2 * maxGroup]uint64 // of the last group, or two
}

// streams pools released streams: a stream is most of what a small shuffle allocates.
var streams = sync.Pool{New: func() any {
	s := &Stream{}
	for i := range s.counters {
		binary.BigEndian.PutUint64(s.counters[i][8:], uint64(i))
	}
	s.words = s.head[:]
	return s
}}

// NewStream returns the keystream of shuffle number 0 under keys, as [Keys] makes them. It takes a
// stream from the pool: release it when the shuffle is done. The error is [ErrSeed].
func NewStream(keys []byte) (*Stream, error) {
	if len(keys) == 0 || len(keys)%BlockSize != 0 || len(keys) > MaxBlocks*BlockSize {
		return nil, ErrSeed
	}
	s := streams.Get().(*Stream)
	s.ciphers = slices.Grow(s.ciphers[:0], len(keys)/BlockSize)
	for ; len(keys) > 0; keys = keys[BlockSize:] {
		c, err := aes.NewCipher(keys[:BlockSize])
		if err != nil {
			return nil, err
		}
		s.ciphers = append(s.ciphers, c)
	}
	return s, nil
}

// Release drops the keys and returns the stream to the pool. The stream must not be used
// afterwards.
func (s *Stream) Release() {
	clear(s.ciphers)
	s.Seek(0)
	streams.Put(s)
}

// Seek turns the stream to the start of the keystream of shuffle number r. It allocates nothing.
func (s *Stream) Seek(r uint64) {
	s.shuffle, s.next, s.end = r, 0, 0
	if s.bulk != nil { // pointer writes are expensive, and rarely needed
		s.bulk, s.words = nil, s.head[:]
	}
}

// Uint64 returns the next word. Its body is just small enough for the compiler to inline.
func (s *Stream) Uint64() (word uint64) {
	if s.next == s.end {
		s.fill()
	}
	word = binary.BigEndian.Uint64(s.words[s.next:])
	s.next += 8
	return
}

// fill encrypts the next part of the keystream: the head in two parts, then bulk.
func (s *Stream) fill() {
	switch {
	case s.bulk != nil:
		s.fillBulk()
	case s.end < headBytes:
		s.fillHead()
	default:
		s.startBulk()
		s.fillBulk()
	}
}

func (s *Stream) fillHead() {
	if s.end > 0 {
		s.number(s.counters[firstBytes/aes.BlockSize:], s.shuffle)
		s.encrypt(firstBytes, headBytes)
		return
	}
	first := s.counters[:firstBytes/aes.BlockSize]
	if s.numbered != s.shuffle {
		s.number(first, s.shuffle)
	}
	s.encrypt(0, firstBytes)
	// Number the next shuffle's counters now: encrypting a counter right after writing it stalls the
	// processor.
	s.numbered = s.shuffle + 1
	s.number(first, s.numbered)
}

// number writes the number of a shuffle into counters.
func (s *Stream) number(counters [][aes.BlockSize]byte, shuffle uint64) {
	for i := range counters {
		binary.BigEndian.PutUint64(counters[i][:8], shuffle)
	}
}

// encrypt fills the head from one byte to before another.
func (s *Stream) encrypt(from, end int) {
	counters, out := s.counters[from/aes.BlockSize:end/aes.BlockSize], s.head[from:end]
	c := s.ciphers[0]
	for i := range counters {
		c.Encrypt(out[i*aes.BlockSize:], counters[i][:])
	}
	for _, c := range s.ciphers[1:] {
		for i := range counters {
			c.Encrypt(s.other[i*aes.BlockSize:], counters[i][:])
		}
		for i := 0; i+8 <= len(out); i += 8 {
			word, other := out[i:i+8], s.other[i:i+8]
			binary.NativeEndian.PutUint64(word, binary.NativeEndian.Uint64(word)^binary.NativeEndian.Uint64(other))
		}
	}
	s.end = end
}

func (s *Stream) startBulk() {
	var counter [aes.BlockSize]byte
	binary.BigEndian.PutUint64(counter[:8], s.shuffle)
	binary.BigEndian.PutUint64(counter[8:], headBytes/aes.BlockSize)
	s.bulk = make([]cipher.Stream, len(s.ciphers))
	for i, c := range s.ciphers {
		s.bulk[i] = cipher.NewCTR(c, counter[:])
	}
	s.words = make([]byte, bulkBytes)
}

func (s *Stream) fillBulk() {
	clear(s.words)
	for _, c := range s.bulk {
		c.XORKeyStream(s.words, s.words)
	}
	s.next, s.end = 0, bulkBytes
}
