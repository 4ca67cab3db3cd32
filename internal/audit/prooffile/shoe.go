package prooffile

import (
	"cmp"
	"errors"
	"slices"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/shoe"
)

// VerifyShoe verifies a whole shoe by the proof files of all its records, two or more, from the
// first to the last. It adds the steps of docs/shoes.md, "The whole shoe". A step that every file
// has is reported once for all of them.
func VerifyShoe(texts [][]byte, given *Given) *Result {
	r := checkFiles(texts, given)
	r.addCommon(StepProof, r.trust(), message.Values{"files": len(r.files)})
	if r.Unchecked() != nil {
		return r
	}
	if r.Failed() == nil {
		r.addCommon(StepRecord, "record.changes", message.Values{"record": r.files[0].Find(StepRecord).Message, "changes": r.Changes})
	}
	if r.Has(StepRecord, OK) {
		first, last := r.files[0], r.files[len(r.files)-1]
		r.Closed = last.Record.Kind == audit.KindClose
		r.report(StepChain, r.chain(), "chain", message.Values{"last": len(r.files), "from": first.File.Inclusion.Index, "to": last.File.Inclusion.Index})
	}
	r.addReplays()
	if items := r.files[0].Find(StepItems); items != nil {
		r.Steps = append(r.Steps, *items)
	}
	r.checkPublished()
	if r.Failed() != nil || !r.Has(StepRecord, OK) {
		return r
	}

	s := &r.Record.Statement
	t := &tracker{layout: shoe.New(s.Size, s.Draw > 0), orders: map[uint64][]uint64{}}
	t.seal(r.files[0].sealing())
	if r.checkMoves(t); r.Failed() != nil {
		return r
	}
	r.checkRoots(t.sealings)
	if given.Hand != nil {
		r.checkHand(t.sealings, true)
	}
	if !r.Has(StepHand, OK) {
		r.Proven = 0
	}
	if r.Closed {
		r.add(StepClosed, OK, "closed", nil)
		return r
	}
	isRequired := given.Hand == nil // otherwise only the hand must be proven
	r.add(StepClosed, stateOfMissing(isRequired), "closed.not", nil)
	return r
}

// addReplays adds the steps seed, commitment, keys and order of several files, which every file
// with a seed has: each with the number of files in which it holds.
func (r *Result) addReplays() {
	for _, name := range []string{StepSeed, StepCommitment, StepKeys, StepOrder} {
		right := r.withState(name, OK)
		isOrder, state := name == StepOrder, OK
		of := message.Values{"seeds": len(right), "orders": len(right)}
		if r.held > 0 {
			of["withheld"] = r.withheld()
		}
		if i := slices.IndexFunc(right, func(s *Step) bool { return s.Message.ID == "seed.short" }); i >= 0 {
			of["warning"] = right[i].Message
		}
		if isOrder && r.held > 0 {
			state = stateOfMissing(r.given.Hand == nil)
		} else if len(right) == 0 {
			state = Skipped
		}
		switch isDealt := len(right)+r.held > 0; {
		case r.withState(name, Wrong) != nil || isOrder && r.given.Order != nil && r.match == nil:
			r.addCommon(name, "text", nil)
		case isDealt && name == StepSeed && right == nil:
			r.say(StepSeed, Skipped, r.withheld())
		case isDealt:
			r.add(name, state, "replays."+name, of)
		}
	}
}

// withState returns the steps of the files that have the name and the state.
func (r *Result) withState(name string, state State) (steps []*Step) {
	for _, f := range r.files {
		if f.Has(name, state) {
			steps = append(steps, f.Find(name))
		}
	}
	return steps
}

// checkPublished adds the steps inclusion and signature of all files, and committed.
func (r *Result) checkPublished() {
	r.addCommon(StepInclusion, "inclusions", nil)
	r.addCommon(StepSignature, "signatures", nil)
	r.addCommon(StepWitnesses, "witnesses.all", nil)
	r.checkCommitted()
}

// addCommon adds a step that the files have in common, if any has it: the first one that fails or
// is unchecked, or else an OK one with the message.
func (r *Result) addCommon(name, id string, of message.Values) {
	for _, state := range []State{Wrong, Unchecked} {
		for i, f := range r.files {
			if f.Has(name, state) {
				r.add(name, state, "file", message.Values{"n": i + 1, "what": f.Find(name).Message})
				return
			}
		}
	}
	if slices.ContainsFunc(r.files, func(f *Result) bool { return f.Find(name) != nil }) {
		r.add(name, OK, id, of)
	}
}

// trust says which log key all files have.
func (r *Result) trust() string {
	if !r.given.hasKey() {
		return "proofs.no-key"
	}
	return "proofs.key"
}

// chain checks that the records are one shoe's, from the first on.
func (r *Result) chain() error {
	first := r.Record
	if first.Kind != audit.KindShoe {
		return message.New("why.chain.first", message.Values{"kind": string(first.Kind)})
	}
	for i, f := range r.files[1:] {
		before, version := r.files[i], uint64(i)+2
		record, last := f.Record, before.Record
		at, earlier := f.File.Inclusion.Index, before.File.Inclusion.Index
		of := message.Values{"version": version, "id": record.ID.String(), "shoe": first.ID.String(), "made": record.Version, "index": at, "earlier": earlier, "kind": string(record.Kind)}
		if err := cmp.Or(
			message.Rule(record.Kind.ChangesShoe() && record.AuditID == first.ID, "why.chain.shoe", of),
			message.Rule(record.Version == version, "why.chain.version", of),
			message.Rule(at > earlier, "why.chain.index", of),
			message.Rule(record.States() || record.Commitment == first.Commitment, "why.chain.commitment", of),
			message.Rule(last.Kind != audit.KindClose && (last.Kind != audit.KindExpire || record.Kind == audit.KindClose), "why.chain.end", of),
		); err != nil {
			return err
		}
	}
	return nil
}

