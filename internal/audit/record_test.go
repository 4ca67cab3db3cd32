package audit_test

import (
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/shuffle"
)

// fixedRecord returns a record with an id, a time and a commitment. The time is in another zone and
// finer than records write it.
func fixedRecord(t testing.TB) audit.Record {
	t.Helper()
	r := audit.Record{
		ID:      uuid.MustParse("019b7ca9-8c88-7e34-8a29-e0ab088154ee"),
		AuditID: uuid.MustParse("019b7ca9-8c89-7679-9c9b-a303e69b738d"),
		Time:    time.Date(2026, time.January, 2, 4, 4, 5, 60_999, time.FixedZone("", 3600)),
	}
	for i := range r.Commitment {
		r.Commitment[i] = byte(i)
	}
	return r
}

// committedRecords returns a commitment, its void and a shuffle that uses it. They share one id.
func committedRecords(t testing.TB) (commitment, void, used audit.Record) {
	t.Helper()
	commitment, void, used = fixedRecord(t), fixedRecord(t), fixedRecord(t)
	commitment.Kind, void.Kind, used.Kind = audit.KindCommitment, audit.KindVoid, audit.KindShuffle
	commitment.Statement = audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1, Input: audit.RangeInput, Reference: "table 7",
	}
	commitment.Deadline = commitment.Time.Add(10 * time.Minute)
	used.Statement, used.ClientSeed = commitment.Statement, "late"
	void.CommitmentID, used.CommitmentID = commitment.ID, commitment.ID
	return commitment, void, used
}

// Records are stored, hashed and signed as these bytes. They may never change.
func TestRecordBytes(t *testing.T) {
	smallest, reveal, full := fixedRecord(t), fixedRecord(t), fullRecord(t)
	smallest.Kind, reveal.Kind, full.Kind = audit.KindShuffle, audit.KindReveal, audit.KindShuffle
	commitment, void, committed := committedRecords(t)
	smallest.Statement = audit.Statement{Algorithm: shuffle.AlgorithmSattolo, Repeat: 1, Input: audit.RangeInput, Seed: testSeed(1)}
	const (
		head      = `{"id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","time":"2026-01-02T03:04:05.000060Z",`
		statement = `"algorithm":"fisher-yates","size":5,"draw":5,"repeat":1,"input":"range","reference":"table 7",`
		used      = `"commitment_id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee",`
		tail      = `"commitment":"000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"}`
	)
	for want, r := range map[string]audit.Record{
		head + `"kind":"shuffle","spec":"riffle/1","algorithm":"sattolo","size":0,"draw":0,"repeat":1,"input":"range",` + tail: smallest,
		head + `"kind":"reveal","spec":"riffle/1","audit_id":"019b7ca9-8c89-7679-9c9b-a303e69b738d",` + tail:                   reveal,
		head + `"kind":"shuffle","spec":"riffle/1","algorithm":"fisher-yates","size":12,"draw":11,"repeat":2,"hands":[4,6],` +
			`"input":"deck undercover x2 sha256:79858da63aeb2fac29e3f830a622016237ca60687e148e78328e5caaff848854",` +
			`"parameters":{"blank":0,"players":12},"reference":"round \"2\" \\ é","client_seed":"heads\n\u0001 \"é\"","reveal":"now",` + tail: full,
		head + `"kind":"commitment","spec":"riffle/1",` + statement + `"deadline":"2026-01-02T03:14:05.000060Z",` + tail: commitment,
		head + `"kind":"void","spec":"riffle/1",` + used + tail:                                                          void,
		head + `"kind":"shuffle","spec":"riffle/1",` + statement + `"client_seed":"late",` + used + tail:                 committed,
	} {
		got := r.Append([]byte("x"))
		assert.Equalf(t, "x"+want, string(got), "the record is\n%s, want\n%s", got[1:], want)
	}
}

// Only the commitment of a record depends on the seed.
func TestRecordDoesNotContainTheSeed(t *testing.T) {
	r := fullRecord(t)
	r.Kind = audit.KindShuffle
	a := r.Append(nil)
	assert.Falsef(t, showsSeed(string(a), r.Statement.Seed), "the record shows its seed: %s", a)
	r.Statement.Seed = nil
	assert.Equal(t, r.Append(nil), a, "with another seed and the same commitment the record")
}

