package dealer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"

	"github.com/google/uuid"

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

	CommitmentID    uuid.UUID // of the commitment that is used; Nil for none. What is left out is as committed to
	UniqueReference bool      // there must be no other attempt at the reference
	Call            *Call     // nil for a request that cannot be repeated
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
	committed *committed   // what it uses; nil for none
	shoe      *ShoeRequest // nil unless it is for a shoe
}

// parameters returns those of the deck type, or nil.
func (p *Plan) parameters() map[string]int {
	if p.deck == nil {
		return nil
	}
	return p.deck.Parameters()
}

// Held returns how many elements have to be in memory at once to deal the plan.
func (p *Plan) Held() uint64 { return held(&p.statement) }

// held returns how many elements have to be in memory at once to shuffle by a statement.
func held(s *audit.Statement) uint64 {
	if s.Input == audit.RangeInput && shuffle.Few(s.Algorithm, s.Size, s.Draw) {
		return s.Draw
	}
	return s.Size
}

// Plan checks a request against the limits, before any memory is taken for it. The error is an [*Invalid] where the
// request cannot be done, [ErrNoCommitment], or one of the ledger's where it uses a commitment.
func (d *Dealer) Plan(ctx context.Context, r *Request) (*Plan, error) {
	p := &Plan{request: r}
	if r.UniqueReference && r.Reference == "" && r.CommitmentID == uuid.Nil {
		return nil, invalid("/unique_reference", "give the reference that is to have one shuffle alone")
	}
	if r.CommitmentID != uuid.Nil {
		if err := d.asCommitted(ctx, p); err != nil {
			return nil, err
		}
	}
	if err := d.plan(p); err != nil {
		return nil, err
	}
	if p.committed != nil {
		return p, differs(&p.statement, &p.committed.record.Statement)
	}
	return p, nil
}

// plan settles the statement.
func (d *Dealer) plan(p *Plan) error {
	r, s := p.request, &p.statement
	s.Algorithm, s.Reference, s.Repeat = shuffle.AlgorithmFisherYates, r.Reference, 1
	if r.Algorithm != "" {
		s.Algorithm = shuffle.Algorithm(r.Algorithm)
	}
	if !s.Algorithm.Known() {
		return invalid("/algorithm", "there is no algorithm %q; there are %s", r.Algorithm, names())
	}
	if err := d.input(p, r); err != nil {
		return err
	}
	if p.committed != nil {
		if err := differsInput(r, s, &p.committed.record.Statement); err != nil {
			return err
		}
	}
	if err := d.extent(s, r); err != nil {
		return err
	}
	if err := d.hands(p, r); err != nil {
		return err
	}
	if s.Algorithm == shuffle.AlgorithmSattolo && s.Size == 1 {
		return invalid("/algorithm", "sattolo moves every item, and a single one can only keep its place; use another algorithm or two items")
	}
	return nil
}

// asCommitted has a request ask for what was committed to, as far as it does not say.
func (d *Dealer) asCommitted(ctx context.Context, p *Plan) error {
	r := *p.request
	p.request = &r
	if r.ClientSeed == "" {
		return invalid("/client_seed", "a commitment is used with a client seed, which came after it")
	}
	var err error
	if p.committed, err = d.toUse(ctx, r.CommitmentID); err != nil {
		return err
	}
	record := p.committed.record
	s := &record.Statement
	name, copies, isDeck := audit.DeckOf(s.Input)
	if r.Items == nil && r.Deck == "" && r.Size == nil {
		switch {
		case isDeck:
			r.Deck = name
		case s.Input == audit.RangeInput:
			r.Size = &s.Size
		default:
			return invalid("/items", "send the items again: the service keeps only their digest")
		}
	}
	if isDeck && r.Deck == name && r.Decks == nil {
		r.Decks = &copies
	}
	if isDeck && r.Deck == name && r.Parameters == nil {
		r.Parameters = record.Parameters
	}
	if r.Algorithm == "" {
		r.Algorithm = string(s.Algorithm)
	}
	if r.Draw == nil {
		r.Draw = &s.Draw
	}
	if r.Repeat == nil {
		r.Repeat = &s.Repeat
	}
	if r.Hands == nil && r.Preset == "" {
		r.Hands = s.Hands
	}
	if r.Reference == "" {
		r.Reference = s.Reference
	}
	if r.UniqueReference && r.Reference == "" {
		return invalid("/unique_reference", "the commitment has no reference that could be unique")
	}
	return nil
}

