package journal

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/ledger"
)

func TestSidecarDecodesAsEncoded(t *testing.T) {
	for _, s := range []Sidecar{
		{},
		{Seed: bytes.Repeat([]byte{1}, 32)},
		{Seed: bytes.Repeat([]byte{1}, 96)},
		{Key: NewIdempotencyKey("k", []byte("r"))},
		{Seed: bytes.Repeat([]byte{1}, 64), Key: NewIdempotencyKey("k")},
	} {
		for kind, state := range map[audit.Kind]*ShoeSidecar{
			audit.KindShuffle: nil,
			audit.KindDraw:    {Previous: 4, Expires: time.Unix(7, 0).UTC(), Snapshot: []byte(`{"layout":7}`)},
		} {
			s.Shoe = state
			text := s.encode()
			got, err := decodeSidecar(kind, text)
			if err != nil || fmt.Sprintf("%x %v", got.Seed, got.Key) != fmt.Sprintf("%x %v", s.Seed, s.Key) {
				t.Errorf("%x of a %s decodes as %+v, %v, want %+v", text, kind, got, err, s)
				continue
			}
			assert.Truef(t, string(got.encode()) == string(text), "the state of the %s decodes as %+v, want %+v", kind, got.Shoe, state)
		}
	}
	assert.Nil(t, (&Sidecar{}).encode(), "an empty sidecar")
}

func TestSidecarOfUnknownFormIsCorrupt(t *testing.T) {
	state := `{"previous":7}`
	ofShoe := func(state, rest string) string { return "\x00\x00\x00" + string(rune(len(state))) + state + rest }
	_, err := decodeSidecar(audit.KindShoe, []byte(ofShoe(state, "")))
	require.NoError(t, err, state)
	for kind, texts := range map[audit.Kind][]string{
		audit.KindShuffle: {"x", strings.Repeat("x", 65), strings.Repeat("x", 33), strings.Repeat("x", 66), strings.Repeat("\x01", 33)},
		audit.KindShoe: {
			"", "\x00\x00\x00", "\x00\x00\x00\x01", "\xff\xff\xff\xff{}", ofShoe("[]", ""), ofShoe("nonsense", ""),
			ofShoe(state, "x"), ofShoe(state[:len(state)-1], "}"), strings.Repeat("\x01", 64),
		},
	} {
		for _, text := range texts {
			got, err := decodeSidecar(kind, []byte(text))
			assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%x of a %s decodes as %+v", text, kind, got)
		}
	}
}

func FuzzDecodeSidecar(f *testing.F) {
	f.Add(true, (&Sidecar{Seed: make([]byte, 32), Key: NewIdempotencyKey("k"), Shoe: &ShoeSidecar{Previous: 7}}).encode())
	f.Add(false, (&Sidecar{Seed: make([]byte, 32), Key: NewIdempotencyKey("k")}).encode())
	f.Fuzz(func(t *testing.T, ofShoe bool, text []byte) {
		kind := audit.KindShuffle
		if ofShoe {
			kind = audit.KindDraw
		}
		s, err := decodeSidecar(kind, text)
		if err != nil {
			assert.ErrorIs(t, err, ledger.ErrCorrupt)
			return
		}
		assert.Truef(t, ofShoe || bytes.Equal(s.encode(), text), "%x is encoded again as %x", text, s.encode())
	})
}

func TestIDsAreUUIDv7(t *testing.T) {
	now := time.UnixMilli(0x0123456789ab)
	id, err := newID(now, bytes.NewReader(bytes.Repeat([]byte{0xff}, 10)))
	require.NoErrorf(t, err, "all ones: %s", id)
	assert.Equalf(t, "01234567-89ab-7fff-bfff-ffffffffffff", id.String(), "all ones: %s", id)
	id, err = newID(now, bytes.NewReader(make([]byte, 10)))
	require.NoErrorf(t, err, "all zeroes: %s", id)
	assert.Equalf(t, "01234567-89ab-7000-8000-000000000000", id.String(), "all zeroes: %s", id)
	assert.EqualValues(t, 7, id.Version(), "version")
	_, err = newID(now, bytes.NewReader(make([]byte, 9)))
	assert.Error(t, err, "an id was made of 9 bytes of randomness")
}

// Python's hashlib computed the digests.
func TestStoredDigestOfARequest(t *testing.T) {
	for caller, want := range map[string]string{
		"":      "cbbb835724df1723b418d67008168a8d46d25ff08b4229dc1d6a6e6508b72a0b",
		"table": "63616c6c65723a000d4fc4a78d3706edf3ee99674753ab173e633aaead50654c",
	} {
		text := (&Sidecar{Key: NewIdempotencyKey("k", []byte("POST /shuffle\n"), []byte("{}")).By(caller)}).encode()
		assert.Equalf(t, want, fmt.Sprintf("%x", text[32:64]), "the request of %q is stored as", caller)
		assert.Lenf(t, text, 65, "the request of %q is stored as", caller)
	}
}
