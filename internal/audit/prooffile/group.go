package prooffile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/ledger/proof"
)

// An input is a text in its role.
type input struct {
	Text
	shown FileRole
	shoe  uuid.UUID // of a text of proofs: the shoe that they are of; Nil for none
	items *Items    // of a list
}

// A proofText is one proof file.
type proofText struct {
	from   *input
	text   []byte
	record audit.Record // unchecked; of no kind if it cannot be parsed, or is of one that is not known
	place  string       // among the proofs that it is checked with, as a text that sorts
}

// A group is proof files that are checked together, what they are checked against, and the verdict.
type group struct {
	Group
	proofs []*proofText
	given  Given
	items  *input // the list that is its items; nil for none
	order  *input // what was compared with it; nil for nothing
	match  *Match

	isLacking bool // a record names a commitment that was not given
}

// A sorting has the texts for a verifier, sorted by docs/spec.md, "Texts for a verifier". Nothing
// in it was verified.
type sorting struct {
	inputs []*input
	proofs []*proofText
	only   map[Role]*input // the last text of each role: only proofs and lists may have several
	given  Given           // what is not a proof
	order  *input          // the answer or the list that is compared; nil for none
	groups []*group
}

// readTexts finds the roles of texts, and parses them.
func readTexts(texts []Text) (*sorting, error) {
	s := &sorting{only: map[Role]*input{}}
	seen := map[[2]string]bool{} // roles and texts
	for _, t := range texts {
		in := &input{Text: t, shown: FileRole{Name: t.Name}}
		s.inputs = append(s.inputs, in)
		if len(t.Content) > MaxText {
			return nil, refuse("unreadable", "why.given.long", message.Values{"name": t.Name, "most": MaxText >> 20}, t.Name)
		}
		role, err := t.findRole()
		if err != nil {
			return nil, err
		}
		in.Content, in.shown.Role = trim(t.Content), role
		if role == RoleOrder {
			role = RoleAnswer
		}
		same := [2]string{string(role), string(in.Content)}
		if seen[same] {
			in.shown.Role = roleUnused
			continue
		}
		seen[same] = true
		if err := s.parse(in, role); err != nil {
			of := message.Values{"role": string(in.shown.Role), "name": t.Name, "what": message.Of(err)}
			if role == RoleSalt {
				delete(of, "name") // it may be the salt itself
			}
			return nil, refuse("unreadable", "why.given", of, t.Name)
		}
		if first := s.only[role]; first != nil && role != RoleProof && role != RoleList {
			return nil, two(first, in, role)
		}
		s.only[role] = in
	}
	s.order = s.only[RoleAnswer]
	switch {
	case len(s.proofs) == 0:
		return nil, refuse("no-proof", "why.given.no-proof", nil)
	case s.given.ItemsSalt != "" && s.only[RoleItems] == nil && s.only[RoleList] == nil:
		return nil, refuse("no-items", "why.given.no-items", nil, s.only[RoleSalt].Name)
	}
	return s, nil
}

// parse parses what is given in a role.
func (s *sorting) parse(in *input, role Role) (err error) {
	switch role {
	case RoleProof:
		s.split(in)
	case RoleKey:
		s.given.Key = string(in.Content)
		_, err = Verifier(s.given.Key)
	case RolePolicy:
		s.given.Policy, err = proof.ParsePolicy(in.Content)
	case RoleSalt:
		s.given.ItemsSalt = string(in.Content)
		err = message.Rule(audit.CheckItemsSalt(s.given.ItemsSalt) == nil, "why.given.salt", nil)
	case RoleItems:
		s.given.Items, err = ParseItems(in.Content)
	case RoleAnswer:
		s.given.Order, err = ParseOrder(in.Content)
	case RoleHand:
		s.given.Hand, err = ParseHand(in.Content)
	case RoleList:
		in.items, err = ParseItems(in.Content)
	default:
		err = message.New("why.given.role", message.Values{"role": string(role)})
	}
	return err
}

// split adds the proof files of a text. Those that cannot be read are last in their group; of
// several of a record, those with a seed are first.
func (s *sorting) split(in *input) {
	for _, text := range Split(in.Content) {
		p := &proofText{from: in, text: text, place: fmt.Sprintf("unread %09d", len(s.proofs))}
		if r := (&Result{}); r.read(text) == nil {
			if record, err := audit.ParseRecord(r.File.Record); err == nil {
				p.record = *record
				p.place = fmt.Sprintf("%020d %s %t %09d", record.Version, record.ID, r.File.Seed == nil, len(s.proofs))
			}
		}
		if in.shoe == uuid.Nil {
			in.shoe = p.shoe()
		}
		s.proofs = append(s.proofs, p)
	}
}

// isRead reports whether the record could be parsed.
func (p *proofText) isRead() bool { return p.record.Kind != "" }

// shoe returns the id of the first record of the shoe that a proof is of; Nil for none. One that
// cannot be read is of the shoe that others in its text are of.
func (p *proofText) shoe() uuid.UUID {
	switch {
	case !p.isRead():
		return p.from.shoe
	case p.record.Kind == audit.KindShoe:
		return p.record.ID
	case p.record.Kind.ChangesShoe():
		return p.record.AuditID
	}
	return uuid.Nil
}

