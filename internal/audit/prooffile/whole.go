package prooffile

import (
	"bytes"
	"fmt"
	"strings"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// Sealed reports whether every root in the records of a whole shoe was found to be that of its cards, and there is one.
func (r *Result) Sealed() bool {
	s := r.named(StepRoot)
	return s != nil && s.State == OK
}

// Lines divides the text of several proof files, one to a line, as GET /shoes/{id}/proof answers them.
func Lines(text []byte) [][]byte {
	lines := bytes.SplitAfter(text, []byte{'\n'})
	if last := len(lines) - 1; last > 0 && len(lines[last]) == 0 {
		lines = lines[:last]
	}
	return lines
}

// A follower follows a shoe from its first record to its last.
type follower struct {
	*Result
	files    []*Result
	layout   *shoe.Layout
	sealings map[uint64]*sealing
	list     []*sealing // in the order in which they were made

	held     int   // how many seeds are held back
	rootless error // the first root that is not that of its cards
	roots    int   // how many are
	unknown  int   // how many sealings there are of which the cards, or their order, are not known
	random   int   // how many draws at random were not replayed
}

// CheckShoe goes through the steps of the specification for a whole shoe. Each text is the proof file of one of its records, from
// the first to the last. All that one file shows is told for all together.
func CheckShoe(texts [][]byte, given *Given) *Result {
	f := &follower{Result: &Result{Whole: true, Changes: len(texts) - 1}, sealings: map[uint64]*sealing{}}
	if len(texts) == 0 {
		f.note(StepProof, Wrong, "there are no proof files")
		return f.Result
	}
	key := given.Key
	for i, text := range texts {
		own := &Given{Decks: given.Decks}
		if i == 0 {
			own.Items = given.Items
		}
		file := &Result{}
		file.entry(text, key, func() { file.shuffle(own) })
		if file.File != nil && key == "" {
			key = file.File.LogKey
		}
		f.files = append(f.files, file)
	}
	f.tell(given)
	return f.Result
}

// tell notes the steps.
func (f *follower) tell(given *Given) {
	first := f.files[0]
	f.File, f.Record = first.File, first.Record
	trust := "all have the log key that was given"
	if given.Key == "" {
		trust = "no log key was given: the one in the first is used"
	}
	f.merge(StepProof, "%d file(s) are well-formed; %s", len(f.files), trust)
	if f.Failed() == nil {
		f.records()
	}
	f.seeds()
	for _, name := range []string{"commitment", "keys", StepOrder} {
		f.replayed(name, given)
	}
	if s := first.named(StepItems); s != nil {
		f.Steps = append(f.Steps, *s)
	}
	f.merge(StepInclusion, "every record is in the tree of its file")
	f.merge(StepSignature, "every checkpoint is signed with the key")
	if f.Record != nil {
		first.committed(given)
		if s := first.named(StepCommitted); s != nil {
			f.Steps = append(f.Steps, *s)
		}
	}
	if f.Failed() != nil || f.undone(StepRecord) {
		return
	}
	if f.follow(); f.Failed() != nil {
		return
	}
	f.root()
	if given.Hand != nil {
		f.hand(given.Hand, f.list, true)
	}
	f.closed(given)
}

// named returns the step of that name, if there is one.
func (r *Result) named(name string) *Step {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			return &r.Steps[i]
		}
	}
	return nil
}

func (r *Result) undone(name string) bool {
	s := r.named(name)
	return s == nil || s.State != OK
}

// merge notes a step that all files go through: the first that does not hold, or else what all of them come to.
func (f *follower) merge(name, format string, args ...any) {
	for _, state := range []State{Wrong, Unchecked} {
		for i, file := range f.files {
			if s := file.named(name); s != nil && s.State == state {
				f.note(name, state, "file %d, from 1: %s", i+1, s.Detail)
				return
			}
		}
	}
	for _, file := range f.files {
		if file.named(name) != nil {
			f.note(name, OK, format, args...)
			return
		}
	}
}

// records notes what the records are, and whether each follows the one before.
func (f *follower) records() {
	what := ""
	if f.Record != nil {
		what = describe(f.Record)
	}
	f.merge(StepRecord, "%s; %d change(s)", what, f.Changes)
	if f.undone(StepRecord) {
		return
	}
	last := f.files[len(f.files)-1]
	f.Closed = last.Record.Kind == audit.KindClose
	f.step(StepChain, f.chain(), "each of the versions 1 to %d has its record, in the order of the log, from number %d to number %d", len(f.files), f.File.Inclusion.Index, last.File.Inclusion.Index)
}

