package rng

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
)

const (
	// headBytes of a keystream are made block by block, without allocating; they are enough for 140 cards. A
	// longer stream turns to the bulk cipher, which is ten times as fast a byte and costs an allocation a key.
	headBytes = 128

	// firstBytes of the head are made first: 52 cards take five words, and a sixth where one is refused. The
	// processor makes the blocks of a part side by side, so a part is more than a block.
	firstBytes = 48

	// bulkBytes is how much the bulk cipher makes at a time.
	bulkBytes = 1024
)

// A Stream is the keystream of one shuffle, read as big-endian 64-bit words: the XOR over all keys of
// AES-256-CTR (NIST SP 800-38A, 6.5) whose first counter block is the shuffle's number (8 bytes, big-endian)
// followed by 8 zero bytes. Make one with [NewStream] and turn it to other shuffles of the same keys with
// [Stream.Seek]. It is not safe for concurrent use.
type Stream struct {
	ciphers []cipher.Block
	bulk    []cipher.Stream // made once the head is used up; nil before
	shuffle uint64
	words   []byte // the part of the keystream at hand, of which
	next    int    // everything before next is read and
	end     int    // everything before end is made
	head    [headBytes]byte
	block   [aes.BlockSize]byte

	counters [headBytes / aes.BlockSize][aes.BlockSize]byte // of the head's blocks
	integers [maxGroup]uint64                               // of the last group
}

// NewStream returns the keystream of shuffle number 0 under keys, as [Keys] makes them. The error is [ErrSeed].
func NewStream(keys []byte) (*Stream, error) {
	if len(keys) == 0 || len(keys)%BlockSize != 0 || len(keys) > MaxBlocks*BlockSize {
		return nil, ErrSeed
	}
	s := &Stream{ciphers: make([]cipher.Block, 0, len(keys)/BlockSize)}
	for i := range s.counters {
		binary.BigEndian.PutUint64(s.counters[i][8:], uint64(i))
	}
	s.Seek(0)
	for ; len(keys) > 0; keys = keys[BlockSize:] {
		c, err := aes.NewCipher(keys[:BlockSize])
		if err != nil {
			return nil, err
		}
		s.ciphers = append(s.ciphers, c)
	}
	return s, nil
}

// Seek turns the stream to the start of the keystream of shuffle number r. It allocates nothing.
func (s *Stream) Seek(r uint64) {
	s.shuffle = r
	s.bulk = nil
	s.words, s.next, s.end = s.head[:], 0, 0
}

// Uint64 returns the next word.
func (s *Stream) Uint64() uint64 {
	if s.next == s.end {
		s.fill()
	}
	x := binary.BigEndian.Uint64(s.words[s.next:])
	s.next += 8
	return x
}

// fill makes the next part of the keystream: the head in two parts, then bulk.
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
	end := headBytes
	if s.end == 0 {
		end = firstBytes
		// All counters at once: one that is read right after it is written would make the processor wait.
		for i := range s.counters {
			binary.BigEndian.PutUint64(s.counters[i][:8], s.shuffle)
		}
	}
	for at := s.end; at < end; at += aes.BlockSize {
		counter := &s.counters[at/aes.BlockSize]
		out := s.words[at : at+aes.BlockSize]
		s.ciphers[0].Encrypt(out, counter[:])
		for _, c := range s.ciphers[1:] {
			c.Encrypt(s.block[:], counter[:])
			xorBlock(out, s.block[:])
		}
	}
	s.end = end
}

func xorBlock(dst, src []byte) {
	binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)^binary.NativeEndian.Uint64(src))
	binary.NativeEndian.PutUint64(dst[8:], binary.NativeEndian.Uint64(dst[8:])^binary.NativeEndian.Uint64(src[8:]))
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
