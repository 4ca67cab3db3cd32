package prooffile

import (
	"cmp"
	"errors"
	"slices"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/beacon"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
)

// A State is what became of a step.
type State int

// The states of a step.
const (
	OK        State = iota // it holds
	Wrong                  // it does not hold
	Unchecked              // it was asked for or required, and something it takes is missing
	Skipped                // nobody asked for it, or there is nothing of the kind
)

// MarshalJSON writes true, false or, for a step that was not checked, null.
func (s State) MarshalJSON() ([]byte, error) {
	return []byte(cmp.Or(map[State]string{OK: "true", Wrong: "false"}[s], "null")), nil
}

// The steps of a record, in their order. Those from seed to order are [riffle/internal/audit.Verify]'s.
const (
	StepProof      = "proof"
	StepRecord     = "record"
	StepSeed       = "seed"
	StepCommitment = "commitment"
	StepKeys       = "keys"
	StepOrder      = "order"
	StepItems      = "items"
	StepRoot       = "root"
	StepHand       = "hand"
	StepInclusion  = "inclusion"
	StepSignature  = "signature"
	StepWitnesses  = "witnesses"
	StepCommitted  = "committed"

	// Only a whole shoe has these. Chain follows record; moves and closed come last, with root and
	// hand between them.
	StepChain  = "chain"
	StepMoves  = "moves"
	StepClosed = "closed"
)

// stateOfMissing returns the state of a step that lacks something.
func stateOfMissing(isRequired bool) State {
	if isRequired {
		return Unchecked
	}
	return Skipped
}

// A Step is one check of a proof.
type Step struct {
	Name    string          `json:"name"`
	State   State           `json:"ok"`
	Detail  string          `json:"text"`    // the message in English; empty until the verdict is written
	Message message.Message `json:"message"` // what was found; never a seed
}

// newStep returns a step with a message of the table.
func newStep(name string, state State, id string, of message.Values) Step {
	return Step{Name: name, State: state, Message: message.New(id, of)}
}

// Steps are the checks that a verifier made, in the order in which it reports them.
type Steps []Step

// Failed returns the first step that does not hold, or nil.
func (s Steps) Failed() *Step { return s.first(func(step Step) bool { return step.State == Wrong }) }

// Unchecked returns the first step that could not be checked, or nil.
func (s Steps) Unchecked() *Step {
	return s.first(func(step Step) bool { return step.State == Unchecked })
}

// Find returns the step of that name, or nil.
func (s Steps) Find(name string) *Step {
	return s.first(func(step Step) bool { return step.Name == name })
}

// Has reports whether the step of that name is in the state.
func (s Steps) Has(name string, state State) bool {
	step := s.Find(name)
	return step != nil && step.State == state
}

func (s Steps) first(isWanted func(Step) bool) *Step {
	if i := slices.IndexFunc(s, isWanted); i >= 0 {
		return &s[i]
	}
	return nil
}

// add appends a step.
func (s *Steps) add(name string, state State, id string, of message.Values) {
	s.say(name, state, message.New(id, of))
}

func (s *Steps) say(name string, state State, m message.Message) {
	*s = append(*s, Step{Name: name, State: state, Message: m})
}

// report appends a step that holds, with a message. With an error it does not, or could not be
// checked: what was given is no proof file, or of a kind that is not known here.
func (s *Steps) report(name string, err error, id string, of message.Values) {
	switch {
	case err == nil:
		s.add(name, OK, id, of)
	case errors.Is(err, ErrNoFile) || errors.Is(err, audit.ErrUnknownKind) || errors.Is(err, beacon.ErrUnknown):
		s.say(name, Unchecked, message.Of(err))
	default:
		s.reject(name, err)
	}
}

// reject appends a step that does not hold.
func (s *Steps) reject(name string, err error) { s.say(name, Wrong, message.Of(err)) }

// A Result has the findings of a verifier: the steps of one file, or of several files together. Its
// methods called check add steps of what they check; those called add, steps of the files or of
// what they lack.
type Result struct {
	Steps
	File   *File         // the first file, nil if it is unread
	Record *audit.Record // its record; nil if it could not be read, or is of a kind that is not known here

	Changes int         // how often the shoe was changed
	Closed  bool        // the last record closes the shoe
	Proven  int         // how many cards of the hand are proven
	Others  int         // how many are not
	Missing []uuid.UUID // the records that those name as sealed_by and that were not given

	given      *Given
	seed       rng.Seed // of the file or, if that has none, of the answer; nil if it is held back
	key        note.Verifier
	checkpoint *note.Note       // its signatures are not verified
	tree       proof.Checkpoint // what it says
	orders     [][]uint64       // the replayed positions; nil if they are unknown
	cards      *cards           // of a shoe's first record; nil if they are unknown
	match      *Match           // what the order given is; nil if it was not compared or does not match
	cost       audit.CostError  // of a replay that takes too long; 0 for others
	beacon     beacon.Round     // whose signature is the client seed; 0 for none
	cosigned   bool             // enough witnesses cosigned the commitment before that round

	files []*Result // of a shoe: what each of them shows alone
	held  int       // of how many of these the seed is held back
}

// VerifyRecord verifies the proof file of one record: of a shuffle, or of any other kind. It adds
// the steps of docs/spec.md, "Proof file". If the file can be parsed, it checks inclusion and
// signature even after an earlier step fails and, if its record can, the commitment.
func VerifyRecord(text []byte, given *Given) *Result {
	r := checkFile(text, given, true)
	r.checkCommitted()
	return r
}

// checkFile checks one file, without the commitment that its record used, and replays its order
// only if isReplayed.
func checkFile(text []byte, given *Given, isReplayed bool) *Result {
	r := &Result{given: given}
	if !r.checkProof(text) {
		return r
	}
	if r.checkRecord() && isReplayed {
		r.checkReplay()
		r.checkHandAlone()
	}
	r.checkInclusion()
	r.report(StepSignature, r.signed(), "signature", message.Values{"log": r.key.Name()})
	r.checkWitnesses()
	return r
}

// checkFiles checks every file of a shoe alone. If no key is given, all have to have the key of the
// first.
func checkFiles(texts [][]byte, given *Given) *Result {
	all := &Result{given: given, Changes: len(texts) - 1}
	alone := Given{Key: given.Key, Policy: given.Policy, Decks: given.Decks, Items: given.Items, ItemsSalt: given.ItemsSalt, Order: given.Order}
	for _, text := range texts {
		r := checkFile(text, &alone, true)
		all.files = append(all.files, r)
		if r.HeldBack() {
			all.held++
		}
		alone.Items, alone.ItemsSalt, alone.Order = nil, "", nil
		if alone.Key == "" && r.File != nil {
			alone.Key = r.File.LogKey
		}
	}
	first := all.files[0]
	all.File, all.Record, all.match = first.File, first.Record, first.match
	return all
}

// HeldBack reports whether an order follows from a record and its seed, and neither the file nor
// the answer that was compared has the seed.
func (r *Result) HeldBack() bool { return r.Record != nil && r.Record.Deals() && r.seed == nil }
