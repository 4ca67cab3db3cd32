package audit_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/shuffle"
)

func TestStatementText(t *testing.T) {
	r := fullRecord(t)
	want := "riffle/1\nalgorithm fisher-yates\nsize 12\ndraw 11\nrepeat 2\nhands 4,6\ninput " + r.Statement.Input +
		"\nreference round \"2\" \\ é\nseed " + hex.EncodeToString(r.Statement.Seed) + "\n"
	got := r.Statement.Append([]byte("x"))
	assert.Equalf(t, "x"+want, string(got), "the statement is\n%s, want\n%s", got[1:], want)
	if got, want := r.Statement.Commitment(), sha256.Sum256([]byte(want)); got != want {
		t.Errorf("commitment %s, want %x", got, want)
	}
}

// readStatement is the inverse of [audit.Statement.Append] for valid statements. That there is one
// shows that no two of them have the same text.
func readStatement(text string) (*audit.Statement, error) {
	lines := strings.Split(text, "\n")
	if lines[len(lines)-1] != "" {
		return nil, errors.New("no LF at the end")
	}
	lines = lines[:len(lines)-1]
	next := func(word string) (rest string, ok bool) {
		if len(lines) == 0 {
			return "", false
		}
		if rest, ok = strings.CutPrefix(lines[0], word); ok {
			lines = lines[1:]
		}
		return rest, ok
	}
	var s audit.Statement
	var problem error
	count := func(text string) uint64 {
		n, err := strconv.ParseUint(text, 10, 64)
		problem = errors.Join(problem, err)
		return n
	}
	if rest, ok := next("riffle/1"); !ok || rest != "" {
		return nil, errors.New("the first line is another")
	}
	for _, line := range []struct {
		word  string
		parse func(rest string)
	}{
		{"algorithm ", func(rest string) { s.Algorithm = shuffle.Algorithm(rest) }},
		{"size ", func(rest string) { s.Size = count(rest) }},
		{"draw ", func(rest string) { s.Draw = count(rest) }},
		{"repeat ", func(rest string) { s.Repeat = count(rest) }},
		{"hands ", func(rest string) {
			for n := range strings.SplitSeq(rest, ",") {
				s.Hands = append(s.Hands, count(n))
			}
		}},
		{"input ", func(rest string) { s.Input = rest }},
		{"reference ", func(rest string) { s.Reference = rest }},
		{"seed ", func(rest string) {
			seed, err := hex.DecodeString(rest)
			problem = errors.Join(problem, err)
			s.Seed = seed
		}},
	} {
		rest, ok := next(line.word)
		if !ok && line.word != "hands " && line.word != "reference " {
			return nil, fmt.Errorf("no line %q", line.word)
		}
		if ok {
			line.parse(rest)
		}
	}
	if len(lines) > 0 {
		return nil, fmt.Errorf("lines too many: %q", lines)
	}
	return &s, problem
}

// same reports whether two statements are equal; nil hands equal an empty list.
func same(a, b *audit.Statement) bool {
	return a.Algorithm == b.Algorithm && a.Size == b.Size && a.Draw == b.Draw && a.Repeat == b.Repeat && slices.Equal(a.Hands, b.Hands) &&
		a.Input == b.Input && a.Reference == b.Reference && slices.Equal(a.Seed, b.Seed)
}

// randomStatement returns a statement of few possible values for every part, so that near misses
// are frequent. Most values are valid, and some try to look like another part.
func randomStatement(random *rand.Rand) audit.Statement {
	digest := "sha256:" + strings.Repeat("0a", 32)
	inputs := []string{
		"range", "items " + digest, "deck a x1 " + digest, "deck a x11 " + digest, "deck a-1 x1 " + digest, "deck 1 x1 " + digest,
		"range\nreference x", "range\nseed 00", "range ", "", "items\n" + digest, "deck a\n x1 " + digest, "deck a x1\n " + digest, "deck a  x1 " + digest,
		"items " + strings.ToUpper(digest), "items " + digest + "\n", "items sha256:", "deck a x01 " + digest, "deck a x1 " + digest + " ",
	}
	references := []string{
		"", "x", "seed 00", "reference x", " ", "x seed 00", "input range", "é", "e\u0301",
		"x\nseed 00", "\n", "\nreference x", "x\r", "x\u2028seed 00", "x\x85", "x\x00", "\xff", strings.Repeat("é", 128), strings.Repeat("é", 129),
	}
	sizes := []uint64{0, 1, 2, 3, 11, 12, 111, audit.MaxSize, audit.MaxSize + 1, 1<<64 - 1}
	algorithms := append(shuffle.Algorithms(), "fisher-yates\nsize 1", "naive", "")
	s := audit.Statement{
		Algorithm: algorithms[random.IntN(len(algorithms))],
		Size:      sizes[random.IntN(len(sizes))],
		Draw:      sizes[random.IntN(5)],
		Repeat:    sizes[random.IntN(6)],
		Input:     inputs[random.IntN(len(inputs))],
		Reference: references[random.IntN(len(references))],
		Seed:      testSeed(1 + random.IntN(2)),
	}
	for range random.IntN(3) {
		s.Hands = append(s.Hands, []uint64{1, 2, 11, 1<<64 - 1}[random.IntN(4)])
	}
	return s
}

