package prooffile

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

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

// Refused returns the findings for texts that were refused unchecked.
func Refused(err error) *Findings {
	f := &Findings{Files: []FileRole{}, Proofs: []Group{}}
	r := &refusal{why: "unreadable", names: []string{}, text: err.Error()}
	errors.As(err, &r)
	f.Conclusion = Conclusion{Verdict: VerdictUnchecked, Headline: "Not checked: " + err.Error() + ".", Notes: []string{}, Steps: []ShownStep{}}
	f.is("refused", "why", r.why, "files", r.names)
	f.clean()
	return f
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
	v := &verification{given: Given{Decks: options.Decks, AnyOrder: options.AnyOrder}}
	err := v.read(texts)
	if err == nil {
		v.groupAll()
		err = v.findItems()
	}
	if err == nil {
		err = v.readHandOf(options.HandOf)
	}
	if err == nil {
		err = v.checkAll()
	}
	if err == nil {
		return v.findings()
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

// withoutRefused leaves out a text that is refused by itself or, where texts are refused together,
// all but the proofs and the only key. isAlone says which.
func withoutRefused(texts []Text, refused *Findings) (others []Text, isAlone bool) {
	names := refused.Summary["files"].([]string)
	if why := refused.Summary["why"]; len(names) > 0 && (why == "unreadable" || why == "unknown" || why == "private-key") {
		return slices.DeleteFunc(slices.Clone(texts), func(t Text) bool { return slices.Contains(names, t.Name) }), true
	}
	keys := map[string]Text{}
	for _, t := range texts {
		role := t.Role
		if role == "" && t.Err == nil {
			role, _ = t.sorted()
		}
		switch {
		case t.Err != nil:
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

// Open returns the commitments in what is given whose shuffle, shoe or void is not there.
func Open(texts []Text) (open []uuid.UUID) {
	v := &verification{}
	if v.read(texts) != nil {
		return nil
	}
	for _, p := range v.proofs {
		if p.record == nil || p.record.Kind != audit.KindCommitment {
			continue
		}
		isNamed := slices.ContainsFunc(v.proofs, func(other *proofText) bool { return other.record != nil && other.record.CommitmentID == p.record.ID })
		if !isNamed {
			open = append(open, p.record.ID)
		}
	}
	return open
}

// Missing returns the records that are named in what is given and are not there: commitments that
// records used and, without the rest of a shoe, the records that sealed the cards of a hand.
func Missing(texts []Text) (missing []uuid.UUID) {
	v := &verification{}
	if v.read(texts) != nil {
		return nil
	}
	var wanted []uuid.UUID
	perText := map[*input]int{}
	for _, p := range v.proofs {
		if perText[p.from]++; p.record != nil && p.record.UsesCommitment() {
			wanted = append(wanted, p.record.CommitmentID)
		}
	}
	isWhole := slices.ContainsFunc(v.proofs, func(p *proofText) bool { return perText[p.from] > 1 && shoeOf(p.record) != uuid.Nil })
	if v.given.Hand != nil && !isWhole {
		wanted = append(wanted, v.given.Hand.sealers()...)
	}
	for _, id := range wanted {
		isThere := slices.ContainsFunc(v.proofs, func(p *proofText) bool { return p.record != nil && p.record.ID == id })
		if !isThere && !slices.Contains(missing, id) {
			missing = append(missing, id)
		}
	}
	return missing
}

// An input is a text in its role.
type input struct {
	Text
	shown     FileRole
	wasSorted bool
	items     *Items // of a list
}

// A proofText is one proof file.
type proofText struct {
	from    *input
	text    []byte
	record  *audit.Record // unchecked; nil if it cannot be parsed
	hasSeed bool
}

// A group is proof files that are checked together, and what they are checked against.
type group struct {
	proofs []*proofText
	given  Given
	items  *input // the list that is its items; nil for none
	order  *input // what was compared with it; nil for nothing
	found  *Conclusion
	match  *Match
}

// A verification sorts and checks what a verifier is given.
type verification struct {
	inputs []*input
	proofs []*proofText
	given  Given  // what has other roles than proof and list
	order  *input // the answer or the list that is compared; nil for none
	groups []*group
}

// read sorts the texts, and parses those that are not proofs.
func (v *verification) read(texts []Text) error {
	type sameText struct {
		role Role
		text string
	}
	seen, only := map[sameText]bool{}, map[Role]*input{}
	for _, t := range texts {
		in := &input{Text: t, shown: FileRole{Name: t.Name, Role: t.Role, Digest: fmt.Sprintf("%x", sha256.Sum256(t.Content))}}
		v.inputs = append(v.inputs, in)
		if t.Err != nil {
			return &refusal{"unreadable", []string{t.Name}, t.Err.Error()}
		}
		if len(t.Content) > MaxText {
			return &refusal{"unreadable", []string{t.Name}, fmt.Sprintf("%s: it is longer than %d MiB", t.Name, MaxText>>20)}
		}
		in.Content = trim(t.Content)
		if t.Role == "" {
			in.wasSorted = true
			var err error
			if in.shown.Role, err = t.sorted(); err != nil {
				return err
			}
		}
		role := in.shown.Role
		if role == RoleOrder {
			role = RoleAnswer
		}
		same := sameText{role, string(in.Content)}
		if seen[same] {
			in.shown.Role = roleUnused
			continue
		}
		seen[same] = true
		if role == RoleProof {
			v.split(in)
			continue
		}
		if err := v.parse(in, role); err != nil {
			return &refusal{"unreadable", []string{t.Name}, fmt.Sprintf("the %s: %s", in.shown.Role, err)}
		}
		if role != RoleList && only[role] != nil {
			return two(only[role], in, role)
		}
		only[role] = in
	}
	switch {
	case len(v.proofs) == 0:
		return &refusal{"no-proof", []string{}, "no proof was given: the proof of the record is needed as well"}
	case v.given.ItemsSalt != "" && only[RoleItems] == nil && only[RoleList] == nil:
		return &refusal{"no-items", []string{only[RoleSalt].Name}, "a salt was given without the items: salt and items have their digest together"}
	}
	return nil
}

// two refuses a second text of a role.
func two(a, b *input, role Role) error {
	roles := map[Role]string{RoleAnswer: "answers", RoleHand: "hands", RoleItems: "items", RoleKey: "keys", RoleSalt: "salts"}
	return &refusal{"two", []string{a.Name, b.Name}, fmt.Sprintf("%s and %s are both %s: give the one to check", a.Name, b.Name, roles[role])}
}

// split adds the proof files of a text.
func (v *verification) split(in *input) {
	for _, text := range Split(in.Content) {
		p := &proofText{from: in, text: text}
		r := &Result{}
		if err := r.read(text); err == nil {
			p.hasSeed = r.File.Seed != nil
			if record, err := audit.ParseRecord(r.File.Record); err == nil {
				p.record = record
			}
		}
		v.proofs = append(v.proofs, p)
	}
}

// parse parses what is given in a role.
func (v *verification) parse(in *input, role Role) (err error) {
	switch role {
	case RoleKey:
		v.given.Key = string(in.Content)
		_, err = Verifier(v.given.Key)
	case RoleSalt:
		v.given.ItemsSalt = string(in.Content)
		return audit.CheckItemsSalt(v.given.ItemsSalt)
	case RoleItems:
		v.given.Items, err = ParseItems(in.Content)
	case RoleAnswer:
		v.given.Order, err = ParseOrder(in.Content)
		v.order = in
	case RoleHand:
		v.given.Hand, err = ParseHand(in.Content)
	case RoleList:
		in.items, err = ParseItems(in.Content)
	default:
		return fmt.Errorf("there is no role %q", role)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", in.Name, err)
	}
	return err
}

// groupAll puts together what is checked together: the proof of a commitment with the one that names
// it, the proofs of a shoe in the order of their versions, and those that sealed a hand.
func (v *verification) groupAll() {
	commitments, taken := map[uuid.UUID][][]byte{}, map[uuid.UUID]bool{}
	for _, p := range v.proofs {
		if p.record != nil && p.record.Kind == audit.KindCommitment {
			commitments[p.record.ID] = append(commitments[p.record.ID], p.text)
		}
	}
	changed, named, anyNamed := map[uuid.UUID]bool{}, map[uuid.UUID]bool{}, false // shoes
	for _, p := range v.proofs {
		if p.record == nil {
			continue
		}
		if p.record.UsesCommitment() {
			taken[p.record.CommitmentID] = true
		}
		shoe := shoeOf(p.record)
		if p.record.Kind != audit.KindShoe && p.record.Kind != audit.KindReshuffle {
			changed[shoe] = true
		}
		if v.given.Hand != nil && slices.Contains(v.given.Hand.sealers(), p.record.ID) {
			named[shoe], anyNamed = true, true
		}
	}
	byShoe := map[uuid.UUID]*group{}
	sealed := uuid.Max // the key of those that sealed the hand
	for _, p := range v.proofs {
		if p.record != nil && taken[p.record.ID] && p.record.Kind == audit.KindCommitment {
			continue
		}
		shoe := p.shoe(v.proofs)
		isNamed := v.given.Hand != nil && (named[shoe] || !anyNamed)
		key := shoe
		if isNamed && !changed[shoe] && shoe != uuid.Nil {
			key = sealed
		}
		g := byShoe[key]
		if g == nil {
			g = &group{given: v.given}
			g.given.Order, g.given.HandOf = nil, nil
			if !isNamed {
				g.given.Hand = nil
			}
			v.groups = append(v.groups, g)
		}
		if shoe != uuid.Nil {
			byShoe[key] = g
		}
		g.proofs = append(g.proofs, p)
		if p.record != nil && p.record.UsesCommitment() && commitments[p.record.CommitmentID] != nil {
			g.given.Commitment = bytes.Join(commitments[p.record.CommitmentID], []byte("\n"))
		}
	}
	for _, g := range v.groups {
		slices.SortStableFunc(g.proofs, byVersion)
	}
}

// byVersion orders the proofs of shoes. Those that cannot be read are last; of several of a record,
// those with a seed are first.
func byVersion(a, b *proofText) int {
	if a.record == nil || b.record == nil {
		return cmp.Compare(map[bool]int{true: 1}[a.record == nil], map[bool]int{true: 1}[b.record == nil])
	}
	return cmp.Or(
		cmp.Compare(a.record.Version, b.record.Version),
		bytes.Compare(a.record.ID[:], b.record.ID[:]),
		cmp.Compare(map[bool]int{false: 1}[a.hasSeed], map[bool]int{false: 1}[b.hasSeed]),
	)
}

// shoe returns the id of the first record of the shoe that a proof is of; Nil for none. One that
// cannot be read is of the shoe that others in its text are of.
func (p *proofText) shoe(all []*proofText) uuid.UUID {
	if p.record != nil {
		return shoeOf(p.record)
	}
	for _, other := range all {
		if id := shoeOf(other.record); other.from == p.from && id != uuid.Nil {
			return id
		}
	}
	return uuid.Nil
}

// shoeOf returns the id of the first record of the shoe that a record belongs to; Nil for no shoe.
func shoeOf(record *audit.Record) uuid.UUID {
	switch {
	case record == nil:
	case record.Kind == audit.KindShoe:
		return record.ID
	case record.Kind.ChangesShoe():
		return record.AuditID
	}
	return uuid.Nil
}

// findItems finds the lists that are the items of records, and the one text that is compared.
func (v *verification) findItems() error {
	for _, in := range v.inputs {
		if in.items == nil {
			continue
		}
		isItems := false
		for _, g := range v.groups {
			if !slices.ContainsFunc(g.proofs, func(p *proofText) bool { return in.items.areOf(p.record, v.given.ItemsSalt) }) {
				continue
			}
			isItems = true
			if v.given.Items == nil {
				g.items, g.given.Items = in, in.items
			} else if v.given.Items.digest != in.items.digest {
				return two(v.inRole(RoleItems), in, RoleItems)
			}
		}
		if isItems {
			in.shown.Role = RoleItems
			continue
		}
		if v.order != nil {
			names := []string{v.order.Name, in.Name}
			return &refusal{"which", names, fmt.Sprintf("neither %s nor %s has the digest of the items in the record: say which of them is compared as the order", names[0], names[1])}
		}
		v.order = in
		var err error
		if v.given.Order, err = ParseOrder(in.Content); err != nil {
			return err // never, for it is an array
		}
	}
	if v.order != nil {
		v.order.shown.Role = RoleOrder
	}
	return nil
}

// inRole returns the input that was given in a role.
func (v *verification) inRole(role Role) *input {
	return v.inputs[slices.IndexFunc(v.inputs, func(in *input) bool { return in.shown.Role == role })]
}

// readHandOf reads which hand the order is said to be.
func (v *verification) readHandOf(text string) error {
	if text == "" {
		return nil
	}
	part, err := ParsePart(text)
	if err != nil {
		return err
	}
	if v.given.Order == nil {
		return &refusal{"no-order", []string{}, fmt.Sprintf("there is nothing to compare with %s: give the cards of that hand as well", part)}
	}
	v.given.HandOf = &part
	return nil
}

// checkAll checks every group.
func (v *verification) checkAll() error {
	if v.order == nil {
		for _, g := range v.groups {
			g.check()
		}
		return nil
	}
	candidates := slices.Clone(v.groups)
	for _, keep := range []func(*group) bool{(*group).hasOrder, v.isNamed} {
		if kept := slices.DeleteFunc(slices.Clone(candidates), func(g *group) bool { return !keep(g) }); len(kept) > 0 {
			candidates = kept
		}
	}
	matches := 0
	for _, g := range v.groups {
		if !slices.Contains(candidates, g) {
			g.check()
			continue
		}
		g.given.Order, g.given.HandOf, g.order = v.given.Order, v.given.HandOf, v.order
		if g.check(); g.match != nil {
			matches++
		} else if len(candidates) > 1 {
			g.given.Order, g.given.HandOf, g.order = nil, nil, nil
			g.check()
		}
	}
	if len(candidates) > 1 && matches == 0 {
		return &refusal{"none", []string{v.order.Name}, "none of the proofs is of " + v.order.Name}
	}
	return nil
}

// hasOrder reports whether an order can be compared with the group, as far as it can be read.
func (g *group) hasOrder() bool {
	return slices.ContainsFunc(g.proofs, func(p *proofText) bool { return p.record == nil || p.record.Deals() })
}

// isNamed reports whether the answer has the id of a record in the group.
func (v *verification) isNamed(g *group) bool {
	return slices.ContainsFunc(g.proofs, func(p *proofText) bool {
		return p.record != nil && v.given.Order.text("audit_id") == p.record.ID.String()
	})
}

// check picks the verifier: for one record, for a hand, or for a whole shoe.
func (g *group) check() {
	var texts [][]byte
	seals := true
	for _, p := range g.proofs {
		texts = append(texts, p.text)
		seals = seals && p.record != nil && (p.record.Kind == audit.KindShoe || p.record.Kind == audit.KindReshuffle)
	}
	switch {
	case g.given.Hand != nil && (len(texts) == 1 || seals):
		g.conclude(VerifyHand(texts, &g.given), (*Conclusion).ofHand)
	case len(texts) > 1:
		g.conclude(VerifyShoe(texts, &g.given), (*Conclusion).ofShoe)
	default:
		g.conclude(VerifyRecord(texts[0], &g.given), (*Conclusion).ofRecord)
	}
}

func (g *group) conclude(r *Result, say func(c *Conclusion, r *Result, log string)) {
	g.found, g.match = conclude(r, say), r.match
}

// findings sums up the verdicts on the groups.
func (v *verification) findings() *Findings {
	f := &Findings{Files: []FileRole{}, Proofs: []Group{}}
	f.Steps, f.Notes, f.Verdict = []ShownStep{}, []string{}, VerdictVerified
	v.addNotes()
	counts := map[Verdict]int{}
	for _, g := range v.groups {
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
	if main := v.main(); main != nil {
		f.Headline, f.Notes, f.Summary = main.Headline, slices.Clone(main.Notes), main.Summary
	} else {
		f.Headline = fmt.Sprintf("%d proofs: %d verified, %d false, %d not checked to the end.", len(v.groups), counts[VerdictVerified], counts[VerdictFalse], counts[VerdictUnchecked])
		f.is("several", "verified", counts[VerdictVerified], "false", counts[VerdictFalse], "unchecked", counts[VerdictUnchecked])
	}
	for _, in := range v.inputs {
		f.Files = append(f.Files, in.shown)
	}
	return f
}

// main returns the only conclusion, apart from those on commitments that verify and are not the one
// that a record names; nil if there are several.
func (v *verification) main() (found *Conclusion) {
	lacks := slices.ContainsFunc(v.groups, func(g *group) bool { return g.lacks() != uuid.Nil })
	for _, g := range v.groups {
		switch {
		case g.found.Verdict == VerdictVerified && (lacks && g.isKind(audit.KindCommitment) || v.isVoidOf(g)):
		case found != nil:
			return nil
		default:
			found = g.found
		}
	}
	return found
}

// isKind reports whether the group is one record of a kind.
func (g *group) isKind(kind audit.Kind) bool {
	return len(g.proofs) == 1 && g.proofs[0].record != nil && g.proofs[0].record.Kind == kind
}

// isVoidOf reports whether the group is the void record of a commitment that was given as well.
func (v *verification) isVoidOf(g *group) bool {
	return g.isKind(audit.KindVoid) && slices.ContainsFunc(v.groups, func(other *group) bool {
		return other.isKind(audit.KindCommitment) && other.proofs[0].record.ID == g.proofs[0].record.CommitmentID
	})
}

// lacks returns the commitment that a record names and that was not given; Nil for none.
func (g *group) lacks() uuid.UUID {
	if first := g.proofs[0].record; first != nil && first.UsesCommitment() && g.given.Commitment == nil {
		return first.CommitmentID
	}
	return uuid.Nil
}

// addNotes says what was compared with what, and of commitments that they are others.
func (v *verification) addNotes() {
	for _, g := range v.groups {
		var list []string
		add := func(in *input, what string) {
			if in != nil && in.wasSorted {
				list = append(list, in.Name+" as "+what)
			}
		}
		if g.order != nil {
			what := "the order"
			if g.match != nil && len(g.match.Parts) == 1 {
				g.order.shown.Role, g.order.shown.Hand, g.order.shown.Shuffle = roleHandOf, &g.match.Parts[0], g.match.Shuffle
				what = g.match.Parts[0].String()
			}
			add(g.order, what)
		}
		add(g.items, "the items")
		for _, in := range v.inputs {
			if in.shown.Role == RoleHand && g.given.Hand != nil {
				add(in, "the hand")
			}
		}
		if len(list) > 0 {
			list[0] = strings.Replace(list[0], " as ", " was compared as ", 1)
			g.found.note("%s.", strings.Join(list, ", "))
		}
		for _, other := range v.groups {
			switch {
			case g.lacks() != uuid.Nil && other.isKind(audit.KindCommitment):
				g.found.otherCommitment(other.proofs[0].record.ID)
			case g.isKind(audit.KindCommitment) && v.isVoidOf(other) && other.found.Verdict == VerdictVerified &&
				other.proofs[0].record.CommitmentID == g.proofs[0].record.ID:
				g.found.note("It is void since %s: nothing used it before its deadline, nothing can use it any more, and its seed stays secret.",
					other.proofs[0].record.Time.Format(audit.TimeFormat))
			}
		}
	}
}
