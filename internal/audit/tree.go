package audit

import (
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"slices"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/rng"
)

// A Salt hides a sealed card: without it, trying all cards would tell which one a leaf is of.
type Salt [sha256.Size]byte

// saltMessage begins the message that a salt is the HMAC of.
const saltMessage = Spec + " salt\n"

// A tree is a Merkle tree as in RFC 6962, in memory.
type tree struct {
	size   int64
	hashes []tlog.Hash
}

// ReadHashes implements [tlog.HashReader].
func (t *tree) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		list[i] = t.hashes[at]
	}
	return list, nil
}

// add appends a leaf by its hash.
func (t *tree) add(leaf tlog.Hash) {
	t.hashes = append(t.hashes, inMemory(tlog.StoredHashesForRecordHash(t.size, leaf, t))...)
	t.size++
}

// Root returns the root of the tree. Without leaves it is the SHA-256 of nothing.
func (t *tree) Root() tlog.Hash { return inMemory(tlog.TreeHash(t.size, t)) }

// path returns the siblings on the way from a leaf to the root.
func (t *tree) path(leaf uint64) []tlog.Hash {
	return inMemory(tlog.ProveRecord(t.size, int64(leaf), t))
}

// inMemory returns what was read of a tree in memory, which cannot fail.
func inMemory[T any](found T, err error) T {
	if err != nil {
		panic("audit: a tree in memory cannot be read: " + err.Error())
	}
	return found
}

// A Sealed order is a tree over its cards, with the leaf SHA-256(salt + position + card) for each
// position. Its root commits to every card and reveals none of them.
type Sealed struct {
	tree
	salts []Salt
}

// Seal commits to cards in their order. A card is its code or, if it is an item or a number, its
// JSON without white space. The salt of position i is
//
//	HMAC-SHA-256(seed, "riffle/1 salt" + LF + C + i in 8 bytes, big-endian)
//
// where the key is all blocks of the seed and C is the commitment.
func Seal(seed rng.Seed, c Commitment, cards [][]byte) *Sealed {
	s := &Sealed{tree{hashes: make([]tlog.Hash, 0, 2*len(cards))}, make([]Salt, len(cards))}
	mac := hmac.New(sha256.New, seed)
	message := append([]byte(saltMessage), c[:]...)
	for i, card := range cards {
		mac.Reset()
		mac.Write(binary.BigEndian.AppendUint64(message, uint64(i)))
		mac.Sum(s.salts[i][:0])
		s.add(leaf(s.salts[i], uint64(i), card))
	}
	return s
}

// leaf returns the leaf hash of a sealed card.
func leaf(salt Salt, position uint64, card []byte) tlog.Hash {
	h := sha256.New()
	h.Write(salt[:])
	h.Write(binary.BigEndian.AppendUint64(nil, position))
	h.Write(card)
	return tlog.RecordHash(h.Sum(nil))
}

// An Opening proves which card is at a position of a sealed order, and reveals nothing about the
// others.
type Opening struct {
	Salt Salt
	Path []tlog.Hash // the siblings on the way from the leaf to the root
}

// Open returns the opening of a position.
func (s *Sealed) Open(position uint64) *Opening {
	return &Opening{Salt: s.salts[position], Path: s.path(position)}
}

// Check checks that the card is at the position of the sealed order of size cards with the root.
func (o *Opening) Check(position, size uint64, card []byte, root tlog.Hash) error {
	err := tlog.CheckRecord(o.Path, int64(size), root, int64(position), leaf(o.Salt, position, card))
	return cmp.Or(
		Rule(position < size, "position %d of %d cards", position, size),
		Rule(err == nil, "salt and path do not lead from this card at position %d to the root", position),
	)
}

// MaxRounds is the most rounds of a book that the service makes.
const MaxRounds = 1024

// A Book commits to the seeds of several shuffles, its rounds, which have the same statement
// otherwise: a Merkle tree as in RFC 6962 over the commitments of the rounds in their order. Its
// root is the commitment of the book.
//
// It keeps the upper levels of the tree, and makes the part below again for the first of 32 rounds:
// 7 KiB in place of 64. It is not safe for concurrent use.
type Book struct {
	statement Statement // with the seed
	rounds    uint64
	upper     tree // over the roots of the full parts
	last      *part
	part      *part // that was asked for last, of the others
}

// A part is the tree over some rounds of a book that follow each other.
type part struct {
	tree
	number int64 // from 0
}

