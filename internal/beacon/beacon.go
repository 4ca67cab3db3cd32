// Package beacon knows the rounds of quicknet, a public beacon: every three seconds the League of
// Entropy signs the number of the next round together. Nobody has a signature before enough of its
// members have given their share, and anybody can check one without asking anybody.
//
// It is a chain of drand (https://docs.drand.love) of the scheme bls-unchained-g1-rfc9380:
// signatures are points of the group G1 of BLS12-381, to which RFC 9380 hashes the SHA-256 of the
// number with the domain BLS_SIG_BLS12381G1_XMD:SHA-256_SSWU_RO_NUL_.
package beacon

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/cloudflare/circl/sign/bls"
	lru "github.com/hashicorp/golang-lru/v2"
)

// Chain is the name of the beacon, and Hash what relays know it by.
const (
	Chain = "quicknet"
	Hash  = "52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971"

	genesis = 1692803367 // Unix time of round 1
	period  = 3          // seconds between rounds
)

// chainKey is the public key of the chain. Tests build programs with another one in its place,
// whose rounds they can sign when they are published: see package beacontest.
const chainKey = "83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d106451" +
	"0d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a"

// Key returns the public key of the chain, a compressed point of G2.
func Key() []byte {
	point, _ := hex.DecodeString(chainKey) // no error
	return point
}

var publicKey = sync.OnceValue(func() *bls.PublicKey[bls.KeyG2SigG1] {
	key := &bls.PublicKey[bls.KeyG2SigG1]{}
	_ = key.UnmarshalBinary(Key()) // no error
	return key
})

// A Round is the number of a round, from 1.
type Round uint64

// ErrWrong is for a signature that is not the round's.
var ErrWrong = errors.New("not the signature")

// ErrUnknown is for a beacon that a later version may know.
var ErrUnknown = errors.New("a beacon that is not known here")

// Parse parses the name of a beacon and a number, as [Round.String] writes them. It reports whether
// the beacon is known here.
func Parse(text string) (Round, bool) {
	number, isOurs := strings.CutPrefix(text, Chain+" ")
	if !isOurs {
		return 0, false
	}
	n, err := strconv.ParseUint(number, 10, 54) // 16 digits
	return Round(n), err == nil
}

// From returns the first round that is published at a time or later.
func From(at time.Time) Round {
	since := at.Add(period*time.Second-time.Nanosecond).Unix() - genesis
	return Round(max(since/period, 0)) + 1
}

// String returns the beacon and the number, such as "quicknet 1000".
func (r Round) String() string { return Chain + " " + strconv.FormatUint(uint64(r), 10) }

// Time returns when the round is published. Rounds of more than 53 bits have the time of the last
// of 53.
func (r Round) Time() time.Time { return time.Unix(genesis+period*(int64(min(r, 1<<53))-1), 0).UTC() }

// Message returns what the members of the chain sign in the round.
func (r Round) Message() []byte {
	number := sha256.Sum256(binary.BigEndian.AppendUint64(nil, uint64(r)))
	return number[:]
}

// known are the signatures of the rounds that were checked last. A round has one, so that any other
// is wrong.
var known, _ = lru.New[Round, string](256) // it fails for 0

// Known returns the signature of the round if it was checked lately, and otherwise nothing.
func (r Round) Known() string {
	signature, _ := known.Get(r)
	return signature
}

// learn keeps the signature of the round if it is right.
func (r Round) learn(signature string) {
	point, _ := hex.DecodeString(signature)
	if len(point) != 48 || hex.EncodeToString(point) != signature {
		return
	}
	if bls.Verify(publicKey(), r.Message(), point) {
		known.Add(r, signature)
	}
}

// Check checks the signature of the round: a compressed point, 96 hex digits in lower case. It
// takes 4 ms, unless the signature of the round is known.
func (r Round) Check(signature string) error {
	if r.Known() == "" {
		r.learn(signature)
	}
	if signature == "" || r.Known() != signature {
		return fmt.Errorf("%w of %s, which has 96 hex digits in lower case", ErrWrong, r)
	}
	return nil
}
