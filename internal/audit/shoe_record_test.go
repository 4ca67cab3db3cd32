package audit_test

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// Parts of the records of shoes.
const (
	shoeHead = `{"id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","time":"2026-01-02T03:04:05.000060Z",`
	ofAShoe  = `"audit_id":"019b7ca9-8c89-7679-9c9b-a303e69b738d",`
	shoeRoot = `"root":"1f1e1d1c1b1a191817161514131211100f0e0d0c0b0a09080706050403020100",`
	shoeTail = `"commitment":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}`
	expires  = `"expires":"2026-01-02T03:14:05.000060Z",`
)

// shoeRecords returns records of shoes with all members that they can have, by their bytes, which
// may never change.
func shoeRecords(t testing.TB) map[string]*audit.Record {
	t.Helper()
	record := func(kind audit.Kind, change func(r *audit.Record)) *audit.Record {
		r := fixedRecord(t)
		r.Time = time.Date(2026, 1, 2, 3, 4, 5, 60_000, time.UTC)
		r.Kind, r.Version, r.Expires = kind, 17, r.Time.Add(10*time.Minute)
		change(&r)
		return &r
	}
	var root tlog.Hash
	for i := range root {
		root[i] = byte(31 - i)
	}
	cards := shoe.List([]shoe.Ref{{Seal: 1, Position: 4}, {Seal: 1, Position: 5}, {Seal: 3, Position: 0}})
	statement := func(size, draw uint64) audit.Statement {
		return audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: size, Draw: draw, Repeat: 1, Input: audit.RangeInput, Reference: "table 7"}
	}
	move := func(from shoe.Place, taken shoe.End, to shoe.Place, put shoe.End) func(*audit.Record) {
		return func(r *audit.Record) { r.From, r.Taken, r.Cards, r.To, r.Put = from, taken, cards, to, put }
	}
	const order = `"algorithm":"fisher-yates","size":9,"draw":9,"repeat":1,"input":"range","reference":"table 7",`
	return map[string]*audit.Record{
		shoeHead + `"kind":"shoe","spec":"riffle/1",` + ofAShoe + `"algorithm":"fisher-yates","size":9,"draw":9,"repeat":1,"input":"range","parameters":{"players":9},"reference":"table 7","client_seed":"Zoë",` +
			`"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","cut":5,"cut_range":[3,8],` + expires + shoeRoot + shoeTail: record(audit.KindShoe, func(r *audit.Record) {
			r.Version, r.Statement, r.ClientSeed, r.CommitmentID, r.Root = 0, statement(9, 9), "Zoë", r.ID, &root
			r.Parameters, r.Cut = map[string]int{"players": 9}, &shoe.Cut{At: 5, From: 3, To: 8}
		}),
		shoeHead + `"kind":"draw","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"shoe","taken":"top","cards":"1:4-5 3:0","to":"pile nils","put":"top",` + expires + shoeTail:    record(audit.KindDraw, move(shoe.Deck, shoe.Top, shoe.OnPile("nils"), shoe.Top)),
		shoeHead + `"kind":"draw","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"pile nils","taken":"cards","cards":"1:4-5 3:0","to":"dealt",` + expires + shoeTail:             record(audit.KindDraw, move(shoe.OnPile("nils"), shoe.Named, shoe.Dealt, "")),
		shoeHead + `"kind":"add","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"out","taken":"cards","cards":"1:4-5 3:0","to":"pile nils","put":"bottom",` + expires + shoeTail: record(audit.KindAdd, move(shoe.Out, shoe.Named, shoe.OnPile("nils"), shoe.Bottom)),
		shoeHead + `"kind":"return","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"dealt","taken":"cards","cards":"1:4-5 3:0","to":"shoe","put":"bottom",` + expires + shoeTail: record(audit.KindReturn, move(shoe.Dealt, shoe.Named, shoe.Deck, shoe.Bottom)),
		shoeHead + `"kind":"draw","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"shoe","taken":"random","cards":"1:4-5 3:0","to":"dealt","algorithm":"fisher-yates","size":9,"draw":3,"repeat":1,"input":"range","reference":"table 7",` + expires + shoeTail: record(audit.KindDraw, func(r *audit.Record) {
			move(shoe.Deck, shoe.Random, shoe.Dealt, "")(r)
			r.Statement = statement(9, 3)
		}),
		shoeHead + `"kind":"reshuffle","spec":"riffle/1",` + ofAShoe + `"version":17,"from":"all",` + order + `"client_seed":"Zoë","cut":8,"cut_range":[1,8],` + expires + shoeRoot + shoeTail: record(audit.KindReshuffle, func(r *audit.Record) {
			r.From, r.Statement, r.ClientSeed, r.Root = shoe.All, statement(9, 9), "Zoë", &root
			r.Cut = &shoe.Cut{At: 8, From: 1, To: 8}
		}),
		shoeHead + `"kind":"close","spec":"riffle/1",` + ofAShoe + `"version":17,` + expires + shoeTail:  record(audit.KindClose, func(*audit.Record) {}),
		shoeHead + `"kind":"expire","spec":"riffle/1",` + ofAShoe + `"version":17,` + expires + shoeTail: record(audit.KindExpire, func(*audit.Record) {}),
	}
}

