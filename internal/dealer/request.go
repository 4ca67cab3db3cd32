package dealer

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/shuffle"
)

// A Request asks for a shuffle of one of three inputs: Items, Deck or Size.
type Request struct {
	Items *Items // the caller's own items

	Deck       string         // a deck type; empty for none
	Decks      *uint64        // how many copies of it; one if nil
	Parameters map[string]int // of the deck type

	Size *uint64 // the numbers from 0 to Size-1

	Algorithm  string   // empty for the default, fisher-yates
	Draw       *uint64  // how many are answered; all if nil
	Hands      []uint64 // hand sizes; nil for none
	Preset     string   // the name of hand sizes that the deck type has; empty for none
	Repeat     *uint64  // how many independent shuffles; one if nil
	ClientSeed string
	Reference  string
	RevealNow  bool
}

// Items is what the dealer has to know of the caller's items: never what they are.
type Items struct {
	Count  uint64
	Digest [sha256.Size]byte // of the JSON array without white space
}

// A FieldError says what is wrong with one member of a request.
type FieldError struct {
	Pointer string // JSON pointer (RFC 6901) into the request
	Detail  string // what to do about it
}

// An Invalid is the error for a well-formed request that cannot be done.
type Invalid struct{ Fields []FieldError }

func (e *Invalid) Error() string {
	var list []string
	for _, f := range e.Fields {
		list = append(list, f.Pointer+": "+f.Detail)
	}
	return strings.Join(list, "; ")
}

func invalid(pointer, format string, args ...any) error {
	return &Invalid{Fields: []FieldError{{Pointer: pointer, Detail: fmt.Sprintf(format, args...)}}}
}

// A Plan is a request that can be done.
type Plan struct {
	statement audit.Statement // without its seed
	deck      *deck.Deck
	copies    uint64
	request   *Request
}

// Held returns how many elements have to be in memory at once to deal the plan.
func (p *Plan) Held() uint64 {
	if p.statement.Input == audit.RangeInput && shuffle.Few(p.statement.Algorithm, p.statement.Size, p.statement.Draw) {
		return p.statement.Draw
	}
	return p.statement.Size
}

// Plan checks a request against the limits, before any memory is taken for it. The error is an [*Invalid] where the
// request cannot be done.
func (d *Dealer) Plan(r *Request) (*Plan, error) {
	p := &Plan{request: r}
	s := &p.statement
	s.Algorithm, s.Reference, s.Repeat = shuffle.AlgorithmFisherYates, r.Reference, 1
	if r.Algorithm != "" {
		s.Algorithm = shuffle.Algorithm(r.Algorithm)
	}
	if !s.Algorithm.Known() {
		return nil, invalid("/algorithm", "there is no algorithm %q; there are %s", r.Algorithm, names())
	}
	if err := d.input(p, r); err != nil {
		return nil, err
	}
	if err := d.extent(s, r); err != nil {
		return nil, err
	}
	if err := d.hands(p, r); err != nil {
		return nil, err
	}
	if s.Algorithm == shuffle.AlgorithmSattolo && s.Size == 1 {
		return nil, invalid("/algorithm", "sattolo moves every item, and a single one can only keep its place; use another algorithm or two items")
	}
	return p, nil
}

func names() string {
	var list []string
	for _, alg := range shuffle.Algorithms() {
		list = append(list, string(alg))
	}
	return strings.Join(list, ", ")
}

// input settles what is shuffled, and how many there are.
func (d *Dealer) input(p *Plan, r *Request) error {
	given := 0
	for _, is := range []bool{r.Items != nil, r.Deck != "", r.Size != nil} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return invalid("", "give exactly one of items, deck and size")
	case r.Deck == "" && r.Decks != nil:
		return invalid("/decks", "decks counts copies of a deck; name one in deck")
	case r.Deck == "" && r.Parameters != nil:
		return invalid("/parameters", "parameters belong to a deck type; name one in deck")
	case r.Deck == "" && r.Preset != "":
		return invalid("/hands", "only deck types have named hands; give a list of hand sizes")
	case r.Items != nil:
		p.statement.Size, p.statement.Input = r.Items.Count, audit.ItemsInput(r.Items.Digest)
		if r.Items.Count > d.limits.Items {
			return invalid("/items", "there are %d items, and at most %d can be shuffled; a draw of few out of many needs only size and draw", r.Items.Count, d.limits.Items)
		}
	case r.Size != nil:
		p.statement.Size, p.statement.Input = *r.Size, audit.RangeInput
		if *r.Size > audit.MaxSize {
			return invalid("/size", "size is at most %d", uint64(audit.MaxSize))
		}
	default:
		return d.deckInput(p, r)
	}
	return nil
}

