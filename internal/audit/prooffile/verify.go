package prooffile

import (
	"errors"
	"maps"
	"slices"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/deck"
)

// Findings are the verdicts on all proofs. Their own is the worst of them, or the only one.
type Findings struct {
	Conclusion
	Files  []FileRole `json:"files"`
	Proofs []Group    `json:"proofs"`
}

// A FileRole is the role that a text has in the end.
type FileRole struct {
	Name    string `json:"name"`
	Role    Role   `json:"role"`
	Hand    *Part  `json:"hand,omitempty"`    // of a hand of a deal: which it is
	Shuffle uint64 `json:"shuffle,omitempty"` // and the number of its shuffle, from 1, if there are several
}

// A Group is the verdict on proofs that are checked together.
type Group struct {
	Files []string `json:"files"`
	Conclusion
}

// Options say how texts are compared.
type Options struct {
	HandOf   string          // the number of a hand, or rest, that the order is said to be; empty if that is not said
	AnyOrder bool            // the hands and the rest of a deal may be sorted
	Decks    *deck.Catalogue // the decks whose cards are known
}

// Verify verifies what it is given, by docs/spec.md, "Texts for a verifier": it sorts the texts
// without a role, puts together what belongs together, and compares it.
func Verify(texts []Text, options Options) *Findings {
	found, err := verify(texts, options)
	if err == nil {
		return found
	}
	refused := Refused(err)
	others, isAlone := withoutRefused(texts, refused)
	if len(others) == len(texts) && (isAlone || options.HandOf == "") {
		return refused
	}
	if !isAlone {
		options.HandOf = ""
	}
	// What was not refused is false whatever is wrong with the others, and proves nothing without
	// them.
	if rest := Verify(others, options); rest.Verdict == VerdictFalse {
		rest.Messages = append(rest.Messages, refused.Messages[0])
		rest.write()
		return rest
	}
	return refused
}

// verify is [Verify] without what follows a refusal, which is its error.
func verify(texts []Text, options Options) (*Findings, error) {
	s, err := readTexts(texts)
	if err != nil {
		return nil, err
	}
	s.given.Decks, s.given.AnyOrder = options.Decks, options.AnyOrder
	s.group()
	err = s.findItems()
	if err == nil {
		err = s.readHandOf(options.HandOf)
	}
	if err == nil {
		err = s.checkAll()
	}
	if err != nil {
		return nil, err
	}
	return s.findings(), nil
}

// Refused returns the findings for texts that were refused unchecked.
func Refused(err error) *Findings {
	r := &refusal{why: "unreadable", names: []string{}}
	errors.As(err, &r)
	f := &Findings{Conclusion{Steps: Steps{}, of: message.Values{"reason": message.Of(err)}}, []FileRole{}, []Group{}}
	f.decide(VerdictUnchecked, summary{"id": "refused", "why": r.why, "files": r.names}, "refused", "")
	f.write()
	return f
}

// withoutRefused leaves out a text that is refused by itself or, where texts are refused together,
// all but the proofs and the only key. isAlone says which.
func withoutRefused(texts []Text, refused *Findings) (others []Text, isAlone bool) {
	names := refused.Summary["files"].([]string)
	if why := refused.Summary["why"]; len(names) > 0 && (why == "unreadable" || why == "unknown" || why == "private-key") {
		return slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return slices.Contains(names, t.Name) }), true
	}
	keys := map[string]Text{}
	for _, t := range texts {
		switch role, err := t.findRole(); {
		case err != nil:
		case role == RoleProof:
			others = append(others, t)
		case role == RoleKey:
			keys[string(trim(t.Content))] = t
		}
	}
	if len(keys) == 1 {
		others = slices.AppendSeq(others, maps.Values(keys))
	}
	return others, false
}

// readHandOf reads which hand the order is said to be, if that is said.
func (s *sorting) readHandOf(text string) error {
	if text == "" {
		return nil
	}
	part, err := ParsePart(text)
	if err == nil && s.order == nil {
		err = refuse("no-order", "why.given.no-order", message.Values{"part": part.message()})
	}
	s.given.HandOf = &part
	return err
}

// checkAll checks every group. The order is compared with the groups that it may be of; if they are
// several, it counts for those that it matches.
func (s *sorting) checkAll() error {
	candidates, matches := s.candidates(), 0
	for _, g := range s.groups {
		isCandidate := slices.Contains(candidates, g)
		if isCandidate {
			g.order, g.given.Order, g.given.HandOf = s.order, s.given.Order, s.given.HandOf
		}
		if g.check(); g.match != nil {
			matches++
		} else if isCandidate && len(candidates) > 1 {
			g.order, g.given.Order = nil, nil
			g.check()
		}
	}
	if len(candidates) > 1 && matches == 0 {
		return refuse("none", "why.given.none", message.Values{"name": s.order.Name}, s.order.Name)
	}
	return nil
}

// candidates returns the groups that the order may be of: those with a record that deals or cannot
// be read, if there are any, and of these the one that it names by an audit_id, if that is there.
func (s *sorting) candidates() []*group {
	if s.order == nil {
		return nil
	}
	kept := having(s.groups, func(p *proofText) bool { return !p.isRead() || p.record.Deals() })
	return having(kept, func(p *proofText) bool { return p.isRead() && s.given.Order.text("audit_id") == p.record.ID.String() })
}