// Records are stored, hashed and signed as these bytes.
func TestBytesOfRecordsOfShoes(t *testing.T) {
	for want, r := range shoeRecords(t) {
		got := r.Append(nil)
		assert.Equalf(t, want, string(got), "the record is\n%s, want", got)
		if got, err := audit.ParseRecord([]byte(want)); err != nil || !reflect.DeepEqual(got, r) {
			t.Errorf("%s\nreads as %+v, %v, want %+v", want, got, err, r)
		}
	}
}

// Every kind has its required and optional members, and rejects other kinds' members.
func TestMembersOfRecordsOfShoes(t *testing.T) {
	optional := map[string]bool{
		"parameters": true, "reference": true, "commitment_id": true, "expires": true, "cut_range": true,
	}
	every := map[string]string{}
	for text := range shoeRecords(t) {
		for _, m := range membersOf(t, text) {
			every[m.name] = text[m.from:m.to]
		}
	}
	every["hands"], every["reveal"], every["deadline"] = `"hands":[1]`, `"reveal":"now"`, `"deadline":"2026-01-02T03:14:05.000060Z"`
	for text, r := range shoeRecords(t) {
		has := map[string]bool{}
		for _, member := range membersOf(t, text) {
			name, m := member.name, text[member.from:member.to]
			has[name] = true
			without := strings.NewReplacer(","+m, "", m+",", "").Replace(text)
			want := optional[name] || name == "cards" && r.Kind == audit.KindAdd || name == "client_seed" && r.Kind == audit.KindReshuffle || name == "audit_id" && r.Kind == audit.KindShoe
			_, err := audit.ParseRecord([]byte(without))
			assert.Equalf(t, want, (err == nil), "without %s: %v\n%s", name, err, without)
			for _, nothing := range []string{`""`, "null", "{}", "[]", "-1", "1.0", `" "`, `"x"`, `"\u0000"`} {
				if name == "reference" && (nothing == `"x"` || nothing == `" "`) || name == "client_seed" && (nothing == `"x"` || nothing == `" "`) {
					continue
				}
				changed := strings.Replace(text, m, `"`+name+`":`+nothing, 1)
				if _, err := audit.ParseRecord([]byte(changed)); err == nil || name != "kind" && strings.Contains(err.Error(), "unknown kind") {
					if name == "kind" && nothing == `"x"` {
						continue
					}
					t.Errorf("%s: %v", changed, err)
				}
			}
			twice := strings.Replace(text, m, m+","+m, 1)
			_, err = audit.ParseRecord([]byte(twice))
			assert.Errorf(t, err, "a member twice: %s", twice)
		}
		for name, m := range every {
			if has[name] || name == "parameters" && r.Kind != audit.KindShoe && r.Deals() {
				continue
			}
			if name == "put" && r.To == shoe.Dealt {
				continue // rejected for another reason, below
			}
			foreign := strings.TrimSuffix(text, "}") + "," + m + "}"
			if _, err := audit.ParseRecord([]byte(foreign)); err == nil || !strings.Contains(err.Error(), "the record's "+name+" is not valid") {
				t.Errorf("with %s: %v\n%s", name, err, foreign)
			}
		}
	}
}

// shoeRecord returns the text of a record of a kind, with a part.
func shoeRecord(t *testing.T, kind audit.Kind, part string) string {
	t.Helper()
	for text, r := range shoeRecords(t) {
		if r.Kind == kind && strings.Contains(text, part) {
			return text
		}
	}
	t.Fatalf("there is no %s with %s", kind, part)
	return ""
}

func TestCutsOfRecordsOfShoes(t *testing.T) {
	first := shoeRecord(t, audit.KindShoe, "")
	if r, err := audit.ParseRecord([]byte(strings.Replace(first, `"cut_range":[3,8],`, "", 1))); err != nil || *r.Cut != (shoe.Cut{At: 5}) {
		t.Errorf("a cut that was not drawn: %v", err)
	}
	unshuffled := strings.NewReplacer(`"draw":9`, `"draw":0`, shoeRoot, "").Replace(first)
	if _, err := audit.ParseRecord([]byte(unshuffled)); err == nil || !strings.Contains(err.Error(), "cut") {
		t.Errorf("a cut card in a deck that was not shuffled: %v", err)
	}
	unshuffled = strings.Replace(unshuffled, `"cut":5,"cut_range":[3,8],`, "", 1)
	if r, err := audit.ParseRecord([]byte(unshuffled)); err != nil || r.Root != nil {
		t.Errorf("%s: %v", unshuffled, err)
	}
}

func TestRecordsOfShoesRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	var list []*audit.Record
	for _, r := range shoeRecords(t) {
		list = append(list, r)
	}
	for range 5000 {
		r := *list[random.IntN(len(list))]
		if random.IntN(2) == 0 {
			r.Expires = time.Time{}
		}
		if r.Kind.ChangesShoe() {
			r.Version = 2 + random.Uint64N(audit.MaxSize-1)
		} else if random.IntN(2) == 0 {
			r.AuditID = uuid.Nil
		}
		if n := r.Cards.Len(); n > 0 {
			var refs []shoe.Ref
			for _, at := range random.Perm(9)[:n] {
				refs = append(refs, shoe.Ref{Seal: 1 + random.Uint64N(2), Position: uint64(at)})
			}
			r.Cards = shoe.List(refs)
		}
		text := r.Append(nil)
		got, err := audit.ParseRecord(text)
		require.Truef(t, err == nil && reflect.DeepEqual(got, &r), "%s\nreads as %+v, %v, want %+v", text, got, err, &r)
	}
}
