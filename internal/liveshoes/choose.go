package liveshoes

import (
	"context"
	"fmt"

	"riffle/internal/audit"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// choose returns the cards that a change takes, in order.
func (s *Service) choose(ctx context.Context, p *pendingChange) (shoe.Cards, error) {
	layout := p.from.Layout
	there, err := layout.At(p.From)
	if err != nil {
		return there, err
	}
	if p.Taken == shoe.Named {
		return s.chooseNamed(ctx, p, there)
	}
	count := uint64(1)
	if p.Count != nil {
		count = *p.Count
	}
	if count > there.Len() {
		return there, &shoe.ShortError{Have: there.Len(), Want: count}
	}
	if count == 0 {
		return there, plan.Refuse("/count", "count must be at least 1; got 0")
	}
	if p.Taken != shoe.Random {
		return layout.Take(p.From, p.Taken, count)
	}
	positions, err := s.shuffle(p, there.Len(), count)
	if err != nil {
		return there, err
	}
	return layout.Pick(p.From, positions)
}

// chooseNamed returns the named cards, or all cards at the place if the change names none.
func (s *Service) chooseNamed(ctx context.Context, p *pendingChange, there shoe.Cards) (shoe.Cards, error) {
	switch {
	case p.Cards == nil && there.Len() == 0:
		return there, &shoe.ShortError{Have: 0, Want: 1}
	case p.Cards == nil:
		return there, nil
	case len(p.Cards) == 0 && p.Kind == audit.KindAdd:
		return shoe.Cards{}, nil
	case len(p.Cards) == 0:
		return there, plan.Refuse("/cards", "cards must name at least 1 card; omit cards to take all of them")
	}
	numbers, err := s.numbers(ctx, p.from, there)
	if err != nil {
		return there, err
	}
	search := newSearch(p.from.base.faces, numbers)
	refs := there.Refs()
	picked := make([]shoe.Ref, len(p.Cards))
	for i, name := range p.Cards {
		place, ambiguous, found := search.take(name)
		if !found {
			return there, &CardsError{Index: i, Name: name.String(), Ambiguous: ambiguous}
		}
		picked[i] = refs[place]
	}
	return shoe.List(picked), nil
}

func (n CardName) String() string {
	if n.Number != nil {
		return fmt.Sprint(*n.Number)
	}
	return n.Code
}

// search finds cards at one place by name, each at most once.
type search struct {
	faces    *shoe.Faces
	byNumber map[uint64]int
	byCode   map[string][]int
	taken    []bool
}

// newSearch returns a search among cards, given by their numbers in order.
func newSearch(faces *shoe.Faces, numbers []uint64) *search {
	f := &search{faces: faces, byNumber: map[uint64]int{}, byCode: map[string][]int{}, taken: make([]bool, len(numbers))}
	for place, number := range numbers {
		f.byNumber[number] = place
		if code := faces.Name(number); code != "" {
			f.byCode[code] = append(f.byCode[code], place)
		}
	}
	return f
}

// take returns the index of an untaken card. A code shared by several is ambiguous.
func (f *search) take(name CardName) (place int, ambiguous, found bool) {
	var places []int
	if name.Number != nil {
		if place, ok := f.byNumber[*name.Number]; ok {
			places = []int{place}
		}
	} else {
		places = f.byCode[f.faces.Resolve(name.Code)]
	}
	matches := 0
	for _, candidate := range places {
		if !f.taken[candidate] {
			place = candidate
			matches++
		}
	}
	if matches != 1 {
		return 0, matches > 1, false
	}
	f.taken[place] = true
	return place, false, true
}
