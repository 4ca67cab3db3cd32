package shoe

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// A Ref refers to a card by its position in the order of a seal. It does not say which card that
// is.
type Ref struct {
	Seal     uint64 // the version of the shoe that the seal made
	Position uint64 // from 0
}

// A run is cards of one seal at consecutive positions, ascending or descending.
type run struct{ seal, first, last uint64 }

func (r run) len() uint64 {
	if r.first > r.last {
		return r.first - r.last + 1
	}
	return r.last - r.first + 1
}

// at returns the position of the i-th card of the run.
func (r run) at(i uint64) uint64 {
	if r.first > r.last {
		return r.first - i
	}
	return r.first + i
}

// part returns the cards from to to-1 of the run.
func (r run) part(from, to uint64) run { return run{r.seal, r.at(from), r.at(to - 1)} }

// Cards are references to cards in some order. They are immutable; the zero value is empty. They
// are stored as runs: cards that are dealt from the top need few.
type Cards struct {
	runs []run
	n    uint64
}

// Of returns all cards of a seal, in its order.
func Of(seal, size uint64) Cards {
	if size == 0 {
		return Cards{}
	}
	return Cards{runs: []run{{seal, 0, size - 1}}, n: size}
}

// List returns the cards of a list of references.
func List(refs []Ref) Cards {
	var c Cards
	for _, ref := range refs {
		c.add(run{ref.Seal, ref.Position, ref.Position})
	}
	return c
}

// add appends a run, and merges it with the last one if it continues that.
func (c *Cards) add(r run) {
	c.n += r.len()
	if k := len(c.runs) - 1; k >= 0 && c.runs[k].seal == r.seal {
		last := &c.runs[k]
		up := last.first <= last.last && r.first <= r.last && r.first == last.last+1
		down := last.first >= last.last && r.first >= r.last && r.first+1 == last.last
		if up || down {
			last.last = r.last
			return
		}
	}
	c.runs = append(c.runs, r)
}

// Len returns the number of cards.
func (c Cards) Len() uint64 { return c.n }

// Seals returns the versions of the seals that the cards are of, in ascending order.
func (c Cards) Seals() (versions []uint64) {
	seals := map[uint64]bool{}
	for _, r := range c.runs {
		seals[r.seal] = true
	}
	return slices.Sorted(maps.Keys(seals))
}

// has reports whether the card is among them.
func (c Cards) has(ref Ref) bool {
	return slices.ContainsFunc(c.runs, func(r run) bool {
		return r.seal == ref.Seal && min(r.first, r.last) <= ref.Position && ref.Position <= max(r.first, r.last)
	})
}

// All iterates over the cards.
func (c Cards) All() iter.Seq[Ref] {
	return func(yield func(Ref) bool) {
		for _, r := range c.runs {
			for i := range r.len() {
				if !yield(Ref{r.seal, r.at(i)}) {
					return
				}
			}
		}
	}
}

// Refs returns the cards as a list.
func (c Cards) Refs() []Ref { return slices.AppendSeq(make([]Ref, 0, c.n), c.All()) }

// Equal reports whether both have the same cards in the same order.
func (c Cards) Equal(other Cards) bool { return slices.Equal(c.runs, other.runs) }

// part returns the cards from to to-1.
func (c Cards) part(from, to uint64) Cards {
	var out Cards
	for _, r := range c.runs {
		n := r.len()
		if from < n && from < to {
			out.add(r.part(from, min(n, to)))
		}
		from -= min(from, n)
		to -= min(to, n)
	}
	return out
}

// join returns the cards of the lists, one after the other.
func join(lists ...Cards) Cards {
	runs := 0
	for i := range lists {
		runs += len(lists[i].runs)
	}
	all := Cards{runs: make([]run, 0, runs)}
	for i := range lists {
		for _, r := range lists[i].runs {
			all.add(r)
		}
	}
	return all
}

// reversed returns the cards from the last to the first.
func (c Cards) reversed() Cards {
	var out Cards
	for _, r := range slices.Backward(c.runs) {
		out.add(run{r.seal, r.last, r.first})
	}
	return out
}

