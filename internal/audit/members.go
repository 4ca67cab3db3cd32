package audit

import (
	"cmp"
	"crypto/sha256"
	_ "embed"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"riffle/internal/beacon"
	"riffle/internal/shoe"
)

// A member is one of the JSON of a record.
type member struct {
	name  string
	value func(r *Record) any  // a pointer; nil if there is no place for one
	rule  func(r *Record) bool // beyond its form, of a record that has it; or nil
}

// members are all members, in their order, in which they are read too: a rule may depend on those
// before it. Cut and Root, which are pointers, are set beforehand if their member is there.
var members = []member{
	{"id", func(r *Record) any { return &r.ID }, nil},
	{"time", func(r *Record) any { return &r.Time }, nil},
	{"kind", func(r *Record) any { return (*string)(&r.Kind) }, nil},
	{"spec", func(*Record) any { return &specName{} }, nil},
	{"audit_id", func(r *Record) any { return &r.AuditID }, nil},
	{"version", func(r *Record) any { return &r.Version }, nil},
	{"from", func(r *Record) any { return (*string)(&r.From) }, nil},
	{"taken", func(r *Record) any { return (*string)(&r.Taken) }, nil},
	{"cards", func(r *Record) any { return &r.Cards }, func(r *Record) bool { return r.Cards.Len() > 0 }},
	{"to", func(r *Record) any { return (*string)(&r.To) }, nil},
	{"put", func(r *Record) any { return (*string)(&r.Put) }, nil},
	{"algorithm", func(r *Record) any { return (*string)(&r.Statement.Algorithm) }, nil},
	{"size", func(r *Record) any { return &r.Statement.Size }, func(r *Record) bool { return r.Statement.Algorithm.Orders(r.Statement.Size) }},
	{"draw", func(r *Record) any { return &r.Statement.Draw }, (*Record).isDraw},
	{"repeat", func(r *Record) any { return &r.Statement.Repeat }, nil},
	{"hands", func(r *Record) any { return &r.Statement.Hands }, (*Record).areHands},
	{"input", func(r *Record) any { return &r.Statement.Input }, nil},
	{"items_digest", func(r *Record) any { return &r.ItemsDigest }, func(r *Record) bool { return strings.HasPrefix(r.Statement.Input, "items ") }},
	{"parameters", func(r *Record) any { return &r.Parameters }, nil},
	{"reference", func(r *Record) any { return &r.Statement.Reference }, func(r *Record) bool { return CheckReference(r.Statement.Reference) == nil }},
	{"client_seed", func(r *Record) any { return &r.ClientSeed }, func(r *Record) bool { return CheckClientSeed(r.ClientSeed) == nil }},
	{"reveal", func(r *Record) any { return &r.RevealNow }, nil},
	{"deadline", func(r *Record) any { return &r.Deadline }, func(r *Record) bool { return r.Deadline.After(r.Time) }},
	{"beacon", func(r *Record) any { return &r.Beacon }, func(r *Record) bool {
		round, isKnown := beacon.Parse(r.Beacon)
		return !isKnown || round.Time().After(r.Time) && round.Time().Before(r.Deadline)
	}},
	{"players", func(r *Record) any { return &r.Players }, func(r *Record) bool { return r.Beacon == "" && r.Players.Check() == nil }},
	{"commitment_id", func(r *Record) any { return &r.CommitmentID }, nil},
	{"joined", func(r *Record) any { return &r.Joined }, func(r *Record) bool {
		return len(r.Joined) > MaxClientSeed && !strings.Contains(r.Joined, "\x00") && r.ClientSeed == digestOf(r.Joined)
	}},
	{"count", func(r *Record) any { return &r.Count }, func(r *Record) bool { return r.Players == nil }},
	{"round", func(r *Record) any { return &r.Round }, func(r *Record) bool { return r.Round <= r.Count }},
	{"path", func(r *Record) any { return &r.Path }, nil},
	{"cut", func(r *Record) any { return &cmp.Or(r.Cut, noCut).At }, func(r *Record) bool {
		_, isOfPile := r.From.Pile()
		return !isOfPile && r.Root != nil && r.Cut.At < r.Statement.Size
	}},
	{"cut_range", func(r *Record) any { return (*cutRange)(cmp.Or(r.Cut, noCut)) }, func(r *Record) bool {
		return r.Cut.Fits(r.Statement.Size) && r.Cut.From <= r.Cut.At && r.Cut.At <= r.Cut.To
	}},
	{"expires", func(r *Record) any { return &r.Expires }, func(r *Record) bool { return r.Expires.After(r.Time) }},
	{"root", func(r *Record) any { return (*[sha256.Size]byte)(r.Root) }, nil},
	{"commitment", func(r *Record) any { return (*[sha256.Size]byte)(&r.Commitment) }, nil},
}

