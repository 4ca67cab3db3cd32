package prooffile

import (
	"cmp"
	"encoding/base64"
	"errors"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/beacon"
	"riffle/internal/deck"
	"riffle/internal/ledger/proof"
)

// Given holds the texts that a proof is checked against. A missing one is not checked.
type Given struct {
	Key       string          // the verifier key of the log; if empty, the policy says it, or the file
	Policy    *proof.Policy   // the logs and witnesses that are trusted
	Items     *Items          // what was shuffled
	ItemsSalt string          // the salt of the items; empty for none
	Order     *Order          // what was answered or dealt, or a hand of it
	HandOf    *Part           // which hand of the deal that is; nil for any
	Hand      Hand            // cards that were drawn from a shoe
	Decks     *deck.Catalogue // the decks whose cards are known
}

func (g *Given) hasLogs() bool { return g.Policy != nil && len(g.Policy.Logs) > 0 }

// hasKey reports whether the log of a file must be one that was given.
func (g *Given) hasKey() bool { return g.Key != "" || g.hasLogs() }

// checkProof parses the file and compares its log key with the one given. It reports whether there
// is anything to check.
func (r *Result) checkProof(text []byte) bool {
	trust, err := "proof.key", r.read(text)
	switch key := r.given.Key; {
	case !r.given.hasKey():
		trust = "proof.no-key"
	case err == nil:
		err = cmp.Or(
			message.Rule(key == "" || key == r.File.LogKey, "why.file.key", message.Values{"has": r.File.LogKey, "given": key}),
			message.Rule(!r.given.hasLogs() || slices.Contains(r.given.Policy.Logs, r.File.LogKey), "why.file.policy", message.Values{"has": r.File.LogKey}),
		)
	}
	if err != nil {
		r.File = nil
	}
	r.report(StepProof, err, trust, nil)
	return err == nil
}

// read parses the file, its key and its checkpoint. It verifies no signature.
func (r *Result) read(text []byte) (err error) {
	if r.File, err = Parse(text); err != nil {
		return err
	}
	if r.key, err = Verifier(r.File.LogKey); err != nil {
		return err
	}
	if r.checkpoint = proof.Unverified(r.File.Inclusion.Checkpoint); r.checkpoint.Text == "" {
		return message.New("why.file.tlog", nil)
	}
	r.tree, err = proof.ParseCheckpoint(r.checkpoint.Text)
	for _, s := range r.checkpoint.UnverifiedSigs {
		if _, bad := base64.StdEncoding.Strict().DecodeString(s.Base64); err == nil {
			err = bad
		}
	}
	return message.Rule(err == nil && r.tree.Size > 0, "why.file.tlog", nil)
}

// checkRecord parses the record and compares it with the file. It reports whether the record can be
// checked any further.
func (r *Result) checkRecord() bool {
	record, err := audit.ParseRecord(r.File.Record)
	if err == nil {
		err = cmp.Or(
			message.Rule(r.File.ClientSeed == record.ClientSeed, "why.record.client-seed", nil),
			message.Rule(record.Deals() || r.File.Seed == nil, "why.record.seed", message.Values{"kind": string(record.Kind)}),
		)
	}
	if err != nil {
		r.report(StepRecord, err, "", nil)
		return false
	}
	text, _ := describe(record)
	r.Record = record
	r.say(StepRecord, OK, text)
	return true
}

// checkInclusion checks that the record is in the tree of the checkpoint.
func (r *Result) checkInclusion() {
	p, tree := r.File.Inclusion, r.tree
	of := message.Values{"index": p.Index, "size": tree.Size}
	r.report(StepInclusion, cmp.Or(
		message.Rule(p.Index < tree.Size, "why.index", of),
		message.Rule(p.Leads(r.File.Record, tree), "why.path", nil),
	), "inclusion", of)
}

// checkWitnesses checks that enough witnesses of the policy cosigned the checkpoint.
func (r *Result) checkWitnesses() {
	policy := r.given.Policy
	if policy == nil || policy.NeedsNobody() {
		return
	}
	by, suffice, err := policy.Cosignatures(r.checkpoint)
	if err != nil {
		r.reject(StepWitnesses, err)
		return
	}
	state, id, of := OK, "witnesses", message.Values{"by": len(by), "all": len(policy.Witnesses)}
	if !suffice {
		state, id = Unchecked, "witnesses.few"
	}
	if len(by) > 0 {
		of["names"] = message.List(by)
	}
	r.add(StepWitnesses, state, id, of)
}

