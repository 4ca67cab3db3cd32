package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// A Sidecar is the encrypted data stored beside a record, for the caller only.
type Sidecar struct {
	Seed rng.Seed        // nil if the record has no seed, or shares its commitment's
	Key  *IdempotencyKey // nil for a request without an idempotency key
	Shoe *ShoeState      // nil if the record is not of a shoe
}

// A ShoeState is a shoe after one of its records.
type ShoeState struct {
	Layout   *shoe.Layout `json:"layout"`
	Seals    []uint64     `json:"seals"`              // log indexes of the records of the layout's seals
	Previous uint64       `json:"previous"`           // log index of the previous record
	Status   shoe.Status  `json:"status"`             // after the record
	Shuffled bool         `json:"shuffled,omitempty"` // whether the deck was ever shuffled
	Expires  time.Time    `json:"expires,omitzero"`   // zero for never
	TTL      int64        `json:"keep,omitempty"`     // seconds from each change; 0 for a fixed expiry

	Order []uint32  `json:"order,omitempty"` // card number at each position; only if the record sealed cards
	ID    uuid.UUID `json:"id,omitzero"`     // the shoe's secret id; only in its first record
	Items []string  `json:"items,omitempty"` // the caller's items as JSON; only in the first record
}

// keyed is the last byte of a sidecar with a key. Seeds are blocks of 32 bytes, so the length shows
// whether there is a key.
const keyed = 1

// lengthSize is the size of the length before a shoe state, in bytes.
const lengthSize = 4

// encode returns the plaintext of the sidecar, nil if it is empty: the shoe state as JSON after its
// length, the seed, and for a request with a key the digests of key and request and the byte 01.
func (s *Sidecar) encode() []byte {
	var b []byte
	if s.Shoe != nil {
		state, err := json.Marshal(s.Shoe)
		if err != nil {
			panic("journal: the state of a shoe does not marshal: " + err.Error())
		}
		b = append(binary.BigEndian.AppendUint32(nil, uint32(len(state))), state...)
	}
	b = append(b, s.Seed...)
	if s.Key == nil {
		return b
	}
	b = append(b, s.Key.key[:]...)
	digest := s.Key.digest()
	b = append(b, digest[:]...)
	return append(b, keyed)
}

// decodeSidecar decodes the sidecar of a record of a kind. The error is [ledger.ErrCorrupt].
func decodeSidecar(kind audit.Kind, b []byte) (*Sidecar, error) {
	if kind != audit.KindShoe && !kind.ChangesShoe() {
		return decodeSeedAndKey(b)
	}
	if len(b) < lengthSize || uint64(len(b)-lengthSize) < uint64(binary.BigEndian.Uint32(b)) {
		return nil, fmt.Errorf("%w: the sidecar of a shoe's record has %d bytes", ledger.ErrCorrupt, len(b))
	}
	end := lengthSize + binary.BigEndian.Uint32(b)
	s, err := decodeSeedAndKey(b[end:])
	if err != nil {
		return nil, err
	}
	s.Shoe = &ShoeState{}
	if err := json.Unmarshal(b[lengthSize:end], s.Shoe); err != nil || s.Shoe.Layout == nil {
		return nil, fmt.Errorf("%w: the sidecar of a shoe's record has no state of the shoe", ledger.ErrCorrupt)
	}
	return s, nil
}

func decodeSeedAndKey(b []byte) (*Sidecar, error) {
	s := &Sidecar{}
	switch len(b) % rng.BlockSize {
	case 0:
	case 1:
		const digests = 2 * sha256.Size
		seed := len(b) - digests - 1
		if seed < 0 || b[len(b)-1] != keyed {
			return nil, fmt.Errorf("%w: the sidecar is of an unknown form", ledger.ErrCorrupt)
		}
		s.Key = &IdempotencyKey{}
		copy(s.Key.key[:], b[seed:])
		copy(s.Key.request[:], b[seed+sha256.Size:])
		b = b[:seed]
	default:
		return nil, fmt.Errorf("%w: the sidecar has %d bytes", ledger.ErrCorrupt, len(b))
	}
	if len(b) > 0 {
		s.Seed = bytes.Clone(b)
	}
	return s, nil
}

// SetIndex adds the log index of the state's own record, which is unknown when the state is
// encoded. A record with an order made the last seal.
func (s *ShoeState) SetIndex(index uint64) {
	if n := len(s.Seals); s.Order != nil && n > 0 {
		s.Seals[n-1] = index
	}
}
