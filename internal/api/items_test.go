package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
)

// TestLongListsAreReadAsOthersReadThem compares where items were found, and the digest that was taken on the way, with what
// encoding/json finds, in lists whose white space or nested values come early, late or never.
func TestLongListsAreReadAsOthersReadThem(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	scalar := func() string {
		return []string{`"a"`, `""`, `1`, `-0.0e+10`, `null`, `"\\\","`, `"],["`, `"` + strings.Repeat("é", random.IntN(40)) + `"`}[random.IntN(8)]
	}
	for name, odd := range map[string]string{"packed": ``, "space": ` 1`, "list": `[1]`, "spaced list": `[1 ,2]`, "object": `{"a": ","}`} {
		for _, where := range []int{0, 1, 50_000, 99_999} {
			var items []string
			for range 100_000 {
				items = append(items, scalar())
			}
			if odd != "" {
				items[where] = odd
			}
			array := "[" + strings.Join(items, ",") + "]"
			body := `{"reference":"[,","items": ` + array + []string{`,"algorithm":"sattolo"}`, `,"client_seed":"]"}`}[where%2]
			q := (&API{}).newRequest()
			if err := q.decode([]byte(body), 100_000, ofShuffle); err != nil {
				t.Fatalf("%s at %d: %v", name, where, err)
			}
			var packed bytes.Buffer
			if err := json.Compact(&packed, []byte(array)); err != nil {
				t.Fatal(err)
			}
			if q.Items.Digest != sha256.Sum256(packed.Bytes()) {
				t.Errorf("%s at %d: another digest", name, where)
			}
			same := slices.EqualFunc(q.items, items, func(at span, item string) bool {
				return body[at.from:at.to] == strings.TrimSpace(item)
			})
			if !same || q.Items.Count != 100_000 {
				t.Errorf("%s at %d: other items", name, where)
			}
			q.release()
		}
	}
}

// value returns JSON at random, nested and spaced at random.
func value(random *rand.Rand, depth int) string {
	space := func() string {
		return strings.Repeat([]string{" ", "\n", "\t", "\r"}[random.IntN(4)], max(0, random.IntN(20)-17))
	}
	list := func(one func() string) string {
		var parts []string
		for range random.IntN(4) {
			parts = append(parts, space()+one()+space())
		}
		return strings.Join(parts, ",")
	}
	text := func() string {
		var b strings.Builder
		for range random.IntN(4) {
			b.WriteString(strings.Repeat([]string{"a", `\"`, `\\`, "[", "}", ",", " ", "é", `\u0022`}[random.IntN(9)], random.IntN(10)))
		}
		return `"` + b.String() + `"`
	}
	switch n := random.IntN(10); {
	case n < 2 && depth > 0:
		return "[" + space() + list(func() string { return value(random, depth-1) }) + "]"
	case n < 4 && depth > 0:
		i := 0
		return "{" + space() + list(func() string {
			i++
			return strconv.Quote(strconv.Itoa(i)) + space() + ":" + space() + value(random, depth-1)
		}) + "}"
	case n < 8:
		return text()
	}
	return []string{"0", "-1.5e+3", "true", "false", "null", "12345678901234567890"}[random.IntN(6)]
}

// TestItemsAreWhereOthersFindThem takes arrays at random apart, as encoding/json does.
func TestItemsAreWhereOthersFindThem(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	spaced := 0
	for range 20_000 {
		array := "[]"
		for len(array) < 3 || array[0] != '[' {
			array = value(random, 4)
		}
		var want []json.RawMessage
		if err := json.Unmarshal([]byte(array), &want); err != nil {
			t.Fatalf("%s: %v", array, err)
		}
		var packed bytes.Buffer
		if err := json.Compact(&packed, []byte(array)); err != nil {
			t.Fatal(err)
		}
		if packed.String() != array {
			spaced++
		}
		body := `{"items":` + array + `}`
		q := (&API{}).newRequest()
		if err := q.decode([]byte(body), 100, ofShuffle); err != nil {
			t.Fatalf("%s: %v", body, err)
		}
		same := slices.EqualFunc(q.items, want, func(at span, item json.RawMessage) bool { return body[at.from:at.to] == string(item) })
		if !same || q.Items.Count != uint64(len(want)) || q.Items.Digest != sha256.Sum256(packed.Bytes()) {
			t.Errorf("%s: %d items at %v, digest %x", body, q.Items.Count, q.items, q.Items.Digest)
		}
		q.release()
	}
	t.Logf("%d of them with white space", spaced)
}

// TestLongBodiesThatEndOddly ends long bodies where the hope that the digest is begun with is wrong.
func TestLongBodiesThatEndOddly(t *testing.T) {
	long := `"` + strings.Repeat("x", 2*longArray) + `"`
	for body, want := range map[string]bool{
		`{"items":[` + long + `]}`:                    true,
		`{"items":[` + long + `],"client_seed":"]"}`:  true,
		`{"items":[` + long + `],"client_seed":",]"}`: true,
		`{"items":[` + long + `],`:                    false,
		`{"items":[` + long + `]`:                     false,
		`{"items":[` + long + `,]`:                    false,
		`{"items":[` + long:                           false,
		`{"items":[` + long + `,`:                     false,
		`{"items":[[[` + long + `]}`:                  false,
		`{"items":["]",` + long + `,`:                 false,
	} {
		q := (&API{}).newRequest()
		err := q.decode([]byte(body), 10, ofShuffle)
		if (err == nil) != want {
			t.Errorf("...%s: %v", body[len(body)-20:], err)
		}
		if want && q.Items.Digest != sha256.Sum256([]byte("["+long+"]")) {
			t.Errorf("...%s: another digest", body[len(body)-20:])
		}
		q.release()
	}
}

// TestReadingEndsWithTheError breaks a long list off: nothing may go on reading the body, which is another request's then.
func TestReadingEndsWithTheError(t *testing.T) {
	body := []byte(`{"items":[` + strings.Repeat(`"`+strings.Repeat("0", 10_000)+`",`, 100) + `x]}`)
	synctest.Test(t, func(t *testing.T) { // which fails if a goroutine is left
		q := (&API{}).newRequest()
		if err := q.decode(body, 1_000_000, ofShuffle); err == nil {
			t.Error("a list with x in it is read")
		}
	})
}

// TestRoomIsForWhatHasArrived grows a body that announces more than comes.
func TestRoomIsForWhatHasArrived(t *testing.T) {
	shared := &budget{left: 100 << 20}
	b := &body{bytes: make([]byte, 0, 4096), room: 4096, announced: 1_000_000, pooled: bodies.Get().(*[]byte), budget: shared}
	for b.room < 1_000_000 {
		before := b.room
		if !b.grow() || b.room > 2*before || b.room > 1_000_001 || int64(cap(b.bytes)) < b.room {
			t.Fatalf("grew from %d to %d in a buffer of %d", before, b.room, cap(b.bytes))
		}
	}
	if b.room != 1_000_001 || b.taken != weight*b.room || shared.left != 100<<20-b.taken {
		t.Errorf("room for %d, of a budget of which %d are left", b.room, shared.left)
	}
	if b.release(); shared.left != 100<<20 {
		t.Errorf("%d of the budget are left when all is given back", shared.left)
	}
}
