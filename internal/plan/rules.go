package plan

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"sync"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shuffle"
	"riffle/internal/suggest"
)

// Limits bound what one request may ask for.
type Limits struct {
	Items   uint64 // items that can be shuffled, and items that can be drawn
	Results uint64 // repeat times draw
}

const maxHands = 1000 // the list of hands is part of the record

// Rules check requests. They may be used concurrently.
type Rules struct {
	Decks  *deck.Catalogue
	Limits Limits

	inputs sync.Map // input lines of single decks: their digest costs more than most of a shuffle
}

// Check returns the plan of a request. committed is the record of the commitment that
// the request uses, nil if it uses none: members that the request left out are taken from it, and
// the others must agree with it. The error is an [*Invalid].
func (r *Rules) Check(request *Request, committed *audit.Record) (*Plan, error) {
	if request.UniqueReference && request.Reference == "" && committed == nil {
		return nil, Refuse("/unique_reference", "give the reference that is to be unique")
	}
	if committed != nil {
		filled, err := fillIn(request, committed)
		if err != nil {
			return nil, err
		}
		request = filled
	}
	p := &Plan{Request: request}
	if err := r.check(p, committed); err != nil {
		return nil, err
	}
	if committed != nil {
		if err := compare(&p.Statement, &committed.Statement); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func (r *Rules) check(p *Plan, committed *audit.Record) error {
	s := &p.Statement
	s.Reference = p.Request.Reference
	var err error
	if s.Algorithm, err = Algorithm(p.Request.Algorithm); err != nil {
		return err
	}
	if err := r.checkInput(p); err != nil {
		return err
	}
	if committed != nil {
		if err := compareInput(p, committed); err != nil {
			return err
		}
	}
	if err := r.checkDraw(s, p.Request); err != nil {
		return err
	}
	if err := checkHands(p); err != nil {
		return err
	}
	return CheckMovable(s.Algorithm, s.Size)
}

// Algorithm returns the algorithm of a name, the default for an empty one. The error is an
// [*Invalid].
func Algorithm(name string) (shuffle.Algorithm, error) {
	if name == "" {
		return shuffle.AlgorithmFisherYates, nil
	}
	algorithm := shuffle.Algorithm(name)
	if !algorithm.Known() {
		var list []string
		for _, a := range shuffle.Algorithms() {
			list = append(list, string(a))
		}
		return "", Refuse("/algorithm", "there is no algorithm %s; %s", suggest.Quote(name), suggest.Or(name, list, "there are "+strings.Join(list, ", ")))
	}
	return algorithm, nil
}

// CheckMovable refuses Sattolo's algorithm for a single item, which it cannot move.
func CheckMovable(algorithm shuffle.Algorithm, size uint64) error {
	if algorithm == shuffle.AlgorithmSattolo && size == 1 {
		return Refuse("/algorithm", "sattolo moves every item, which a single one cannot do; use another algorithm or at least two items")
	}
	return nil
}

// checkInput finds what is shuffled, and its size.
func (r *Rules) checkInput(p *Plan) error {
	q, s := p.Request, &p.Statement
	inputs := 0
	for _, given := range []bool{q.Items != nil, q.Deck != "", q.Size != nil} {
		if given {
			inputs++
		}
	}
	switch {
	case inputs != 1:
		return Refuse("", "give exactly one of items, deck and size")
	case q.Deck == "" && q.Decks != nil:
		return Refuse("/decks", "decks counts copies of a deck; name one in deck")
	case q.Deck == "" && q.Parameters != nil:
		return Refuse("/parameters", "parameters belong to a deck type; name one in deck")
	case q.Deck == "" && q.Preset != "":
		return Refuse("/hands", "only deck types have named hands; give a list of hand sizes such as [13,13,13,13]")
	case q.Items == nil && q.ItemsSalt != "":
		return Refuse("/items_salt", "items_salt belongs to items; give them, or leave it out")
	case q.Items != nil:
		digest := q.Items.Digest
		if q.ItemsSalt != "" {
			digest, p.ItemsDigest = audit.SaltItems(digest, q.ItemsSalt), audit.SaltedItems
		}
		s.Size, s.Input = q.Items.Count, audit.ItemsInput(digest)
		if s.Size > r.Limits.Items {
			return Refuse("/items", "there are %d items, and at most %d can be shuffled; a draw of few out of many needs only size and draw", s.Size, r.Limits.Items)
		}
	case q.Size != nil:
		s.Size, s.Input = *q.Size, audit.RangeInput
		if s.Size > audit.MaxSize {
			return Refuse("/size", "size is at most %d", uint64(audit.MaxSize))
		}
	default:
		return r.checkDeck(p)
	}
	return nil
}

// checkDraw finds how many items are drawn, and how often. It runs before memory is taken for
// any.
func (r *Rules) checkDraw(s *audit.Statement, q *Request) error {
	s.Draw, s.Repeat = s.Size, 1
	if q.Draw != nil {
		s.Draw = *q.Draw
	}
	if q.Repeat != nil {
		s.Repeat = *q.Repeat
	}
	overflow, results := bits.Mul64(s.Repeat, s.Draw)
	limits := r.Limits
	switch {
	case s.Draw > s.Size:
		got := strconv.FormatUint(s.Draw, 10)
		if q.DrawText != "" {
			got = q.DrawText
		}
		return Refuse("/draw", "draw is from 0 to %d here; got %s", s.Size, got)
	case s.Draw > limits.Items && q.Draw == nil:
		return Refuse("/size", "at most %d can be answered; say with draw how many of the %d you need", limits.Items, s.Size)
	case s.Draw > limits.Items:
		return Refuse("/draw", "draw is at most %d", limits.Items)
	case s.Size > limits.Items && s.Algorithm != shuffle.AlgorithmFisherYates:
		return Refuse("/algorithm", "%s has to go through all %d items, and at most %d can be shuffled; fisher-yates can stop early", s.Algorithm, s.Size, limits.Items)
	case s.Repeat < 1:
		return Refuse("/repeat", "repeat is at least 1")
	case overflow > 0 || results > limits.Results || s.Repeat > limits.Results:
		return Refuse("/repeat", "repeat times draw is at most %d; split the request", limits.Results)
	}
	return checkCost(s, q)
}

// checkCost refuses what no verifier has to replay.
func checkCost(s *audit.Statement, q *Request) error {
	cost := s.Cost()
	if cost <= audit.MaxCost {
		return nil
	}
	one := *s
	one.Repeat = 1
	if most := audit.MaxCost / one.Cost(); most > 0 {
		return Refuse("/repeat", "repeat is at most %d here; got %d. Replaying it would take %d steps, and verifiers replay up to %d", most, s.Repeat, cost, audit.MaxCost)
	}
	pointer := "/size"
	switch {
	case q.Items != nil:
		pointer = "/items"
	case q.Deck != "":
		pointer = "/decks"
	}
	return Refuse(pointer, "replaying a shuffle of %d takes %d steps, and verifiers replay up to %d; shuffle fewer, or let fisher-yates draw less than a sixteenth", s.Size, cost, audit.MaxCost)
}

// checkHands finds how the drawn items are divided.
func checkHands(p *Plan) error {
	s := &p.Statement
	s.Hands = p.Request.Hands
	if p.Request.Preset != "" {
		sizes, err := presetHands(p)
		if err != nil {
			return err
		}
		s.Hands = sizes
	}
	if len(s.Hands) > maxHands {
		return Refuse("/hands", "there are %d hands, and at most %d can be dealt", len(s.Hands), maxHands)
	}
	dealt := uint64(0)
	for i, n := range s.Hands {
		switch {
		case n < 1:
			return Refuse(fmt.Sprintf("/hands/%d", i), "a hand has at least 1 item")
		case n > s.Draw-dealt:
			return Refuse("/hands", "the hands hold more than the %d drawn", s.Draw)
		}
		dealt += n
	}
	return nil
}