func (d *Dealer) deckInput(p *Plan, r *Request) error {
	kind, ok := d.decks.Type(r.Deck)
	if !ok {
		return invalid("/deck", "there is no deck type %q; GET /decks lists them", r.Deck)
	}
	var err error
	p.deck, err = kind.Deck(r.Parameters)
	if parameter := (*deck.ParameterError)(nil); errors.As(err, &parameter) {
		return invalid("/parameters/"+escape(parameter.Name), "%s", parameter.Error())
	} else if err != nil {
		return err
	}
	p.copies = 1
	if r.Decks != nil {
		p.copies = *r.Decks
	}
	if most := d.limits.Items / uint64(p.deck.Size()); p.copies < 1 || p.copies > most {
		return invalid("/decks", "decks is from 1 to %d for a deck of %d", most, p.deck.Size())
	}
	p.statement.Size = p.copies * uint64(p.deck.Size())
	p.statement.Input = audit.DeckInput(kind.Name, p.copies, p.deck.Codes())
	return nil
}

// escape makes a name a token of a JSON pointer.
func escape(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}

// extent settles how many are drawn, and how often.
func (d *Dealer) extent(s *audit.Statement, r *Request) error {
	s.Draw = s.Size
	if r.Draw != nil {
		s.Draw = *r.Draw
	}
	if r.Repeat != nil {
		s.Repeat = *r.Repeat
	}
	over, total := bits.Mul64(s.Repeat, s.Draw)
	overWork, work := uint64(0), uint64(0)
	if !shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		overWork, work = bits.Mul64(s.Repeat, s.Size)
	}
	const most = 16 // times as much may be gone through as may be answered
	switch {
	case s.Draw > s.Size:
		return invalid("/draw", "draw is %d, and there are %d to draw from", s.Draw, s.Size)
	case s.Draw > d.limits.Items && r.Draw == nil:
		return invalid("/size", "at most %d can be answered; say with draw how many of the %d you need", d.limits.Items, s.Size)
	case s.Draw > d.limits.Items:
		return invalid("/draw", "draw is at most %d", d.limits.Items)
	case s.Size > d.limits.Items && s.Algorithm != shuffle.AlgorithmFisherYates:
		return invalid("/algorithm", "%s has to go through all %d items, and at most %d can be shuffled; fisher-yates can stop early", s.Algorithm, s.Size, d.limits.Items)
	case s.Repeat < 1:
		return invalid("/repeat", "repeat is at least 1")
	case over > 0 || total > d.limits.Results || s.Repeat > d.limits.Results:
		return invalid("/repeat", "repeat times draw is at most %d; split the request", d.limits.Results)
	case overWork > 0 || work/most > d.limits.Results:
		return invalid("/repeat", "each of the shuffles goes through all %d items, which is at most %d over all; repeat less, or let fisher-yates draw less than a sixteenth", s.Size, most*d.limits.Results)
	}
	return nil
}

// hands settles how the draw is divided.
func (d *Dealer) hands(p *Plan, r *Request) error {
	p.statement.Hands = r.Hands
	if r.Preset != "" {
		sizes, err := p.deck.HandsFrom(int(p.copies), r.Preset)
		if preset := (*deck.PresetError)(nil); errors.As(err, &preset) {
			return invalid("/hands", "%s", preset.Reason)
		} else if err != nil {
			return err
		}
		for _, n := range sizes {
			p.statement.Hands = append(p.statement.Hands, uint64(n))
		}
	}
	if len(p.statement.Hands) > maxHands {
		return invalid("/hands", "there are %d hands, and at most %d can be dealt", len(p.statement.Hands), maxHands)
	}
	dealt := uint64(0)
	for i, n := range p.statement.Hands {
		switch {
		case n < 1:
			return invalid(fmt.Sprintf("/hands/%d", i), "a hand has at least 1 item")
		case n > p.statement.Draw-dealt:
			return invalid("/hands", "the hands hold more than the %d drawn", p.statement.Draw)
		}
		dealt += n
	}
	return nil
}
