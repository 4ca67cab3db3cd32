// Package audit defines what the record of a shuffle states, and checks it.
//
// A [Statement] is everything that decides an order, seed included, as text; its SHA-256 is the
// [Commitment], which can be public before the seed is. A [Record] is stored and public: it has the
// statement without its seed, the commitment and the client seed. Given the seed, [Verify] rebuilds
// the statement from the record, compares the commitment and replays the order. [Seal] commits to
// the cards of a shoe one by one, and a [Book] to the seeds of many shuffles.
//
// The package is pure. It replays with [rng.Reference], and so shares no generator code with the
// dealer.
package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

const (
	// Spec names the format of statements, keys, keystream and orders. Its bytes never change: a
	// change would be another name.
	Spec = "riffle/1"

	// MaxSize is the largest number of items: 2⁵³-1, the largest integer that every JSON parser
	// represents exactly.
	MaxSize = 1<<53 - 1

	// MaxCheckedDeck is the most cards of a deck whose digest a verifier has to calculate.
	MaxCheckedDeck = 1 << 24

	// MaxReference is the length of the longest reference, in characters.
	MaxReference = 128

	// MaxClientSeed is the length of the longest client seed, in bytes.
	MaxClientSeed = 256
)

// A Commitment is the SHA-256 of a statement.
type Commitment [sha256.Size]byte

// String returns the commitment in lower-case hex.
func (c Commitment) String() string { return hex.EncodeToString(c[:]) }

// A Statement is everything that decides a result, except the client seed. See [Statement.Append]
// for its text.
type Statement struct {
	Algorithm shuffle.Algorithm
	Size      uint64   // how many items there are
	Draw      uint64   // how many of them are drawn
	Repeat    uint64   // how many independent shuffles there are
	Hands     []uint64 // the size of each hand, from the head of the order; nil for no hands
	Input     string   // what is shuffled: [DeckInput], [ItemsInput] or [RangeInput]
	Reference string   // the caller's name for the game and round; may be empty
	Seed      rng.Seed
}

// RangeInput is the input of a shuffle of the numbers 0 to size-1.
const RangeInput = "range"

// ItemsInput returns the input of a shuffle of the caller's items. digest is the SHA-256 of their
// JSON array, without insignificant white space and otherwise as sent, or what [SaltItems] makes of
// that.
func ItemsInput(digest [sha256.Size]byte) string {
	const kind = "items sha256:"
	return string(hex.AppendEncode(append(make([]byte, 0, len(kind)+2*sha256.Size), kind...), digest[:]))
}

// SaltedDigest is the rule by which the digest of salted items is taken, as the record names it in
// items_digest. A record without that member has the plain digest.
const SaltedDigest = "salted/1"

// The length of a salt of items, in characters.
const (
	MinItemsSalt = 16
	MaxItemsSalt = 128
)

// CheckItemsSalt checks that a salt has a valid length and only the characters A–Z, a–z, 0–9, - and
// _, which look the same in every encoding and shell.
func CheckItemsSalt(salt string) error {
	const characters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return Rule(MinItemsSalt <= len(salt) && len(salt) <= MaxItemsSalt && strings.Trim(salt, characters) == "",
		"a salt of items is %d to %d of the characters A-Z, a-z, 0-9, - and _, such as 16 random bytes in hex", MinItemsSalt, MaxItemsSalt)
}

// CheckSeed checks the form of a seed in hex, as answers have it.
func CheckSeed(text string) error {
	const block = 2 * rng.BlockSize
	return Rule(len(text) > 0 && len(text)%block == 0 && len(text) <= rng.MaxBlocks*block && strings.Trim(text, "0123456789abcdef") == "",
		"seed must be the seed of an answer, copied exactly: blocks of 64 hex digits in lower case")
}

// SaltItems returns the digest that [ItemsInput] takes of salted items, by the rule [SaltedDigest].
// digest is the plain digest of the items. The result is the SHA-256 of three lines, each ended by
// LF:
//
//	riffle/1 items
//	salt <salt>
//	sha256:<hex of digest>
//
// An array begins with a bracket, so no text is both an array and these lines: no digest can be
// passed off as another list's, with a salt or without.
func SaltItems(digest [sha256.Size]byte, salt string) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, Spec+" items\nsalt %s\nsha256:%x\n", salt, digest))
}