// group puts together the proofs that are checked together: docs/spec.md, "Which proofs belong
// together".
func (s *sorting) group() {
	commitments, isUsed := map[uuid.UUID][][]byte{}, map[uuid.UUID]bool{} // by the id of the commitment
	for _, p := range s.proofs {
		if p.record.Kind == audit.KindCommitment {
			commitments[p.record.ID] = append(commitments[p.record.ID], p.text)
		}
		if p.record.UsesCommitment() {
			isUsed[p.record.CommitmentID] = true
		}
	}
	s.given.Commitments = commitments
	groups := map[uuid.UUID]*group{} // by their shoe
	for _, p := range s.proofs {
		if p.record.Kind == audit.KindCommitment && isUsed[p.record.ID] {
			continue // it goes with the record that names it
		}
		shoe := p.shoe()
		g := groups[shoe]
		if g == nil || shoe == uuid.Nil {
			g = &group{given: s.given}
			g.given.Order = nil // see checkAll
			groups[shoe], s.groups = g, append(s.groups, g)
		}
		g.proofs = append(g.proofs, p)
	}
	s.groupByHand()
	for _, g := range s.groups {
		slices.SortFunc(g.proofs, func(a, b *proofText) int { return cmp.Compare(a.place, b.place) })
		for _, p := range g.proofs {
			if !slices.Contains(g.Files, p.from.Name) {
				g.Files = append(g.Files, p.from.Name)
			}
			g.isLacking = g.isLacking || p.record.UsesCommitment() && commitments[p.record.CommitmentID] == nil
		}
	}
}

// groupByHand keeps the hand in the groups that it is compared with: those with a record that one
// of its cards names as sealed_by, or in all without such a group. Of these, the groups in which
// every record seals cards of a shoe become one.
func (s *sorting) groupByHand() {
	sealers := s.given.Hand.sealers()
	isNamed := func(p *proofText) bool { return p.isRead() && slices.Contains(sealers, p.record.ID) }
	isOther := func(p *proofText) bool { return p.shoe() == uuid.Nil || p.isRead() && !p.record.Seals() }
	isAnyNamed := slices.ContainsFunc(s.proofs, isNamed)
	var sealings *group
	s.groups = slices.DeleteFunc(s.groups, func(g *group) bool {
		switch {
		case isAnyNamed && !g.has(isNamed):
			g.given.Hand = nil
		case s.given.Hand == nil || g.has(isOther):
		case sealings == nil:
			sealings = g
		default:
			sealings.proofs = append(sealings.proofs, g.proofs...)
			return true
		}
		return false
	})
}

// has reports whether the group has a proof that is so.
func (g *group) has(isSo func(p *proofText) bool) bool { return slices.ContainsFunc(g.proofs, isSo) }

// findItems finds the lists that are the items of records, and the one text that is compared.
func (s *sorting) findItems() error {
	for _, in := range s.inputs {
		if in.items == nil {
			continue
		}
		for _, g := range s.groups {
			switch {
			case !g.has(func(p *proofText) bool { return in.items.areOf(&p.record, s.given.ItemsSalt) }):
				continue
			case s.given.Items == nil:
				g.items, g.given.Items = in, in.items
			case s.given.Items.digest != in.items.digest:
				return two(s.only[RoleItems], in, RoleItems)
			}
			in.shown.Role = RoleItems
		}
		switch {
		case in.shown.Role == RoleItems:
		case s.order != nil:
			return refuse("which", "why.given.which", message.Values{"a": s.order.Name, "b": in.Name}, s.order.Name, in.Name)
		default:
			s.order = in
			s.given.Order, _ = ParseOrder(in.Content) // no error, for it is an array
		}
	}
	if s.order != nil {
		s.order.shown.Role = RoleOrder
	}
	return nil
}

// two refuses a second text of a role.
func two(a, b *input, role Role) error {
	return refuse("two", "why.given.two", message.Values{"a": a.Name, "b": b.Name, "role": string(role)}, a.Name, b.Name)
}

// Missing returns the records that would complete what is given: those that are named and not
// there, which are commitments that records used and, without the rest of a shoe, the records that
// sealed the cards of a hand; and, as open, the commitments whose shuffle, shoe or void is not
// there.
func Missing(texts []Text) (missing, open []uuid.UUID) {
	s, err := readTexts(texts)
	if err != nil {
		return nil, nil
	}
	isThere, isNamed, isWhole := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}, false
	for i, p := range s.proofs {
		isThere[p.record.ID], isNamed[p.record.CommitmentID] = true, true
		isWhole = isWhole || i > 0 && p.from == s.proofs[i-1].from && p.from.shoe != uuid.Nil
	}
	lacks := func(id uuid.UUID) {
		if !isThere[id] {
			isThere[id], missing = true, append(missing, id)
		}
	}
	for _, p := range s.proofs {
		switch {
		case p.record.UsesCommitment():
			lacks(p.record.CommitmentID)
		case p.record.Kind == audit.KindCommitment && !isNamed[p.record.ID]:
			open = append(open, p.record.ID)
		}
	}
	if !isWhole {
		for _, id := range s.given.Hand.sealers() {
			lacks(id)
		}
	}
	return missing, open
}
