package timelock_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"filippo.io/age"
	"github.com/cloudflare/circl/ecc/bls12381"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/timelock"
)

// What quicknet published in its rounds 1000 and 1001.
const (
	signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
	next      = "b33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41"
)

// Most vectors were sealed by tlock-js, and some then changed.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("../../testdata/riffle1/timelocks.json")
	require.NoError(t, err)
	var vectors struct {
		Opened []struct {
			Name, Record, Signature string
			Round                   beacon.Round
			Seed                    *string
		}
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	require.Len(t, vectors.Opened, 27)
	for _, v := range vectors.Opened {
		record, err := audit.ParseRecord([]byte(v.Record))
		require.NoError(t, err, v.Name)
		sealed, err := base64.StdEncoding.DecodeString(record.SealedSeed)
		require.NoError(t, err, v.Name)
		seed, err := timelock.Open(v.Round, v.Signature, sealed)
		if err == nil {
			err = record.CheckSeed(seed)
		}
		if v.Seed == nil {
			assert.Error(t, err, v.Name)
			continue
		}
		require.NoError(t, err, v.Name)
		assert.Equal(t, *v.Seed, hex.EncodeToString(seed), v.Name)
	}
}

func TestSeal(t *testing.T) {
	seed := bytes.Repeat([]byte("0123456789abcdef"), 2*213)
	sealed, err := timelock.Seal(1000, seed)
	require.NoError(t, err)
	text, err := timelock.Open(1000, signature, sealed)
	require.NoError(t, err)
	assert.Equal(t, seed, text)
	again, err := timelock.Seal(1000, seed)
	require.NoError(t, err)
	assert.NotEqual(t, sealed, again)
	_, err = timelock.Open(1000, next, sealed)
	require.EqualError(t, err, "not the signature of quicknet 1000, which has 96 hex digits in lower case")
	_, err = timelock.Open(1001, next, sealed)
	assert.ErrorContains(t, err, "not sealed to quicknet 1001")
}

// What comes with a right checksum, as only a dishonest operator makes it.
func TestOtherStanzas(t *testing.T) {
	sealed, err := timelock.Seal(1000, nil)
	require.NoError(t, err)
	var good *age.Stanza
	_, err = age.Decrypt(bytes.NewReader(sealed), unwrap(func(s []*age.Stanza) { good = s[0] }))
	require.Error(t, err)
	identity := bls12381.G2{}
	identity.SetIdentity()
	with := func(begin []byte) []byte { return append(begin, good.Body[len(begin):]...) }
	flipped := bytes.Clone(good.Body)
	flipped[100] ^= 1
	for name, stanzas := range map[string][]*age.Stanza{
		"two":             {good, good},
		"another type":    {{Type: "tlock2", Args: good.Args, Body: good.Body}},
		"no arguments":    {{Type: "tlock", Body: good.Body}},
		"three arguments": {{Type: "tlock", Args: append(good.Args[:2:2], "x"), Body: good.Body}},
		"another round":   {{Type: "tlock", Args: []string{"1001", good.Args[1]}, Body: good.Body}},
		"01000":           {{Type: "tlock", Args: []string{"01000", good.Args[1]}, Body: good.Body}},
		"short":           {{Type: "tlock", Args: good.Args, Body: good.Body[:127]}},
		"long":            {{Type: "tlock", Args: good.Args, Body: append(good.Body[:128:128], 0)}},
		"empty":           {{Type: "tlock", Args: good.Args}},
		"identity":        {{Type: "tlock", Args: good.Args, Body: with(identity.BytesCompressed())}},
		"not compressed":  {{Type: "tlock", Args: good.Args, Body: with([]byte{good.Body[0] & 0x1f})}},
		"no point":        {{Type: "tlock", Args: good.Args, Body: with(bytes.Repeat([]byte{0xff}, 96))}},
		"not in group":    {{Type: "tlock", Args: good.Args, Body: with(append([]byte{0x80}, make([]byte, 95)...))}},
		"another sigma":   {{Type: "tlock", Args: good.Args, Body: flipped}},
	} {
		var made bytes.Buffer
		w, err := age.Encrypt(&made, wrap(stanzas))
		require.NoError(t, err, name)
		require.NoError(t, w.Close())
		_, err = timelock.Open(1000, signature, made.Bytes())
		assert.ErrorContains(t, err, "not sealed to quicknet 1000", name)
	}
}

type unwrap func([]*age.Stanza)

func (f unwrap) Unwrap(s []*age.Stanza) ([]byte, error) { f(s); return nil, age.ErrIncorrectIdentity }

type wrap []*age.Stanza

func (w wrap) Wrap([]byte) ([]*age.Stanza, error) { return w, nil }