// withheld says why some files have no seed.
func (r *Result) withheld() message.Message {
	if r.Closed {
		return message.New("withheld.closed", message.Values{"seeds": r.held})
	}
	return message.New("withheld", message.Values{"seeds": r.held})
}

// checkMoves adds the step moves: whether every change is one that the rules allow, of the cards
// that lay there.
func (r *Result) checkMoves(t *tracker) {
	for i, f := range r.files[1:] {
		if err := t.change(f); err != nil {
			r.add(StepMoves, Wrong, "why.version", message.Values{"version": i + 2, "what": notAllowed(err)})
			return
		}
	}
	state, of := OK, message.Values{"deck": t.layout.Deck.Len(), "dealt": t.layout.Dealt.Len(), "piles": len(t.layout.Piles)}
	if t.random > 0 {
		state, of["random"] = Unchecked, t.random
	}
	r.add(StepMoves, state, "moves", of)
}

// checkRoots adds the step root: whether every root that can be compared is the root of the cards
// in their order.
func (r *Result) checkRoots(sealings []*sealing) {
	var wrong error
	compared, unknown := 0, 0
	for _, s := range sealings {
		switch {
		case s.record.Root == nil || wrong != nil:
		case s.cards == nil || s.order == nil || s.seed == nil:
			unknown++
		default:
			compared++
			if err := s.checkRoot(); err != nil {
				wrong = message.New("why.version", message.Values{"version": max(1, s.record.Version), "what": message.Of(err)})
			}
		}
	}
	switch {
	case wrong != nil || compared > 0 && unknown == 0:
		r.report(StepRoot, wrong, "roots", message.Values{"records": compared})
	case unknown == 0:
		r.add(StepRoot, Skipped, "roots.none", nil)
	case r.held > 0:
		r.say(StepRoot, Skipped, r.withheld())
	default:
		r.add(StepRoot, Skipped, "root.items", nil)
	}
}

// A tracker follows the cards of a shoe from record to record.
type tracker struct {
	layout   *shoe.Layout
	sealings []*sealing          // in the order in which they were made
	orders   map[uint64][]uint64 // the order of each sealing, by the version of the shoe that it made; nil if unknown
	random   int                 // draws at random that could not be replayed
}

// seal adds a sealing of the version that the shoe has.
func (t *tracker) seal(s *sealing) {
	t.orders[t.layout.Version] = s.order
	t.sealings = append(t.sealings, s)
}

// change applies the change of a record to the layout. The error says why the change is not allowed
// there.
func (t *tracker) change(f *Result) error {
	r := f.Record
	if r.Kind == audit.KindClose || r.Kind == audit.KindExpire {
		t.layout = t.layout.End()
		return nil
	}
	lying, err := t.layout.At(r.From)
	if err != nil {
		return err
	}
	if r.Deals() && lying.Len() != r.Statement.Size {
		return message.New("why.move.size", message.Values{"size": r.Statement.Size, "lying": lying.Len(), "place": where(r.From)})
	}
	if r.Kind == audit.KindReshuffle {
		return t.reshuffle(f, lying)
	}
	want := r.Cards // of cards that are named, Apply checks that they lie there
	switch {
	case r.Taken == shoe.Top || r.Taken == shoe.Bottom:
		want, err = t.layout.Take(r.From, r.Taken, r.Cards.Len())
	case r.Taken == shoe.Random && f.orders == nil:
		t.random++
	case r.Taken == shoe.Random:
		want, err = lying.Pick(f.orders[0])
	}
	if err == nil && !want.Equal(r.Cards) {
		return message.New("why.move.cards", message.Values{"place": where(r.From), "how": message.New("how."+string(r.Taken), nil), "found": want.String(), "cards": r.Cards.String()})
	}
	if err == nil {
		t.layout, err = t.layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	}
	return err
}

// notAllowed returns the message of an error of a change.
func notAllowed(err error) message.Message {
	short, isShort := errors.AsType[*shoe.ShortError](err)
	switch {
	case isShort:
		return message.New("why.move.few", message.Values{"wanted": short.Want, "there": short.Have})
	case errors.Is(err, shoe.ErrNoPile):
		return message.New("why.move.pile", nil)
	case errors.Is(err, shoe.ErrNotThere):
		return message.New("why.move.absent", nil)
	case errors.Is(err, shoe.ErrTooMany):
		return message.New("why.move.limits", nil)
	}
	return message.Of(err)
}

// reshuffle seals the cards of a place in a new order.
func (t *tracker) reshuffle(f *Result, lying shoe.Cards) (err error) {
	if t.layout, err = t.layout.Shuffle(f.Record.From); err != nil {
		return err
	}
	s := f.sealing()
	s.input, s.cards = t.sealings[0].input, t.sealings[0].cards
	if numbers := t.numbers(lying); numbers != nil && f.orders != nil {
		s.order = make([]uint64, len(numbers))
		for i, at := range f.orders[0] {
			s.order[i] = numbers[at]
		}
	}
	t.seal(s)
	return nil
}

// numbers returns the numbers of cards; nil if any of them is unknown.
func (t *tracker) numbers(cards shoe.Cards) []uint64 {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		order := t.orders[ref.Seal]
		if ref.Position >= uint64(len(order)) {
			return nil
		}
		numbers = append(numbers, order[ref.Position])
	}
	return numbers
}
