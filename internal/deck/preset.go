package deck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"riffle/internal/suggest"
)

// A Preset names the usual hands of a game. It has either their sizes, or one size for as many
// hands as there are players.
type Preset struct {
	Name string `json:"name"`

	// Sizes are the cards of each hand.
	Sizes []int `json:"sizes,omitempty"`

	// Each is the size of all hands, whose number a request gives: uno:4 deals four hands. 0 if
	// there are Sizes.
	Each int `json:"each,omitempty"`

	// Players is the number of hands if a request gives none, with default parameters; 0 if it has
	// to give one.
	Players int `json:"players,omitempty"`

	// PlayersFrom names the parameter that Players is taken from.
	PlayersFrom string `json:"players_from,omitempty"`
}

// A PresetError says why the hands asked for cannot be dealt from a deck.
type PresetError struct {
	Preset string // as asked for
	Reason string
}

func (e *PresetError) Error() string { return fmt.Sprintf("hands %q: %s", e.Preset, e.Reason) }

// Hands returns the sizes of the hands of a preset: bridge, or uno:4 for four hands. The caller may
// change the slice. The error is a [*PresetError].
func (d *Deck) Hands(preset string) ([]int, error) { return d.HandsFrom(1, preset) }

// HandsFrom is [Deck.Hands] for that many copies of the deck shuffled together, which cover more
// hands.
func (d *Deck) HandsFrom(copies int, preset string) ([]int, error) {
	reject := func(format string, args ...any) ([]int, error) {
		return nil, &PresetError{preset, fmt.Sprintf(format, args...)}
	}
	name, number, counted := strings.Cut(preset, ":")
	i := slices.IndexFunc(d.kind.Presets, func(p Preset) bool { return p.Name == name })
	switch {
	case len(d.kind.Presets) == 0:
		return reject("%s has no presets; give the sizes of the hands, as in [5,5]", d.kind.Name)
	case i < 0:
		return reject("%s has no preset %s; %s", d.kind.Name, suggest.Quote(preset), d.kind.presetHint(name))
	}
	p := d.kind.Presets[i]
	covered := copies*d.Size() - d.kind.DeadWall

	if p.Each == 0 {
		if counted {
			return reject("the preset always deals %d hands; write %s", len(p.Sizes), name)
		}
		if need := sum(p.Sizes); need > covered {
			return reject("the preset deals %d cards and the deck covers %d", need, covered)
		}
		return slices.Clone(p.Sizes), nil
	}

	hands := p.Players
	if p.PlayersFrom != "" {
		hands = d.parameters[p.PlayersFrom]
	}
	if counted {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || strconv.Itoa(n) != number {
			return reject("the number of hands is a whole number from 1; write %s:4 for four hands of %d", name, p.Each)
		}
		hands = n
	}
	// Dividing keeps a large number of hands from overflowing, and from being allocated.
	most := max(covered, 0) / p.Each
	switch {
	case hands == 0:
		return reject("say how many hands; write %s:4 for four hands of %d", name, p.Each)
	case hands > most:
		return reject("the deck covers %d hands of %d", most, p.Each)
	}
	return slices.Repeat([]int{p.Each}, hands), nil
}

// presetHint says what to write instead of a name that is no preset.
func (t *Type) presetHint(name string) string {
	names := make([]string, len(t.Presets))
	for i, p := range t.Presets {
		names[i] = p.Name
	}
	return suggest.Or(name, names, "give the sizes of the hands, as in [5,5], or one of: "+strings.Join(names, ", "))
}

func sum(numbers []int) (total int) {
	for _, n := range numbers {
		total += n
	}
	return total
}