// chain returns an error unless the records are those of one shoe, from the first on.
func (f *follower) chain() error {
	if f.Record.Kind != audit.KindShoe {
		return fmt.Errorf("the first record is of kind %s, and that of a shoe has to be", f.Record.Kind)
	}
	for i, file := range f.files[1:] {
		r, before := file.Record, f.files[i]
		version := uint64(i + 2)
		switch {
		case !r.Kind.ChangesShoe():
			return fmt.Errorf("the record %s is of kind %s, and changes no shoe", r.ID, r.Kind)
		case r.AuditID != f.Record.ID:
			return fmt.Errorf("the record %s is of another shoe, %s", r.ID, r.AuditID)
		case r.Version != version:
			return fmt.Errorf("the record %s made version %d, where version %d has to follow", r.ID, r.Version, version)
		case file.File.Inclusion.Index <= before.File.Inclusion.Index:
			return fmt.Errorf("version %d is number %d in the log, from 0, and so not after the one before, which is number %d", version, file.File.Inclusion.Index, before.File.Inclusion.Index)
		case !r.States() && r.Commitment != f.Record.Commitment:
			return fmt.Errorf("version %d has not the commitment of the shoe", version)
		case before.Record.Kind == audit.KindClose:
			return fmt.Errorf("version %d follows the close of the shoe", version)
		case before.Record.Kind == audit.KindExpire && r.Kind != audit.KindClose:
			return fmt.Errorf("version %d is a %s, and the shoe was over", version, r.Kind)
		}
	}
	return nil
}

// seeds notes how many seeds there are.
func (f *follower) seeds() {
	there, warning := 0, ""
	for _, file := range f.files {
		if file.HeldBack() {
			f.held++
		}
		s := file.named("seed")
		if s == nil || s.State != OK {
			continue
		}
		there++
		if warning == "" && strings.Contains(s.Detail, "warning") {
			warning = ": " + s.Detail
		}
	}
	switch {
	case there+f.held == 0:
	case there == 0:
		f.note("seed", Skipped, "%s", f.heldBack())
	default:
		f.note("seed", OK, "%d seed(s)%s%s", there, warning, f.butHeld())
	}
}

func (f *follower) heldBack() string {
	if f.Closed {
		return fmt.Sprintf("%d seed(s) are held back in these files, and public since the shoe was closed: get the files again", f.held)
	}
	return fmt.Sprintf("%d seed(s) are held back until the shoe is closed", f.held)
}

func (f *follower) butHeld() string {
	if f.held == 0 {
		return ""
	}
	return "; " + f.heldBack()
}

// replayed notes a step that every file with a seed goes through.
func (f *follower) replayed(name string, given *Given) {
	done := 0
	for _, file := range f.files {
		s := file.named(name)
		if s != nil && s.State == Wrong {
			f.merge(name, "")
			return
		}
		if s != nil && s.State == OK {
			done++
		}
	}
	state := OK
	switch {
	case done+f.held == 0:
		return
	case name == StepOrder && given.Order != nil:
		f.note(name, Unchecked, "an order can be compared with that of one record, and not with a whole shoe")
		return
	case name == StepOrder && f.held > 0 && given.Hand == nil:
		state = Unchecked
	case done == 0:
		state = Skipped
	case name == StepOrder && f.held > 0:
		state = Skipped
	}
	words := map[string]string{
		"commitment": "%d seed(s) open the commitments in their records%s", "keys": "those of %d order(s) derived%s", StepOrder: "%d order(s) replayed%s",
	}
	f.note(name, state, words[name], done, f.butHeld())
}

// follow notes whether every change is one that the rules allow, of the cards that lay there.
func (f *follower) follow() {
	s := &f.Record.Statement
	f.layout = shoe.New(s.Size, s.Draw > 0)
	begun := f.files[0].sealing()
	f.add(begun, f.files[0])
	for i, file := range f.files[1:] {
		if err := f.change(file); err != nil {
			f.step(StepMoves, fmt.Errorf("version %d: %w", i+2, err), "")
			return
		}
	}
	detail := fmt.Sprintf("every change was of cards that lay where it says; %d lie in the deck, %d are dealt, and there are %d pile(s)", f.layout.Deck.Len(), f.layout.Dealt.Len(), len(f.layout.Piles))
	if f.random > 0 {
		f.note(StepMoves, Unchecked, "%s; but %d draw(s) at random have no seed", detail, f.random)
		return
	}
	f.note(StepMoves, OK, "%s", detail)
}