// head is the number of members that every kind has. They are the first.
const head = 4

// specName is the value of spec, which is always [Spec].
type specName struct{}

// A cutRange is the range that a cut was drawn from.
type cutRange shoe.Cut

// noCut is the cut of a record without one. Nothing is parsed into it: see members.
var noCut = &shoe.Cut{}

// isDraw reports whether the draw is within the size: of a shoe or a reshuffle all cards, none of a
// shoe that was not shuffled, and at random as many as the record moves.
func (r *Record) isDraw() bool {
	switch s := &r.Statement; {
	case s.Draw > s.Size:
		return false
	case r.Kind == KindDraw:
		return s.Draw == r.Cards.Len()
	case r.Kind == KindShoe && r.Root == nil:
		return s.Draw == 0
	case r.Seals():
		return s.Draw == s.Size
	}
	return true
}

// areHands reports whether each hand has cards, and all together no more than were drawn.
func (r *Record) areHands() bool {
	left := r.Statement.Draw
	for _, n := range r.Statement.Hands {
		if n == 0 || n > left {
			return false
		}
		left -= n
	}
	return true
}

// A use says how the records of a kind have a member; nil if they never have it. A form is compiled
// at its first use, since all of them take 15 ms.
type use struct {
	*member
	isOptional bool
	other      *member               // only with this one; or nil
	start      string                // which begins so
	form       func() *regexp.Regexp // of a text; or nil
	least      uint64                // of a number
	most       uint64
}

//go:embed members.json
var usesText []byte

// uses are the uses of all members by the kind of a record, in the order of members; below "" those
// of every kind. members.json has them for all verifiers, for each member by kinds and form. A kind
// is followed by ? if the member is optional, and by a colon if it needs another member, by = and
// how that has to begin. A form is a regular expression between slashes, a range of numbers, or
// what every verifier knows by this name.
var uses = func() map[Kind][]*use {
	var table map[string]map[string]string
	if err := json.Unmarshal(usesText, &table); err != nil || len(table) != len(members) {
		panic("audit: members.json does not have all members and no other") // it is embedded
	}
	uses := map[Kind][]*use{"": make([]*use, len(members))}
	byName := map[string]*member{}
	for i := range members {
		byName[members[i].name] = &members[i]
		for kinds, form := range table[members[i].name] {
			u := use{member: &members[i], most: MaxSize}
			// Of any other form, or of an omitted end, this sets nothing.
			_, _ = fmt.Sscanf(form, "%d..%d", &u.least, &u.most)
			if strings.HasPrefix(form, "/") {
				u.form = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile("^(?:" + strings.Trim(form, "/") + ")$") })
			}
			for _, in := range inKind.FindAllStringSubmatch(kinds, -1) {
				kind, one := Kind(strings.Trim(in[1], "*")), u
				one.isOptional, one.other, one.start = in[2] != "", byName[in[3]], in[4]
				if uses[kind] == nil {
					uses[kind] = slices.Clone(uses[""])
				}
				uses[kind][i] = &one
			}
		}
	}
	return uses
}()

var inKind = regexp.MustCompile(`(\*|[a-z-]+)(\??)(?::(\w+))?=?(\w*)`)

// allows reports whether a record, by its kind and the members before, may have the member.
func (u *use) allows(r *Record) bool {
	if u == nil || u.other == nil {
		return u != nil
	}
	value := u.other.value(r)
	text, isText := value.(*string)
	return !isEmpty(value) && (!isText || strings.HasPrefix(*text, u.start))
}

// parse sets the member to the text, and reports whether that has the form and follows the rule.
func (u *use) parse(r *Record, text jsontext.Value) bool {
	value := u.value(r)
	err := json.Unmarshal(text, value, decoders)
	number, isNumber := value.(*uint64)
	words, isText := value.(*string)
	return err == nil && (isNumber || !isEmpty(value)) && (!isNumber || u.least <= *number && *number <= u.most) &&
		(!isText || u.form == nil || u.form().MatchString(*words)) && (u.rule == nil || u.rule(r))
}

// isEmpty reports whether the value is of a member that the record does not have.
func isEmpty(value any) bool {
	switch v := value.(type) {
	case *[sha256.Size]byte:
		return v == nil
	case *cutRange:
		return v.To == 0
	case *specName:
		return false
	}
	v := reflect.ValueOf(value).Elem()
	return v.IsZero() || (v.Kind() == reflect.Slice || v.Kind() == reflect.Map) && v.Len() == 0
}