// checkCommitted checks that an earlier commitment in the same log fixed the order of a shuffle, or
// of those records of a shoe that name one, except for the client seed. Only a beacon shows who knew
// that when.
func (r *Result) checkCommitted() {
	files := r.files
	if files == nil {
		files = []*Result{r}
	}
	var each Steps // of the records: the worst counts
	for _, f := range files {
		if f.Record == nil || !f.Record.UsesCommitment() && f.File.Commitment == nil {
			continue
		}
		of := message.Values{"id": f.Record.CommitmentID.String()}
		if f.File.Commitment == nil {
			each.add(StepCommitted, Skipped, "committed.missing", of)
			r.beacon = 0
			continue
		}
		round, cosigned, err := f.checkCommitment(of)
		if round > 0 {
			of["beacon"], of["time"] = round.String(), round.Time().Format(audit.TimeFormat)
		}
		isFirst := each == nil
		each.report(StepCommitted, err, "committed", of)
		if !isFirst && round != r.beacon {
			round = 0 // nothing is said of beacons unless all are the same
		}
		r.beacon, r.cosigned = round, cosigned && (isFirst || r.cosigned)
	}
	if each != nil {
		r.Steps = append(r.Steps, *cmp.Or(each.Failed(), each.Unchecked(), each.first(func(step Step) bool { return step.State == Skipped }), &each[0]))
	}
}

// checkCommitment checks that the file has the proof of the commitment that the record used. It
// returns the round of the commitment's beacon, 0 for none, and whether enough witnesses cosigned
// it before then. It adds the players to the values of the step's message.
func (r *Result) checkCommitment(of message.Values) (round beacon.Round, cosigned bool, err error) {
	proof := r.File.Commitment
	if !r.Record.UsesCommitment() {
		return 0, false, message.New("why.commitment.none", nil)
	}
	if _, err := Parse(proof); errors.Is(err, ErrNoFile) {
		return 0, false, message.New("why.commitment.unread", message.Values{"what": message.Of(err)}).Because(err)
	}
	commitment := checkFile(proof, &Given{Key: r.File.LogKey}, false)
	if commitment.File != nil && commitment.File.Commitment != nil {
		return 0, false, message.New("why.commitment.proof", message.Values{"step": StepProof, "what": message.New("why.file.members", nil)})
	}
	if failed := commitment.Failed(); failed != nil {
		return 0, false, message.New("why.commitment.proof", message.Values{"step": failed.Name, "what": failed.Message})
	}
	if commitment.Record == nil {
		return 0, false, message.New("why.commitment.kind", nil)
	}
	of["players"] = valuesOf(commitment.Record)["players"]
	index, used := commitment.File.Inclusion.Index, r.File.Inclusion.Index
	round, isKnown := beacon.Parse(commitment.Record.Beacon)
	if isKnown { // otherwise CheckCommitted says what is wrong
		cosigned = r.given.Policy.SufficeBefore(round.Time(), commitment.checkpoint)
	}
	return round, cosigned, cmp.Or(
		message.Rule(index < used, "why.commitment.later", message.Values{"index": index, "used": used}),
		r.Record.CheckCommitted(commitment.Record),
	)
}

// Verifier parses the verifier key of a log, <name>+<key hash>+<key>. Unlike [note.NewVerifier] it
// accepts only the one canonical text of a key.
func Verifier(text string) (note.Verifier, error) {
	verifier, err := note.NewVerifier(text)
	if err == nil { // it has three parts, perhaps with capitals, unused bits or line ends
		parts := strings.SplitN(text, "+", 3)
		key, _ := base64.StdEncoding.DecodeString(parts[2])
		canonical, _ := note.NewEd25519VerifierKey(parts[0], key[1:])
		err = message.Rule(text == canonical && !strings.ContainsFunc(text, unicode.IsControl), "why.key", nil)
	}
	return verifier, message.Rule(err == nil, "why.key", nil)
}

// signed checks that the key signed the checkpoint, for the log of its name. The key must verify
// every line of its name and hash, so that none of them can be changed.
func (r *Result) signed() error {
	key, isSigned := r.key, false
	if r.tree.Origin != key.Name() {
		return message.New("why.origin", message.Values{"origin": r.tree.Origin, "log": key.Name()})
	}
	for _, s := range r.checkpoint.UnverifiedSigs {
		if s.Name != key.Name() || s.Hash != key.KeyHash() {
			continue
		}
		const hash = 4 // bytes before the signature
		signature, err := base64.StdEncoding.DecodeString(s.Base64)
		if err != nil || !key.Verify([]byte(r.checkpoint.Text), signature[hash:]) {
			return message.New("why.signature", nil)
		}
		isSigned = true
	}
	return message.Rule(isSigned, "why.unsigned", message.Values{"log": key.Name()})
}