// add notes a sealing, and compares its root if all is known that it takes.
func (f *follower) add(s *sealing, file *Result) {
	f.sealings[f.layout.Version] = s
	f.list = append(f.list, s)
	switch {
	case s.record.Root == nil:
	case s.text == nil || s.order == nil || file.File.Seed == nil:
		f.unknown++
	default:
		f.roots++
		if err := sealedAs(file, s.order, s.text); err != nil && f.rootless == nil {
			f.rootless = fmt.Errorf("version %d: %w", f.layout.Version, err)
		}
	}
}

// change has the layout be that after a change.
func (f *follower) change(file *Result) (err error) {
	r := file.Record
	switch r.Kind {
	case audit.KindClose, audit.KindExpire:
		f.layout = f.layout.End()
		return nil
	case audit.KindReshuffle:
		return f.reshuffle(file)
	default: // cards were moved
	}
	switch r.Taken {
	case shoe.Top, shoe.Bottom:
		err = f.isTaken(r)
	case shoe.Random:
		err = f.isDrawn(file)
	case shoe.Named: // whatever lies there: Apply looks for it
	}
	if err != nil {
		return err
	}
	f.layout, err = f.layout.Apply(&shoe.Move{From: r.From, Cards: r.Cards, To: r.To, Put: r.Put})
	return err
}

// isTaken returns an error unless the cards of a record are those at the end that it names.
func (f *follower) isTaken(r *audit.Record) error {
	want, err := f.layout.Take(r.From, r.Taken, r.Cards.Len())
	if err == nil && !want.Equal(r.Cards) {
		err = fmt.Errorf("the cards at the %s of %s were %s, and the record says %s", r.Taken, where(r.From), want, r.Cards)
	}
	return err
}

// isDrawn returns an error unless the cards of a record are those that its seed draws.
func (f *follower) isDrawn(file *Result) error {
	r := file.Record
	lying, err := f.layout.At(r.From)
	if err != nil {
		return err
	}
	if lying.Len() != r.Statement.Size {
		return fmt.Errorf("it draws from %d cards, and %d lay in %s", r.Statement.Size, lying.Len(), where(r.From))
	}
	if file.orders == nil {
		f.random++
		return nil
	}
	want, err := f.layout.Pick(r.From, file.orders[0])
	if err == nil && !want.Equal(r.Cards) {
		err = fmt.Errorf("the seed draws %s, and the record says %s", want, r.Cards)
	}
	return err
}

// reshuffle has the layout be that after cards were sealed in a new order, which is known if the one before is.
func (f *follower) reshuffle(file *Result) error {
	r := file.Record
	lying, err := f.layout.At(r.From)
	if err != nil {
		return err
	}
	if lying.Len() != r.Statement.Size {
		return fmt.Errorf("it seals %d cards, and %d lay in %s", r.Statement.Size, lying.Len(), where(r.From))
	}
	if f.layout, err = f.layout.Shuffle(r.From); err != nil {
		return err
	}
	s := file.sealing()
	s.ofCodes, s.text = f.list[0].ofCodes, f.list[0].text
	if numbers := f.numbers(lying); numbers != nil && file.orders != nil {
		s.order = make([]uint64, len(numbers))
		for i, at := range file.orders[0] {
			s.order[i] = numbers[at]
		}
	}
	f.add(s, file)
	return nil
}

// numbers returns the numbers of cards, or nil if not all are known.
func (f *follower) numbers(cards shoe.Cards) []uint64 {
	numbers := make([]uint64, 0, cards.Len())
	for ref := range cards.All() {
		s := f.sealings[ref.Seal]
		if s == nil || ref.Position >= uint64(len(s.order)) {
			return nil
		}
		numbers = append(numbers, s.order[ref.Position])
	}
	return numbers
}

// root notes whether every root is that of the cards in their order.
func (f *follower) root() {
	switch {
	case f.rootless != nil:
		f.step(StepRoot, f.rootless, "")
	case f.roots+f.unknown == 0:
		f.note(StepRoot, Skipped, "nothing was sealed")
	case f.unknown == 0:
		f.note(StepRoot, OK, "salts from the seeds and the cards in their orders have the roots in %d record(s)", f.roots)
	case f.held > 0:
		f.note(StepRoot, Skipped, "%s", f.heldBack())
	default:
		f.note(StepRoot, Skipped, "the cards are not known, for the items were not given")
	}
}

// closed notes whether the shoe was closed.
func (f *follower) closed(given *Given) {
	if f.Closed {
		f.note(StepClosed, OK, "the last record closes the shoe")
		return
	}
	state := Unchecked
	if given.Hand != nil { // which was to be checked
		state = Skipped
	}
	f.note(StepClosed, state, "the last record does not close the shoe: what was not seen stays hidden until it is closed, and more changes may follow")
}