// differsInput returns an error that names what is to be shuffled if it is not what was committed to.
func differsInput(r *Request, got, committed *audit.Statement) error {
	if got.Input == committed.Input && got.Size == committed.Size {
		return nil
	}
	const detail = "the commitment is to %s, of %d; leave out what was committed to, but for items, or make another commitment"
	pointer := "/size"
	switch {
	case r.Items != nil:
		pointer = "/items"
	case r.Deck != "":
		pointer = "/deck"
		if name, copies, _ := audit.DeckOf(committed.Input); name == r.Deck && copies != *r.Decks {
			pointer = "/decks"
		} else if name == r.Deck && len(r.Parameters) > 0 {
			pointer = "/parameters"
		}
	}
	return invalid(pointer, detail, committed.Input, committed.Size)
}

// differs returns an error that names the first member that is not as committed to.
func differs(got, committed *audit.Statement) error {
	other := func(pointer string, got, committed any) error {
		return invalid(pointer, "the commitment is to %v, and this is %v; leave out what was committed to, or make another commitment", committed, got)
	}
	switch {
	case got.Algorithm != committed.Algorithm:
		return other("/algorithm", got.Algorithm, committed.Algorithm)
	case got.Draw != committed.Draw:
		return other("/draw", got.Draw, committed.Draw)
	case got.Repeat != committed.Repeat:
		return other("/repeat", got.Repeat, committed.Repeat)
	case !slices.Equal(got.Hands, committed.Hands):
		return other("/hands", got.Hands, committed.Hands)
	case got.Reference != committed.Reference:
		return other("/reference", got.Reference, committed.Reference)
	}
	return nil
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
		if r.Items.Count > d.options.Limits.Items {
			return invalid("/items", "there are %d items, and at most %d can be shuffled; a draw of few out of many needs only size and draw", r.Items.Count, d.options.Limits.Items)
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
	if most := d.options.Limits.Items / uint64(p.deck.Size()); p.copies < 1 || p.copies > most {
		return invalid("/decks", "decks is from 1 to %d for a deck of %d", most, p.deck.Size())
	}
	p.statement.Size = p.copies * uint64(p.deck.Size())
	p.statement.Input = d.inputOf(p.deck, p.copies)
	return nil
}

// inputOf returns what a statement says of copies of a deck. That of one copy of a deck that is shared is remembered.
func (d *Dealer) inputOf(cards *deck.Deck, copies uint64) string {
	kind := cards.Type()
	if known, _ := kind.Deck(nil); copies != 1 || cards != known {
		return audit.DeckInput(kind.Name, copies, cards.Codes())
	}
	if input, found := d.inputs.Load(cards); found {
		return input.(string)
	}
	input := audit.DeckInput(kind.Name, copies, cards.Codes())
	d.inputs.Store(cards, input)
	return input
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
	case s.Draw > d.options.Limits.Items && r.Draw == nil:
		return invalid("/size", "at most %d can be answered; say with draw how many of the %d you need", d.options.Limits.Items, s.Size)
	case s.Draw > d.options.Limits.Items:
		return invalid("/draw", "draw is at most %d", d.options.Limits.Items)
	case s.Size > d.options.Limits.Items && s.Algorithm != shuffle.AlgorithmFisherYates:
		return invalid("/algorithm", "%s has to go through all %d items, and at most %d can be shuffled; fisher-yates can stop early", s.Algorithm, s.Size, d.options.Limits.Items)
	case s.Repeat < 1:
		return invalid("/repeat", "repeat is at least 1")
	case over > 0 || total > d.options.Limits.Results || s.Repeat > d.options.Limits.Results:
		return invalid("/repeat", "repeat times draw is at most %d; split the request", d.options.Limits.Results)
	case overWork > 0 || work/most > d.options.Limits.Results:
		return invalid("/repeat", "each of the shuffles goes through all %d items, which is at most %d over all; repeat less, or let fisher-yates draw less than a sixteenth", s.Size, most*d.options.Limits.Results)
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
