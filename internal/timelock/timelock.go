// Package timelock encrypts a seed to a round of quicknet, so that everybody can read it once the
// round is published, and nobody before.
//
// A sealed text is a file of age (https://age-encryption.org/v1) in the format of drand's tlock:
// its one stanza, "tlock ROUND CHAIN", has the key of the file, encrypted to the round by the
// identity-based encryption of Boneh and Franklin (2001), section 4.2, on BLS12-381. So other
// programs open what Riffle seals, and Riffle what they seal.
package timelock

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"filippo.io/age"
	"github.com/cloudflare/circl/ecc/bls12381"

	"riffle/internal/beacon"
)

const (
	stanza  = "tlock"
	keySize = 16      // of a file of age, in bytes
	maxText = 1 << 16 // bytes that are opened; no seed is longer
)

// Seal encrypts a text to a round. It takes 4 ms.
func Seal(round beacon.Round, text []byte) ([]byte, error) {
	var sealed bytes.Buffer
	w, err := age.Encrypt(&sealed, sealer(round))
	if err == nil {
		_, err = w.Write(text)
	}
	if err == nil {
		err = w.Close()
	}
	return sealed.Bytes(), err
}

// Open decrypts a text that was sealed to a round, by the round's signature, which it checks.
func Open(round beacon.Round, signature string, sealed []byte) ([]byte, error) {
	if err := round.Check(signature); err != nil {
		return nil, err
	}
	key := &bls12381.G1{}
	point, _ := hex.DecodeString(signature)
	_ = key.SetBytes(point) // no error, since it is the signature
	text, err := age.Decrypt(bytes.NewReader(sealed), opener{round, key})
	if err != nil {
		return nil, fmt.Errorf("not sealed to %s: %w", round, err)
	}
	opened, err := io.ReadAll(io.LimitReader(text, maxText+1)) // to its end, which is authentic only there
	if len(opened) > maxText {
		err = errors.New("longer than any seed")
	}
	return opened, err
}

// sealer seals to a round.
type sealer beacon.Round

// Wrap encrypts the key of a file.
func (s sealer) Wrap(key []byte) ([]*age.Stanza, error) {
	sigma := make([]byte, keySize)
	_, _ = rand.Read(sigma) // never fails
	r, id, u, chain := exponent(sigma, key), &bls12381.G1{}, &bls12381.G2{}, &bls12381.G2{}
	if err := chain.SetBytes(beacon.Key()); err != nil {
		return nil, err
	}
	id.Hash(beacon.Round(s).Message(), []byte(beacon.Domain))
	id.ScalarMult(r, id)
	u.ScalarMult(r, bls12381.G2Generator())
	body := append(u.BytesCompressed(), masked(sigma, "IBE-H2", shared(id, chain))...)
	return []*age.Stanza{{Type: stanza, Args: args(beacon.Round(s)), Body: append(body, masked(key, "IBE-H4", sigma)...)}}, nil
}

// An opener opens what is sealed to a round, whose signature is the key.
type opener struct {
	round beacon.Round
	key   *bls12381.G1
}

// Unwrap decrypts the key of a file, which has one stanza or more.
func (o opener) Unwrap(stanzas []*age.Stanza) ([]byte, error) {
	const size = bls12381.G2SizeCompressed
	if s := stanzas[0]; len(stanzas) > 1 || s.Type != stanza || !slices.Equal(s.Args, args(o.round)) || len(s.Body) != size+2*keySize {
		return nil, errors.New("it has other keys, or more than one")
	}
	body, u, again := stanzas[0].Body, &bls12381.G2{}, &bls12381.G2{}
	if err := u.SetBytes(body[:size]); err != nil {
		return nil, err
	}
	sigma := masked(body[size:size+keySize], "IBE-H2", shared(o.key, u))
	key := masked(body[size+keySize:], "IBE-H4", sigma)
	if again.ScalarMult(exponent(sigma, key), bls12381.G2Generator()); !again.IsEqual(u) {
		return nil, errors.New("its key was changed")
	}
	return key, nil
}

// args are the arguments of the stanza for a round.
func args(round beacon.Round) []string {
	return []string{strconv.FormatUint(uint64(round), 10), beacon.Hash}
}

// shared returns what whoever seals and whoever opens both calculate.
func shared(p *bls12381.G1, q *bls12381.G2) []byte {
	b, _ := bls12381.Pair(p, q).MarshalBinary() // no error
	return b
}

// masked returns the text XOR the beginning of the SHA-256 of the domain and the secret.
func masked(text []byte, domain string, secret []byte) []byte {
	mask, out := sha256.Sum256(append([]byte(domain), secret...)), make([]byte, keySize)
	subtle.XORBytes(out, text, mask[:])
	return out
}

// exponent returns the first SHA-256 of a counter and of the secrets, with its first byte halved,
// that is below the order of the groups.
func exponent(sigma, key []byte) *bls12381.Scalar {
	secret, r := sha256.Sum256(slices.Concat([]byte("IBE-H3"), sigma, key)), &bls12381.Scalar{}
	for i := uint16(1); ; i++ {
		hash := sha256.Sum256(append(binary.LittleEndian.AppendUint16(nil, i), secret[:]...))
		if hash[0] >>= 1; bytes.Compare(hash[:], bls12381.Order()) < 0 {
			r.SetBytes(hash[:])
			return r
		}
	}
}
