package shoe

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// permutations calls each with every order of every subset of the references.
func permutations(refs []Ref, each func([]Ref)) {
	var grow func(list []Ref)
	grow = func(list []Ref) {
		each(list)
		for _, ref := range refs {
			if !slices.Contains(list, ref) {
				grow(append(slices.Clone(list), ref))
			}
		}
	}
	grow(nil)
}

// grid returns all cards of seals with the given sizes.
func grid(seals ...uint64) (refs []Ref) {
	for i, n := range seals {
		for p := range n {
			refs = append(refs, Ref{Seal: uint64(i + 1), Position: p})
		}
	}
	return refs
}

// plainText is an independent model of the text: each run as long as possible, from the first on.
func plainText(refs []Ref) string {
	var words []string
	for i := 0; i < len(refs); {
		k := i + 1
		if k < len(refs) && refs[k].Seal == refs[i].Seal {
			step := int64(refs[k].Position) - int64(refs[i].Position)
			for (step == 1 || step == -1) && k < len(refs) && refs[k].Seal == refs[i].Seal && int64(refs[k].Position)-int64(refs[k-1].Position) == step {
				k++
			}
		}
		word := fmt.Sprintf("%d:%d", refs[i].Seal, refs[i].Position)
		if k > i+1 {
			word += fmt.Sprintf("-%d", refs[k-1].Position)
		}
		words = append(words, word)
		i = k
	}
	return strings.Join(words, " ")
}

// Every list of cards has one text, which parses to the list, however the list was put together.
func TestTextOfCardsIsCanonical(t *testing.T) {
	for _, refs := range [][]Ref{grid(6), grid(4, 3)} {
		texts := map[string]bool{}
		permutations(refs, func(list []Ref) {
			c := List(list)
			text := c.String()
			require.Equalf(t, plainText(list), text, "%v", list)
			require.Falsef(t, texts[text], "two lists are %q", text)
			texts[text] = true
			read, err := ParseCards(text)
			if err != nil || !read.Equal(c) || !slices.Equal(read.Refs(), list) || read.Len() != uint64(len(list)) {
				t.Fatalf("%q is read as %v, %v", text, read.Refs(), err)
			}
			for at := range uint64(len(list)) + 1 {
				head, tail := c.part(0, at), c.part(at, c.Len())
				if !slices.Equal(head.Refs(), list[:at]) || !slices.Equal(tail.Refs(), list[at:]) || !join(head, tail).Equal(c) {
					t.Fatalf("%v, parted at %d, is %v and %v", list, at, head.Refs(), tail.Refs())
				}
			}
			back := slices.Clone(list)
			slices.Reverse(back)
			require.Truef(t, c.reversed().Equal(List(back)), "%v is %v backwards", list, c.reversed().Refs())
			require.Truef(t, c.reversed().reversed().Equal(c), "%v is %v backwards", list, c.reversed().Refs())
		})
	}
}

func TestMinusRemovesExactlyTheGivenCards(t *testing.T) {
	refs := grid(3, 2)
	permutations(refs, func(list []Ref) {
		c := List(list)
		permutations(refs[1:], func(taken []Ref) {
			there := true
			for _, ref := range taken {
				there = there && slices.Contains(list, ref)
			}
			rest, ok := c.minus(List(taken))
			require.Equalf(t, there, ok, "%v minus %v", list, taken)
			want := slices.DeleteFunc(slices.Clone(list), func(r Ref) bool { return slices.Contains(taken, r) })
			require.Truef(t, !ok || rest.Equal(List(want)), "%v minus %v is %v", list, taken, rest.Refs())
		})
	})
	twice := List([]Ref{{1, 0}, {1, 2}, {1, 0}})
	_, ok := List(grid(3)).minus(twice)
	assert.False(t, ok, "a card was taken twice")
}

func TestParseCardsRejectsOtherForms(t *testing.T) {
	for _, text := range []string{
		" ", "1", "1:", ":1", "1:0 ", " 1:0", "1:0  1:2", "1:0,1:2", "1-0", "1:0-", "1:-0", "1:0-0", "1:0-1-2", "1:1:1", "01:0", "1:00", "1:0-01", "+1:0", "1:+0",
		"1:0 1:1", "1:1 1:0", "1:0-1 1:2", "1:0 1:1-2", "1:2-1 1:0", "1:0 1:0", "1:0-2 1:1", "1:3 1:0-4", "-1:0", "1:x", "a:0", "1:0\n",
		"9007199254740992:0", "1:9007199254740992", "1:0-9007199254740991", fmt.Sprintf("1:0-%d", MaxCards), fmt.Sprintf("1:%d-0", MaxCards), fmt.Sprintf("1:0-%d 2:0", MaxCards-1),
		"18446744073709551616:0",
	} {
		c, err := ParseCards(text)
		assert.Errorf(t, err, "%q is read as %v", text, c)
	}
	for _, text := range []string{"", "1:0", "1:0-1", "1:1-0", "1:0 1:2", "2:0 1:1", "1:0 2:1", fmt.Sprintf("1:0-%d", MaxCards-1), "9007199254740991:9007199254740991"} {
		c, err := ParseCards(text)
		require.NoErrorf(t, err, "%q is read as %v, %v", text, c, err)
		assert.Equalf(t, text, c.String(), "%q is read as %v, %v", text, c, err)
		var u Cards
		require.NoErrorf(t, u.UnmarshalText([]byte(text)), "%q", text)
		assert.Truef(t, u.Equal(c), "%q", text)
		b, err := c.MarshalText()
		assert.Truef(t, err == nil && string(b) == text, "%q: %s, %v", text, b, err)
	}
}

func FuzzParseCards(f *testing.F) {
	for _, text := range []string{"", "1:0-4 1:9 7:3-2", "1:0 1:1", "1:0-4095", "1:4095-0", "2:1 1:1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseCards(text)
		if err != nil {
			return
		}
		refs := c.Refs()
		assert.Truef(t, c.String() == text && plainText(refs) == text && c.Len() <= MaxCards && uint64(len(refs)) == c.Len() && uint64(len(c.set())) == c.Len(),
			"%q is read as %v", text, refs)
	})
}
