package liveshoes

import (
	"cmp"
	"slices"

	"riffle/internal/audit"
	"riffle/internal/plan"
	"riffle/internal/shoe"
)

// choose returns the cards that a change takes, in order.
func (s *Service) choose(p *pendingChange) (shoe.Cards, error) {
	layout := p.from.layout
	there, err := layout.At(p.From)
	if err != nil {
		return there, err
	}
	if p.Taken == shoe.Named {
		return chooseNamed(p, there)
	}
	count := *cmp.Or(p.Count, new(uint64(1)))
	switch {
	case count == 0:
		return there, plan.Refuse("/count", "count must be from 1 to %d; got 0", uint64(audit.MaxSize))
	case p.Taken != shoe.Random:
		return layout.Take(p.From, p.Taken, count)
	case count > there.Len(): // before a seed is drawn
		return there, &shoe.ShortError{Have: there.Len(), Want: count}
	}
	if err := s.seed(p, there.Len(), count); err != nil {
		return there, err
	}
	return there.Pick(draw(p.record, p.seed))
}

// chooseNamed returns the named cards, or all cards at the place if the change names none.
func chooseNamed(p *pendingChange, there shoe.Cards) (shoe.Cards, error) {
	switch {
	case p.Cards == nil && there.Len() == 0:
		return there, &shoe.ShortError{Have: 0, Want: 1}
	case p.Cards == nil:
		return there, nil
	case len(p.Cards) == 0 && p.Kind == audit.KindAdd:
		return shoe.Cards{}, nil
	case len(p.Cards) == 0:
		return there, plan.Refuse("/cards", "cards must name at least 1 card")
	}
	numbers := p.from.numbers(there)
	faces := p.from.base.faces
	byNumber, byCode := make(map[uint64]int, len(numbers)), map[string][]int{}
	for place, number := range numbers {
		byNumber[number] = place
		if code := faces.Name(number); code != "" {
			byCode[code] = append(byCode[code], place)
		}
	}
	refs, picked, taken := there.Refs(), make([]shoe.Ref, len(p.Cards)), make([]bool, len(numbers))
	for i, name := range p.Cards {
		var matches []int // the places of cards with the name, except those taken
		if name.Number == nil {
			code := faces.Resolve(name.Code)
			left := slices.DeleteFunc(byCode[code], func(place int) bool { return taken[place] })
			matches, byCode[code] = left, left
		} else if place, found := byNumber[*name.Number]; found && !taken[place] {
			matches = []int{place}
		}
		if len(matches) != 1 {
			return there, &CardsError{Index: i, Ambiguous: len(matches) > 1}
		}
		taken[matches[0]] = true
		picked[i] = refs[matches[0]]
	}
	return shoe.List(picked), nil
}
