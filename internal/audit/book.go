package audit

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/rng"
)

// MaxRounds is the most rounds of a book that the service makes: its tree then has 64 KiB.
const MaxRounds = 1024

// A Book commits to the seeds of several shuffles, its rounds, which have the same statement
// otherwise: a Merkle tree as in RFC 6962 over the commitments of the rounds in their order. Its
// root is the commitment of the book.
type Book struct{ tree }

// roundMessage begins the message that a block of a round's seed is the HMAC of.
const roundMessage = Spec + " round\n"

// NewBook returns the book of a statement with a seed, from which [RoundSeed] makes each round's.
func NewBook(s *Statement, rounds uint64) *Book {
	b, one := &Book{}, *s
	for i := range rounds {
		one.Seed = RoundSeed(s.Seed, i+1)
		c := one.Commitment()
		b.add(tlog.RecordHash(c[:]))
	}
	return b
}

// RoundSeed returns the seed of a round, from 1, of a book with a seed: for each block
//
//	HMAC-SHA-256(block, "riffle/1 round" + LF + round in 8 bytes, big-endian)
//
// Whoever has it knows nothing about the seeds of other rounds, nor does a verifier need this rule.
func RoundSeed(seed rng.Seed, round uint64) rng.Seed {
	message := binary.BigEndian.AppendUint64([]byte(roundMessage), round)
	one := make(rng.Seed, 0, len(seed))
	for block := range slices.Chunk(seed, rng.BlockSize) {
		mac := hmac.New(sha256.New, block)
		mac.Write(message)
		one = mac.Sum(one)
	}
	return one
}

// SeedOf returns the seed of a round of a book with a seed, and of any other commitment the seed.
func (r *Record) SeedOf(seed rng.Seed, round uint64) rng.Seed {
	if r.Count > 0 {
		return RoundSeed(seed, round)
	}
	return seed
}

// CheckSeed checks that a seed is valid and leads to the record's commitment: by [RoundSeed] for a
// book, of at most [MaxRounds].
func (r *Record) CheckSeed(seed rng.Seed) error {
	s := r.Statement
	s.Seed = seed
	_, err := rng.Keys(seed, r.Commitment, "")
	if err = cmp.Or(err, Rule(r.Count <= MaxRounds, "a book of %d rounds, and not of at most %d", r.Count, MaxRounds)); err != nil {
		return err
	}
	committed := s.Commitment()
	if r.Kind == KindCommitment && r.Count > 0 {
		committed = Commitment(NewBook(&s, r.Count).Root())
	}
	return Rule(committed == r.Commitment, "it leads to %s, and %s was committed to", committed, r.Commitment)
}

// Path returns the siblings on the way from the commitment of a round, from 1, to the root.
func (b *Book) Path(round uint64) []tlog.Hash { return b.path(round - 1) }

// isRoundOf reports whether the path of a record leads from its commitment to the root of the book.
func (r *Record) isRoundOf(book *Record) bool {
	return r.Count == book.Count &&
		tlog.CheckRecord(r.Path, int64(r.Count), tlog.Hash(book.Commitment), int64(r.Round)-1, tlog.RecordHash(r.Commitment[:])) == nil
}