// isValid reports whether a record may have the statement.
func isValid(s audit.Statement) bool {
	if !utf8.ValidString(s.Reference) {
		return false // no record can be written
	}
	r := audit.Record{ID: uuid.MustParse("019b7ca9-8c88-7e34-8a29-e0ab088154ee"), Kind: audit.KindShuffle, Time: time.Unix(0, 0), Statement: s}
	_, err := audit.ParseRecord(r.Append(nil))
	return err == nil
}

func TestStatementTextsAreUnique(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	texts := map[string]audit.Statement{}
	for range 200_000 {
		s := randomStatement(random)
		if !isValid(s) {
			continue
		}
		name, copies, isDeck := audit.DeckOf(s.Input)
		if s.Input != strings.ToLower(s.Input) || isDeck && !strings.HasPrefix(s.Input, fmt.Sprintf("deck %s x%d sha256:", name, copies)) {
			t.Fatalf("%q has a second form", s.Input)
		}
		text := string(s.Append(nil))
		other, ok := texts[text]
		require.Truef(t, !ok || same(&s, &other), "%+v and %+v have the same text:\n%s", s, other, text)
		texts[text] = s
		got, err := readStatement(text)
		require.Truef(t, err == nil && same(got, &s), "%+v\nreads as %+v, %v, from\n%s", s, got, err, text)
	}
	assert.Truef(t, len(texts) >= 2000, "only %d different statements were possible", len(texts))
	t.Logf("%d different statements", len(texts))
}

func TestCheckReference(t *testing.T) {
	for reference, ok := range map[string]bool{
		"": true, "game 81, round 4": true, " ": true, "\"\\/<&>'": true, "麻将桌 12": true, "e\u0301": true, "🂡½₿": true,
		strings.Repeat("🂡", 128): true, strings.Repeat("x", 129): false, strings.Repeat("e\u0301", 65): false,
		"a\nb": false, "a\rb": false, "a\tb": false, "\x00": false, "\x1b[2J": false, "\x7f": false, "\x80": false, "\xff": false, "\xed\xa0\x80": false,
		"\u0085": false, "\u00a0": false, "\u00ad": false, "\u200b": false, "\u200d": false, "\u2028": false, "\u2029": false, "\u202e": false,
		"\u3000": false, "\ufeff": false, "\ue000": false, "\U000e0001": false,
	} {
		err := audit.CheckReference(reference)
		assert.Equalf(t, ok, (err == nil), "%q: %v, want it good", reference, err)
	}
}

func TestCheckClientSeed(t *testing.T) {
	for clientSeed, ok := range map[string]bool{
		"": true, "heads\n": true, "碰": true, strings.Repeat("x", 256): true, strings.Repeat("é", 128): true,
		strings.Repeat("x", 257): false, strings.Repeat("é", 128) + "x": false, "a\x00": false, "\xff": false, "\xed\xa0\x80": false,
	} {
		err := audit.CheckClientSeed(clientSeed)
		assert.Equalf(t, ok, (err == nil), "%q: %v, want it good", clientSeed, err)
	}
}

func TestDeckInputIsTheDigestOfTheCodes(t *testing.T) {
	for _, codes := range [][]string{{"AS"}, {"AS", "KH"}, {"1m", "1m", "sha-S7"}} {
		for copies := range 4 {
			if copies == 0 {
				continue
			}
			array, err := json.Marshal(slices.Repeat(codes, copies))
			require.NoError(t, err)
			want := fmt.Sprintf("deck some-7 x%d sha256:%x", copies, sha256.Sum256(array))
			assert.Equalf(t, want, audit.DeckInput("some-7", uint64(copies), codes), "%d times %q", copies, codes)
		}
	}
}

func TestInputsAreValid(t *testing.T) {
	for _, input := range []string{audit.RangeInput, audit.ItemsInput(sha256.Sum256(nil)), audit.DeckInput("standard52", 8, []string{"AS"})} {
		s := audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Repeat: 1, Input: input}
		assert.True(t, isValid(s), input)
	}
}

func TestCheckItemsSalt(t *testing.T) {
	for _, salt := range []string{"c0ffee0011223344", "ABCXYZabcxyz0189-_", strings.Repeat("a", 128)} {
		assert.NoErrorf(t, audit.CheckItemsSalt(salt), "%q", salt)
	}
	for _, salt := range []string{"", "c0ffee001122334", strings.Repeat("a", 129), "c0ffee00 11223344", "c0ffee00\n11223344", "c0ffee0011223344\n", "c0ffee001122334é", "c0ffee00\x0011223344"} {
		assert.Errorf(t, audit.CheckItemsSalt(salt), "%q is accepted", salt)
	}
}