// having returns the groups that have a proof that is so, or all if none has.
func having(groups []*group, isSo func(p *proofText) bool) []*group {
	if fewer := slices.DeleteFunc(slices.Clone(groups), func(g *group) bool { return !g.has(isSo) }); len(fewer) > 0 {
		return fewer
	}
	return groups
}

// check picks the verifier: for one record, for a hand, or for a whole shoe.
func (g *group) check() {
	var texts [][]byte
	seals := true
	for _, p := range g.proofs {
		texts, seals = append(texts, p.text), seals && p.record.Seals()
	}
	var r *Result
	say := (*Conclusion).sayOfRecord
	switch {
	case g.given.Hand != nil && (len(texts) == 1 || seals):
		r, say = VerifyHand(texts, &g.given), (*Conclusion).sayOfHand
	case len(texts) > 1:
		r, say = VerifyShoe(texts, &g.given), (*Conclusion).sayOfShoe
	default:
		r = VerifyRecord(texts[0], &g.given)
	}
	g.Conclusion, g.match = conclude(r, say), r.match
}

// findings sums up the verdicts on the groups.
func (s *sorting) findings() *Findings {
	f := &Findings{Conclusion: Conclusion{Notes: []string{}}}
	counts := map[Verdict]int{}
	others := slices.DeleteFunc(slices.Clone(s.groups), func(g *group) bool { return !g.isKind(audit.KindCommitment) && !g.isKind(audit.KindVoid) })
	for _, g := range s.groups {
		g.noteCompared(s.only[RoleHand])
		g.noteCommitments(others)
		g.write()
		f.Proofs = append(f.Proofs, g.Group)
		f.Steps = append(f.Steps, g.Steps...)
		counts[g.Verdict]++
	}
	verified, wrong, open := counts[VerdictVerified], counts[VerdictFalse], counts[VerdictUnchecked]
	verdict := VerdictVerified
	switch {
	case wrong > 0:
		verdict = VerdictFalse
	case open > 0:
		verdict = VerdictUnchecked
	}
	f.of = message.Values{"proofs": len(s.groups), "verified": verified, "false": wrong, "unchecked": open}
	f.decide(verdict, summary{"id": "several", "verified": verified, "false": wrong, "unchecked": open}, "several", "")
	if main := slices.DeleteFunc(slices.Clone(s.groups), s.isBeside); len(main) == 1 {
		f.Messages, f.Summary = slices.Clone(main[0].Messages), main[0].Summary
	}
	f.write()
	for _, in := range s.inputs {
		f.Files = append(f.Files, in.shown)
	}
	return f
}

// isBeside reports whether a group verifies and only goes with another: it is a commitment where a
// record names another one, or the void of a commitment.
func (s *sorting) isBeside(g *group) bool {
	isOther := g.isKind(audit.KindCommitment) && slices.ContainsFunc(s.groups, func(other *group) bool { return other.isLacking })
	return g.Verdict == VerdictVerified && (isOther || slices.ContainsFunc(s.groups, g.isVoidOf))
}

func (g *group) first() *audit.Record { return &g.proofs[0].record }

// isKind reports whether the group is one record of a kind.
func (g *group) isKind(kind audit.Kind) bool { return len(g.proofs) == 1 && g.first().Kind == kind }

// isVoidOf reports whether the group is the void record of the other, which is a commitment.
func (g *group) isVoidOf(other *group) bool {
	void, made := g.first(), other.first()
	return g.isKind(audit.KindVoid) && other.isKind(audit.KindCommitment) && void.CommitmentID == made.ID && void.Count == made.Count && void.Commitment == made.Commitment
}

// noteCompared says which of the texts that were sorted were compared with the group.
func (g *group) noteCompared(hand *input) {
	var list []any
	id := "compared.first"
	add := func(in *input, what message.Message) {
		if in != nil && in.Role == "" {
			list, id = append(list, message.New(id, message.Values{"name": in.Name, "what": what})), "compared"
		}
	}
	order := message.New("compared.order", nil)
	if g.order != nil && g.match != nil && len(g.match.Parts) == 1 {
		g.order.shown.Role, g.order.shown.Hand, g.order.shown.Shuffle = roleHandOf, &g.match.Parts[0], g.match.Shuffle
		order = g.match.Parts[0].message()
	}
	add(g.order, order)
	add(g.items, message.New("compared.items", nil))
	if g.given.Hand != nil {
		add(hand, message.New("compared.hand", nil))
	}
	if len(list) > 0 {
		g.of["list"] = list
		g.note("note.compared")
	}
}

// noteCommitments says of the commitments and voids beside a group that they are other commitments,
// or that this one is void.
func (g *group) noteCommitments(others []*group) {
	for _, other := range others {
		record := other.first()
		switch isVoid := other.isVoidOf(g) && other.Verdict == VerdictVerified; {
		case g.isLacking && record.Kind == audit.KindCommitment:
			g.sayOfOtherCommitment(record.ID)
		case isVoid:
			g.of["time"], g.of["round"] = record.Time.Format(audit.TimeFormat), record.Round
			id := "note.void"
			if record.Round > 0 {
				id = "note.void.book"
			}
			g.note(id)
		}
	}
}
