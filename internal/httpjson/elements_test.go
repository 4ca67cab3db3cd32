package httpjson

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/budget"
)

// plainElements returns the elements of an array as encoding/json finds them, and the digest of the
// array without white space.
func plainElements(t *testing.T, array string) (list []json.RawMessage, digest [sha256.Size]byte) {
	t.Helper()
	require.NoErrorf(t, json.Unmarshal([]byte(array), &list), "%.100s", array)
	var compact bytes.Buffer
	require.NoError(t, json.Compact(&compact, []byte(array)))
	return list, sha256.Sum256(compact.Bytes())
}

// elementsIn reads the array in the member items of a body.
func elementsIn(body string, limit uint64) (found *Elements, err error) {
	d, err := NewReader([]byte(body), budget.New(1<<30).Lease(netip.MustParseAddr("192.0.2.1")))
	if err != nil {
		return nil, err
	}
	err = d.Object("a JSON object", func(name string) (err error) {
		if name == "items" {
			found, err = d.Elements(limit)
			return err
		}
		_, err = d.String()
		return err
	})
	if err != nil {
		return nil, err
	}
	return found, d.End()
}

// compare compares the elements of a body's array, and its digest, with the plain reference.
func compare(t *testing.T, body, array string) {
	t.Helper()
	found, err := elementsIn(body, 1_000_000)
	require.NoErrorf(t, err, "%.100s", body)
	want, digest := plainElements(t, array)
	same := slices.EqualFunc(found.Spans, want, func(s Span, element json.RawMessage) bool {
		return bytes.Equal(s.Of([]byte(body)), element)
	})
	assert.Truef(t, same && found.Count == uint64(len(want)) && found.Digest == digest,
		"%.100s: %d elements, digest %x; want %d and %x", body, found.Count, found.Digest, len(want), digest)
}

// randomValue returns random JSON, with random nesting and white space.
func randomValue(random *rand.Rand, depth int) string {
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
		return "[" + space() + list(func() string { return randomValue(random, depth-1) }) + "]"
	case n < 4 && depth > 0:
		i := 0
		return "{" + space() + list(func() string {
			i++
			return strconv.Quote(strconv.Itoa(i)) + space() + ":" + space() + randomValue(random, depth-1)
		}) + "}"
	case n < 8:
		return text()
	}
	return []string{"0", "-1.5e+3", "true", "false", "null", "12345678901234567890"}[random.IntN(6)]
}

// TestElementsOfRandomArrays compares with encoding/json.
func TestElementsOfRandomArrays(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		array := ""
		for !strings.HasPrefix(array, "[") {
			array = randomValue(random, 4)
		}
		compare(t, `{"items":`+array+`}`, array)
		compare(t, `{"reference":"[,","items": `+array+`,"client_seed":"]"}`, array)
	}
}

// TestElementsBeyondTheLimitAreCounted has a limit below, at and above the length of an array.
func TestElementsBeyondTheLimitAreCounted(t *testing.T) {
	const array = `["a", [1,2,3], {}, 4]`
	_, digest := plainElements(t, array)
	for limit := range uint64(6) {
		found, err := elementsIn(`{"items":`+array+`}`, limit)
		assert.Truef(t, err == nil && found.Count == 4 && uint64(len(found.Spans)) == min(limit, 4) && (found.Digest == digest) == (limit >= 4),
			"limit %d: %+v, %v", limit, found, err)
	}
}

// TestElementsAreNoDeeperThanAllowed nests an element as deep as is allowed, and one level deeper.
func TestElementsAreNoDeeperThanAllowed(t *testing.T) {
	for depth, want := range map[int]bool{MaxDepth - 2: true, MaxDepth - 1: false} {
		_, err := elementsIn(`{"items":[1,`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`]}`, 10)
		assert.Equalf(t, want, (err == nil), "depth %d: %v", depth, err)
		if e, ok := err.(*Error); err != nil && (!ok || e.Pointer != "/items/1") { //nolint:errorlint // it is returned unwrapped
			t.Errorf("depth %d: %#v", depth, err)
		}
	}
}