// DeckInput returns the input of a shuffle of several copies of a deck. codes are one deck's in
// catalogue order. The digest is the SHA-256 of the JSON array of all codes, the whole deck
// repeated for each copy.
func DeckInput(name string, copies uint64, codes []string) string {
	h := sha256.New()
	separator := byte('[')
	var buf []byte
	for range copies {
		buf = buf[:0]
		for _, code := range codes {
			buf = append(append(append(buf, separator, '"'), code...), '"')
			separator = ','
		}
		h.Write(buf)
	}
	h.Write([]byte{']'})
	return fmt.Sprintf("deck %s x%d sha256:%x", name, copies, h.Sum(nil))
}

// DeckOf returns the deck type and the number of copies that the input of a record names. ok is
// false if it names no deck.
func DeckOf(input string) (name string, copies uint64, ok bool) {
	rest, isDeck := strings.CutPrefix(input, "deck ")
	name, rest, _ = strings.Cut(rest, " x")
	number, _, _ := strings.Cut(rest, " ")
	copies, err := strconv.ParseUint(number, 10, 64)
	if !isDeck || errors.Is(err, strconv.ErrSyntax) { // more than fit are as many as fit
		return "", 0, false
	}
	return name, copies, true
}

// Append appends the text of the statement: lines of UTF-8, each ended by LF, in this order.
//
//	riffle/1
//	algorithm fisher-yates
//	size 52
//	draw 52
//	repeat 1
//	hands 13,13,13,13                        (omitted without hands)
//	input deck standard52 x1 sha256:<hex>    (or: input items sha256:<hex>, or: input range)
//	reference <text>                         (omitted if empty)
//	seed <hex of all blocks>
func (s *Statement) Append(b []byte) []byte {
	b = append(b, Spec+"\nalgorithm "...)
	b = append(b, s.Algorithm...)
	b = append(b, "\nsize "...)
	b = strconv.AppendUint(b, s.Size, 10)
	b = append(b, "\ndraw "...)
	b = strconv.AppendUint(b, s.Draw, 10)
	b = append(b, "\nrepeat "...)
	b = strconv.AppendUint(b, s.Repeat, 10)
	if len(s.Hands) > 0 {
		b = appendUints(append(b, "\nhands "...), s.Hands)
	}
	b = append(b, "\ninput "...)
	b = append(b, s.Input...)
	if s.Reference != "" {
		b = append(b, "\nreference "...)
		b = append(b, s.Reference...)
	}
	b = append(b, "\nseed "...)
	b = hex.AppendEncode(b, s.Seed)
	return append(b, '\n')
}

func appendUints(b []byte, list []uint64) []byte {
	for i, n := range list {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, n, 10)
	}
	return b
}

// Commitment returns the SHA-256 of the statement's text.
func (s *Statement) Commitment() Commitment { return sha256.Sum256(s.Append(make([]byte, 0, 1024))) }

// CheckReference checks that a reference has at most [MaxReference] characters, all printable.
func CheckReference(reference string) error {
	isPrintable := utf8.ValidString(reference) && !strings.ContainsFunc(reference, func(r rune) bool { return !unicode.IsPrint(r) })
	return cmp.Or(
		Rule(utf8.RuneCountInString(reference) <= MaxReference, "a reference has at most %d characters", MaxReference),
		Rule(isPrintable, "a reference is printable characters only: no line breaks, tabs or other controls"),
	)
}

// CheckClientSeed checks that a client seed is UTF-8 of at most [MaxClientSeed] bytes without NUL,
// which ends strings in some languages.
func CheckClientSeed(clientSeed string) error {
	return cmp.Or(
		Rule(len(clientSeed) <= MaxClientSeed, "a client seed has at most %d bytes; hash a longer one and send the hash", MaxClientSeed),
		Rule(utf8.ValidString(clientSeed) && strings.IndexByte(clientSeed, 0) < 0, "a client seed is UTF-8 text without NUL"),
	)
}