// The height of a full part, and its rounds.
const partLevel, partSize = 5, 1 << partLevel

// NewBook returns the book of a statement with a seed, from which [RoundSeed] makes each round's.
func NewBook(s *Statement, rounds uint64) *Book {
	b := &Book{statement: *s, rounds: rounds}
	for number := range int64(rounds / partSize) {
		b.part = b.newPart(number)
		b.upper.add(b.part.Root())
	}
	b.last = b.newPart(int64(rounds / partSize))
	return b
}

// newPart makes a part, which is empty after the last round.
func (b *Book) newPart(number int64) *part {
	p, one, seeds := &part{number: number}, b.statement, newRoundSeeds(b.statement.Seed)
	first := uint64(number) * partSize
	for round := first + 1; round <= min(first+partSize, b.rounds); round++ {
		one.Seed = seeds.of(round)
		c := one.Commitment()
		p.add(tlog.RecordHash(c[:]))
	}
	return p
}

// ReadHashes implements [tlog.HashReader].
func (b *Book) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, at := range indexes {
		level, n := tlog.SplitStoredHashIndex(at)
		if level >= partLevel {
			list[i] = b.upper.hashes[tlog.StoredHashIndex(level-partLevel, n)]
			continue
		}
		p := b.find(n >> (partLevel - level))
		list[i] = p.hashes[tlog.StoredHashIndex(level, n-p.number<<(partLevel-level))]
	}
	return list, nil
}

// find returns a part.
func (b *Book) find(number int64) *part {
	switch {
	case number == b.last.number:
		return b.last
	case number != b.part.number:
		b.part = b.newPart(number)
	}
	return b.part
}

// Root returns the commitment of the book.
func (b *Book) Root() tlog.Hash { return inMemory(tlog.TreeHash(int64(b.rounds), b)) }

// Path returns the siblings on the way from the commitment of a round, from 1, to the root.
func (b *Book) Path(round uint64) []tlog.Hash {
	return inMemory(tlog.ProveRecord(int64(b.rounds), int64(round)-1, b))
}

// roundMessage begins the message that a block of a round's seed is the HMAC of.
const roundMessage = Spec + " round\n"

// roundSeeds are HMACs that are keyed with the blocks of a book's seed.
type roundSeeds []hash.Hash

func newRoundSeeds(seed rng.Seed) (seeds roundSeeds) {
	for block := range slices.Chunk(seed, rng.BlockSize) {
		seeds = append(seeds, hmac.New(sha256.New, block))
	}
	return seeds
}

// of returns the seed of a round.
func (s roundSeeds) of(round uint64) rng.Seed {
	message := binary.BigEndian.AppendUint64([]byte(roundMessage), round)
	one := make(rng.Seed, 0, len(s)*rng.BlockSize)
	for _, mac := range s {
		mac.Reset()
		mac.Write(message)
		one = mac.Sum(one)
	}
	return one
}

// RoundSeed returns the seed of a round, from 1, of a book with a seed: for each block
//
//	HMAC-SHA-256(block, "riffle/1 round" + LF + round in 8 bytes, big-endian)
//
// Whoever has it knows nothing about the seeds of other rounds, nor does a verifier need this rule.
func RoundSeed(seed rng.Seed, round uint64) rng.Seed { return newRoundSeeds(seed).of(round) }

// CheckSeed checks that a seed is valid and leads to the record's commitment: by [RoundSeed] for a
// book, of at most [MaxRounds].
func (r *Record) CheckSeed(seed rng.Seed) error {
	s := r.Statement
	s.Seed = seed
	if err := seed.Check(); err != nil {
		return err
	}
	var committed Commitment
	switch isBook := r.Kind == KindCommitment && r.Count > 0; {
	case isBook && r.Count > MaxRounds:
		return fmt.Errorf("a book of %d rounds, and not of at most %d", r.Count, MaxRounds)
	case isBook:
		committed = Commitment(NewBook(&s, r.Count).Root())
	default:
		committed = s.Commitment()
	}
	if committed != r.Commitment {
		return fmt.Errorf("it leads to %s, and %s was committed to", committed, r.Commitment)
	}
	return nil
}

// isRoundOf reports whether the path of a record leads from its commitment to the root of the book.
func (r *Record) isRoundOf(book *Record) bool {
	return r.Count == book.Count &&
		tlog.CheckRecord(r.Path, int64(r.Count), tlog.Hash(book.Commitment), int64(r.Round)-1, tlog.RecordHash(r.Commitment[:])) == nil
}