// minus returns the cards without others. ok reports whether all others were among them, each once.
func (c Cards) minus(others Cards) (rest Cards, ok bool) {
	switch n, k := c.n, others.n; {
	case k > n:
		return c, false
	case c.part(0, k).Equal(others): // the usual case: taken from an end
		return c.part(k, n), true
	case c.part(n-k, n).reversed().Equal(others):
		return c.part(0, n-k), true
	}
	removed := others.set()
	rest = c.without(removed)
	return rest, rest.n+others.n == c.n && uint64(len(removed)) == others.n
}

// A set of cards is sorted.
type set []Ref

// compare orders references by seal and position.
func compare(a, b Ref) int {
	return cmp.Or(cmp.Compare(a.Seal, b.Seal), cmp.Compare(a.Position, b.Position))
}

// set returns the set of the cards.
func (c Cards) set() set {
	refs := c.Refs()
	slices.SortFunc(refs, compare)
	return slices.Compact(refs)
}

// meets reports whether a card of the run is in the set.
func (s set) meets(r run) bool {
	i, _ := slices.BinarySearchFunc(s, Ref{r.seal, min(r.first, r.last)}, compare)
	return i < len(s) && s[i].Seal == r.seal && s[i].Position <= max(r.first, r.last)
}

// without returns the cards that are not removed.
func (c Cards) without(removed set) Cards {
	if !slices.ContainsFunc(c.runs, removed.meets) {
		return c
	}
	rest := Cards{runs: make([]run, 0, len(c.runs)+len(removed))}
	for _, r := range c.runs {
		if !removed.meets(r) {
			rest.add(r)
			continue
		}
		for i := range r.len() {
			if one := r.part(i, i+1); !removed.meets(one) {
				rest.add(one)
			}
		}
	}
	return rest
}

// Append appends the cards as text: runs separated by spaces. A run is the version of its seal, a
// colon, and one position or the first and last of consecutive positions, ascending or descending,
// with a hyphen between. Every run, from the first on, is as long as possible, so that the same
// cards always have the same text.
//
//	1:0-4 1:9 7:3-2
func (c Cards) Append(b []byte) []byte {
	for i, r := range c.runs {
		if i > 0 {
			b = append(b, ' ')
		}
		b = strconv.AppendUint(b, r.seal, 10)
		b = append(b, ':')
		b = strconv.AppendUint(b, r.first, 10)
		if r.first != r.last {
			b = strconv.AppendUint(append(b, '-'), r.last, 10)
		}
	}
	return b
}

// String returns the text of Append.
func (c Cards) String() string { return string(c.Append(nil)) }

// MarshalText returns the text of Append.
func (c Cards) MarshalText() ([]byte, error) { return c.Append(nil), nil }

// UnmarshalText parses the text of Append.
func (c *Cards) UnmarshalText(text []byte) (err error) {
	*c, err = ParseCards(string(text))
	return err
}

// errCards is for a text that is not what Append returns for its cards.
var errCards = errors.New("cards are written as in 1:0-4 1:9 7:3-2, each run as long as it can be, and at most MaxCards of them")

// ParseCards parses the text of Append. A card that appears twice is an error.
func ParseCards(text string) (Cards, error) {
	var c Cards
	if text == "" {
		return c, nil
	}
	for word := range strings.SplitSeq(text, " ") {
		seal, positions, ok := strings.Cut(word, ":")
		first, last, _ := strings.Cut(positions, "-")
		number := func(text string) uint64 {
			n, err := strconv.ParseUint(text, 10, 53)
			ok = ok && err == nil
			return n
		}
		r := run{number(seal), number(first), number(cmp.Or(last, first))}
		if n := r.len(); !ok || r.seal == 0 || n > MaxCards || c.n+n > MaxCards {
			return Cards{}, errCards
		}
		c.add(r)
	}
	if c.String() != text {
		return Cards{}, errCards
	}
	if uint64(len(c.set())) < c.n {
		return Cards{}, fmt.Errorf("a card appears twice in %s", text)
	}
	return c, nil
}