func TestRecordsRoundTrip(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	texts := []string{"", "x", `"`, `\`, "/", "é", "e\u0301", "🀄", "<&>", " ", "seed 00", "\u00e9\U0001F0A1"}
	pick := func() string { return texts[random.IntN(len(texts))] + texts[random.IntN(len(texts))] }
	for range 20_000 {
		r := &audit.Record{Kind: audit.KindShuffle, Time: time.UnixMicro(random.Int64N(4e15)).UTC()}
		for i := range r.ID {
			r.ID[i], r.AuditID[i] = byte(random.Uint32()), byte(random.Uint32())
		}
		for _, id := range []*uuid.UUID{&r.ID, &r.AuditID} {
			id[6], id[8] = 0x70|id[6]&0x0f, 0x80|id[8]&0x3f
		}
		for i := range r.Commitment {
			r.Commitment[i] = byte(random.Uint32())
		}
		other := r.AuditID
		r.AuditID = uuid.Nil
		switch random.IntN(6) {
		case 0:
			r.Kind, r.AuditID = audit.KindReveal, other
		case 1:
			r.Kind, r.CommitmentID = audit.KindVoid, other
		default:
			r.Statement = randomStatement(random)
			r.Statement.Reference, r.Statement.Seed = pick(), nil
			r.ClientSeed = pick() + []string{"", "\n\r\t\b\f\x01\x1f\x7f", "\u2028"}[random.IntN(3)]
			r.RevealNow = random.IntN(2) == 0
			if random.IntN(2) == 0 {
				r.Parameters = map[string]int{"players": random.IntN(100), "blank": random.IntN(3)}
			}
			switch random.IntN(3) {
			case 0:
				r.Kind, r.ClientSeed, r.RevealNow = audit.KindCommitment, "", false
				r.Deadline = r.Time.Add(time.Duration(1+random.IntN(1e9)) * time.Microsecond)
			case 1:
				r.CommitmentID, r.ClientSeed = other, "x"+r.ClientSeed
			}
			if !isValid(r.Statement) {
				continue
			}
		}
		text := r.Append(nil)
		got, err := audit.ParseRecord(text)
		require.NoErrorf(t, err, "%s", text)
		require.Equalf(t, r, got, "%s\nreads as", text)
	}
}

//go:embed testdata/rejected.txt
var rejectedFile string

// Errors say what is wrong. The vectors have many more invalid records, without the reason.
func TestInvalidRecordsAreRejected(t *testing.T) {
	full := fullRecord(t)
	commitment, void, used := committedRecords(t)
	hash, of := full.Statement.Commitment().String(), commitment.ID.String()
	records := map[string]string{
		"full": committed(full), "commitment": string(commitment.Append(nil)), "void": string(void.Append(nil)), "used": string(used.Append(nil)),
		"first": shoeRecord(t, audit.KindShoe, ""), "reshuffle": shoeRecord(t, audit.KindReshuffle, ""),
		"top": shoeRecord(t, audit.KindDraw, `"top"`), "random": shoeRecord(t, audit.KindDraw, `"random"`),
		"byName": shoeRecord(t, audit.KindDraw, `"cards","cards"`),
		"add":    shoeRecord(t, audit.KindAdd, ""), "back": shoeRecord(t, audit.KindReturn, ""),
	}
	names := strings.NewReplacer(
		"$commitment", hash, "$less1", hash[1:], "$less2", hash[2:], "$COMMITMENT", strings.ToUpper(hash), "$input", full.Statement.Input,
		"$id", `"commitment_id":"`+of+`"`, "$of", of, "$OF", strings.ToUpper(of), "$root", shoeRoot, "$expires", expires,
		"$x128", strings.Repeat("x", audit.MaxReference), "$x256", strings.Repeat("x", audit.MaxClientSeed), "$zeros", strings.Repeat("0", 64),
	)
	record, changes := "", 0
	for line := range strings.Lines(rejectedFile) {
		line = strings.TrimSuffix(line, "\n")
		if name, found := strings.CutPrefix(line, "== "); found {
			record = records[name]
		} else if parts := strings.Split(names.Replace(line), " => "); len(parts) == 3 {
			checkRejected(t, record, parts[0], parts[1], parts[2])
			changes++
		}
	}
	assert.Greater(t, changes, 160)
}

// checkRejected changes a record and wants an error with the reason.
func checkRejected(t *testing.T, record, old, new, reason string) {
	t.Helper()
	changed := strings.Replace(record, old, new, 1)
	require.NotEqualf(t, record, changed, "%s is not in", old)
	got, err := audit.ParseRecord([]byte(changed))
	assert.Truef(t, err != nil && strings.Contains(err.Error(), reason), "%s for %s: %+v, %v; want an error with %q", new, old, got, err, reason)
}

func TestCheckCommitted(t *testing.T) {
	commitment, _, used := committedRecords(t)
	require.NoError(t, used.CheckCommitted(&commitment))
	for reason, change := range map[string]func(c, u *audit.Record){
		"proof given is not of a":      func(c, _ *audit.Record) { c.Kind = audit.KindShuffle },
		"does not say that it used":    func(_, u *audit.Record) { u.CommitmentID = u.AuditID },
		"was committed to":             func(_, u *audit.Record) { u.Commitment[31] ^= 1 },
		"states something other":       func(_, u *audit.Record) { u.Statement.Reference = "table 8" },
		"the deadline was":             func(c, u *audit.Record) { u.Time = c.Deadline },
		"given is not of a commitment": func(c, _ *audit.Record) { c.Kind = audit.KindVoid },
	} {
		c, u := commitment, used
		change(&c, &u)
		err := u.CheckCommitted(&c)
		assert.Truef(t, err != nil && strings.Contains(err.Error(), reason), "%v, want an error with %q", err, reason)
	}
}

// Later versions may add members to the same kinds.
func TestUnknownMembersAreIgnored(t *testing.T) {
	r := fullRecord(t)
	record := committed(r)
	more := strings.Replace(record, `"size"`, `"size_of_table":{"legs":[4,null]},"Size":13,"size"`, 1)
	v := verify(t, more, r.Statement.Seed, 0)
	assert.Truef(t, v.OK, "%+v", v.Steps)
	assert.Equalf(t, verify(t, record, r.Statement.Seed, 0).OrderDigest, v.OrderDigest, "%+v", v.Steps)
}

// Of an unknown kind only the members of all records are checked.
func TestUnknownKindsAreReported(t *testing.T) {
	const record = `{"id":"019b7ca9-8c88-7e34-8a29-e0ab088154ee","time":"2026-01-02T03:04:05.000060Z","kind":"shoe_of-6","spec":"riffle/1",` +
		`"size":"many","hands":[],"reference":null,"commitment":1}`
	if r, err := audit.ParseRecord([]byte(record)); r != nil || !errors.Is(err, audit.ErrUnknownKind) || !strings.Contains(err.Error(), `"shoe_of-6"`) {
		t.Errorf("%+v, %v", r, err)
	}
	for _, c := range []struct{ old, new string }{
		{`"kind":"shoe_of-6"`, `"kind":"Shoe"`},
		{`"kind":"shoe_of-6"`, `"kind":"shoe of 6"`},
		{`"kind":"shoe_of-6"`, `"kind":"reveal"`},
		{`"id":"019b7ca9`, `"id":"019B7CA9`},
		{`05.000060Z`, `05Z`},
		{`riffle/1`, `riffle/2`},
		{`"commitment":1`, `"commitment":1,"commitment":1`},
		{`"commitment":1`, `"commitment":01`},
	} {
		if _, err := audit.ParseRecord([]byte(strings.Replace(record, c.old, c.new, 1))); err == nil || errors.Is(err, audit.ErrUnknownKind) {
			t.Errorf("%s for %s: %v", c.new, c.old, err)
		}
	}
}

func FuzzParseRecord(f *testing.F) {
	for _, v := range vectors(f) {
		if len(v.Record) < 1000 {
			f.Add([]byte(v.Record))
		}
	}
	for _, v := range invalidVectors(f) {
		f.Add([]byte(v.Record))
	}
	r := fullRecord(f)
	f.Add([]byte(committed(r)))
	r.Kind = audit.KindReveal
	f.Add(r.Append(nil))
	commitment, void, used := committedRecords(f)
	f.Add(commitment.Append(nil))
	f.Add(void.Append(nil))
	f.Add(used.Append(nil))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := audit.ParseRecord(text)
		if err != nil {
			require.Truef(t, r == nil && err.Error() != "", "%+v with the error %q", r, err)
			return
		}
		if r.Kind == audit.KindShuffle || r.Kind == audit.KindCommitment {
			if got, err := readStatement(string(r.Statement.Append(nil))); err != nil || !same(got, &r.Statement) {
				t.Fatalf("the statement reads as %+v, %v", got, err)
			}
		}
		first := r.Append(nil)
		again, err := audit.ParseRecord(first)
		require.NoErrorf(t, err, "%s\ndoes not parse again", first)
		require.Equal(t, again.Append(nil), first, "encoded again it")
	})
}

func ExampleVerify() {
	s := audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: 5, Draw: 5, Repeat: 1, Input: audit.RangeInput, Seed: testSeed(1)}
	r := audit.Record{
		ID: uuid.MustParse("019b7ca9-8c88-7e34-8a29-e0ab088154ee"), Time: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Kind: audit.KindShuffle, Statement: s, Commitment: s.Commitment(),
	}
	v := audit.Verify(r.Append(nil), s.Seed, 5)
	fmt.Println(v.OK, v.Orders)
	// Output: true [[4 2 3 0 1]]
}
