package prooffile

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"riffle/internal/audit"
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
	Digest  string `json:"-"`                 // SHA-256 of the text
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
	if rest := Verify(others, options); rest.Verdict == VerdictFalse { // whatever is wrong with the others
		rest.Notes = append(rest.Notes, refused.Headline)
		return rest
	}
	return refused
}

// verify is [Verify] for texts that are not refused.
func verify(texts []Text, options Options) (*Findings, error) {
	s, err := readTexts(texts)
	if err != nil {
		return nil, err
	}
	s.given.Decks, s.given.AnyOrder = options.Decks, options.AnyOrder
	s.group()
	if err := s.findItems(); err != nil {
		return nil, err
	}
	handOf, err := s.readHandOf(options.HandOf)
	if err != nil {
		return nil, err
	}
	if err := s.checkAll(handOf); err != nil {
		return nil, err
	}
	return s.findings(), nil
}

// Refused returns the findings for texts that were refused unchecked.
func Refused(err error) *Findings {
	f := &Findings{Files: []FileRole{}, Proofs: []Group{}}
	r := &refusal{why: "unreadable", names: []string{}}
	errors.As(err, &r)
	f.Conclusion = Conclusion{
		Verdict: VerdictUnchecked, Headline: "Not checked: " + err.Error() + ".", Notes: []string{}, Steps: []ShownStep{},
		Summary: summary{"id": "refused", "why": r.why, "files": r.names},
	}
	f.clean()
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

// readHandOf reads which hand the order is said to be; nil if that is not said.
func (s *sorting) readHandOf(text string) (*Part, error) {
	if text == "" {
		return nil, nil
	}
	part, err := ParsePart(text)
	if err == nil && s.order == nil {
		err = refuse("no-order", fmt.Sprintf("there is nothing to compare with %s: give the cards of that hand as well", part))
	}
	return &part, err
}

// checkAll checks every group. The order is compared with the groups that it may be of; if they are
// several, it counts for those that it matches.
func (s *sorting) checkAll(handOf *Part) error {
	candidates, matches := s.candidates(), 0
	for _, g := range s.groups {
		if !slices.Contains(candidates, g) {
			g.check(nil, nil)
			continue
		}
		if g.check(s.order, handOf); g.match != nil {
			matches++
		} else if len(candidates) > 1 {
			g.check(nil, nil)
		}
	}
	if len(candidates) > 1 && matches == 0 {
		return refuse("none", "none of the proofs is of "+s.order.Name, s.order.Name)
	}
	return nil
}

// candidates returns the groups that the order may be of: those that it names by an audit_id, or
// else those with an order, or else all.
func (s *sorting) candidates() []*group {
	if s.order == nil {
		return nil
	}
	kept := s.groups
	for _, keep := range []func(*audit.Record) bool{
		func(record *audit.Record) bool { return record.Kind == "" || record.Deals() },
		func(record *audit.Record) bool {
			return record.Kind != "" && s.order.order.text("audit_id") == record.ID.String()
		},
	} {
		if fewer := slices.DeleteFunc(slices.Clone(kept), func(g *group) bool { return !g.has(keep) }); len(fewer) > 0 {
			kept = fewer
		}
	}
	return kept
}

// check picks the verifier: for one record, for a hand, or for a whole shoe. order is the text
// to compare; nil for none.
func (g *group) check(order *input, handOf *Part) {
	g.order, g.given.Order, g.given.HandOf = order, nil, handOf
	if order != nil {
		g.given.Order = order.order
	}
	var texts [][]byte
	seals := true
	for _, p := range g.proofs {
		texts, seals = append(texts, p.text), seals && p.seals()
	}
	var r *Result
	say := (*Conclusion).ofRecord
	switch {
	case g.given.Hand != nil && (len(texts) == 1 || seals):
		r, say = VerifyHand(texts, &g.given), (*Conclusion).ofHand
	case len(texts) > 1:
		r, say = VerifyShoe(texts, &g.given), (*Conclusion).ofShoe
	default:
		r = VerifyRecord(texts[0], &g.given)
	}
	g.found, g.match = conclude(r, say), r.match
}

// findings sums up the verdicts on the groups.
func (s *sorting) findings() *Findings {
	f := &Findings{Files: []FileRole{}, Proofs: []Group{}}
	f.Steps, f.Notes, f.Verdict = []ShownStep{}, []string{}, VerdictVerified
	counts := map[Verdict]int{}
	for _, g := range s.groups {
		g.noteCompared(s.only[RoleHand])
		s.noteCommitments(g)
		g.found.clean()
		var names []string
		for _, p := range g.proofs {
			if !slices.Contains(names, p.from.Name) {
				names = append(names, p.from.Name)
			}
		}
		f.Proofs = append(f.Proofs, Group{names, *g.found})
		f.Steps = append(f.Steps, g.found.Steps...)
		counts[g.found.Verdict]++
	}
	for _, worse := range []Verdict{VerdictUnchecked, VerdictFalse} {
		if counts[worse] > 0 {
			f.Verdict = worse
		}
	}
	if main := s.main(); main != nil {
		f.Headline, f.Notes, f.Summary = main.Headline, slices.Clone(main.Notes), main.Summary
	} else {
		f.Headline = fmt.Sprintf("%d proofs: %d verified, %d false, %d not checked to the end.", len(s.groups), counts[VerdictVerified], counts[VerdictFalse], counts[VerdictUnchecked])
		f.Summary = summary{"id": "several", "verified": counts[VerdictVerified], "false": counts[VerdictFalse], "unchecked": counts[VerdictUnchecked]}
	}
	for _, in := range s.inputs {
		f.Files = append(f.Files, in.shown)
	}
	return f
}

// main returns the only conclusion, apart from those that verify on a commitment where a record
// names another, and on the void of a commitment; nil if there are several.
func (s *sorting) main() (found *Conclusion) {
	lacks := slices.ContainsFunc(s.groups, (*group).lacks)
	for _, g := range s.groups {
		isBeside := lacks && g.isKind(audit.KindCommitment) || slices.ContainsFunc(s.groups, g.isVoidOf)
		switch {
		case isBeside && g.found.Verdict == VerdictVerified:
		case found != nil:
			return nil
		default:
			found = g.found
		}
	}
	return found
}

func (g *group) first() *audit.Record { return &g.proofs[0].record }

// isKind reports whether the group is one record of a kind.
func (g *group) isKind(kind audit.Kind) bool { return len(g.proofs) == 1 && g.first().Kind == kind }

// isVoidOf reports whether the group is the void record of the other, which is a commitment.
func (g *group) isVoidOf(other *group) bool {
	return g.isKind(audit.KindVoid) && other.isKind(audit.KindCommitment) && g.first().CommitmentID == other.first().ID
}

// lacks reports whether a record names a commitment that was not given.
func (g *group) lacks() bool { return g.first().UsesCommitment() && g.given.Commitment == nil }

// noteCompared says which of the texts that were sorted were compared with the group.
func (g *group) noteCompared(hand *input) {
	var list []string
	add := func(in *input, what string) {
		if in != nil && in.Role == "" {
			list = append(list, in.Name+" as "+what)
		}
	}
	what := "the order"
	if g.order != nil && g.match != nil && len(g.match.Parts) == 1 {
		g.order.shown.Role, g.order.shown.Hand, g.order.shown.Shuffle = roleHandOf, &g.match.Parts[0], g.match.Shuffle
		what = g.match.Parts[0].String()
	}
	add(g.order, what)
	add(g.items, "the items")
	if g.given.Hand != nil {
		add(hand, "the hand")
	}
	if len(list) > 0 {
		list[0] = strings.Replace(list[0], " as ", " was compared as ", 1)
		g.found.note("%s.", strings.Join(list, ", "))
	}
}

// noteCommitments says of the commitments beside a group that they are others, or that they are
// void.
func (s *sorting) noteCommitments(g *group) {
	for _, other := range s.groups {
		switch {
		case g.lacks() && other.isKind(audit.KindCommitment):
			g.found.otherCommitment(other.first().ID)
		case other.isVoidOf(g) && other.found.Verdict == VerdictVerified:
			g.found.note("It is void since %s: nothing used it before its deadline, nothing can use it any more, and its seed stays secret.",
				other.first().Time.Format(audit.TimeFormat))
		}
	}
}
