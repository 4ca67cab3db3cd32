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
	counter [aes.BlockSize]byte
	block   [aes.BlockSize]byte

	integers [maxGroup]uint64 // of the last group
}

// NewStream returns the keystream of shuffle number 0 under keys, as [Keys] makes them. The error is [ErrSeed].
func NewStream(keys []byte) (*Stream, error) {
	if len(keys) == 0 || len(keys)%BlockSize != 0 || len(keys) > MaxBlocks*BlockSize {
		return nil, ErrSeed
	}
	s := &Stream{ciphers: make([]cipher.Block, 0, len(keys)/BlockSize)}
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

// fill makes the next part of the keystream: the head in four parts of two counter blocks, then bulk.
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
	binary.BigEndian.PutUint64(s.counter[:8], s.shuffle)
	const part = 2 * aes.BlockSize
	for at := s.end; at < s.end+part; at += aes.BlockSize {
		binary.BigEndian.PutUint64(s.counter[8:], uint64(at/aes.BlockSize))
		out := s.words[at : at+aes.BlockSize]
		s.ciphers[0].Encrypt(out, s.counter[:])
		for _, c := range s.ciphers[1:] {
			c.Encrypt(s.block[:], s.counter[:])
			xorBlock(out, s.block[:])
		}
	}
	s.end += part
}

func xorBlock(dst, src []byte) {
	binary.NativeEndian.PutUint64(dst, binary.NativeEndian.Uint64(dst)^binary.NativeEndian.Uint64(src))
	binary.NativeEndian.PutUint64(dst[8:], binary.NativeEndian.Uint64(dst[8:])^binary.NativeEndian.Uint64(src[8:]))
}

func (s *Stream) startBulk() {
	binary.BigEndian.PutUint64(s.counter[:8], s.shuffle)
	binary.BigEndian.PutUint64(s.counter[8:], headBytes/aes.BlockSize)
	s.bulk = make([]cipher.Stream, len(s.ciphers))
	for i, c := range s.ciphers {
		s.bulk[i] = cipher.NewCTR(c, s.counter[:])
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
