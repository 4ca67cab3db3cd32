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
	Shoe *ShoeSidecar    // nil if the record is not of a shoe
}

// A ShoeSidecar has the secrets that the record of a shoe lacks. The shoe's state is the replay of
// its records; some have a snapshot of it, so that the replay is short.
type ShoeSidecar struct {
	Previous uint64          `json:"previous"`         // log index of the previous record
	Expires  time.Time       `json:"expires,omitzero"` // of the shoe after the record; zero for never
	Snapshot json.RawMessage `json:"snapshot,omitempty"`

	// Only the first record has these.
	ID    uuid.UUID `json:"id,omitzero"`     // the shoe's secret id
	Items []string  `json:"items,omitempty"` // the caller's items as JSON
	TTL   int64     `json:"keep,omitempty"`  // seconds from each change; 0 for a fixed expiry
}

// A Snapshot is a shoe after one of its records.
type Snapshot struct {
	Layout *shoe.Layout `json:"layout"`
	Orders []ShoeOrder  `json:"orders"` // that sealed the deck or cards in the shoe, by version
	// Of the cards at [shoe.All] in order, each in two bytes, big-endian.
	Numbers []byte `json:"numbers"`
}

// A ShoeOrder is an order of cards that a record sealed.
type ShoeOrder struct {
	Version uint64    `json:"version"` // of the shoe, that the record made
	Size    uint64    `json:"size"`
	ID      uuid.UUID `json:"id"` // of the record
}

// ReadSnapshot returns the snapshot beside the record of a shoe, or nil without one. The error
// is [ledger.ErrCorrupt].
func (s *ShoeSidecar) ReadSnapshot(of *StoredRecord) (*Snapshot, error) {
	if s.Snapshot == nil {
		return nil, nil
	}
	var read Snapshot
	if err := json.Unmarshal(s.Snapshot, &read); err != nil || read.Layout == nil {
		return nil, corrupt(of, "has a malformed snapshot of its shoe")
	}
	all, _ := read.Layout.At(shoe.All)
	switch n := all.Len(); {
	case read.Layout.Version != of.Version:
		return nil, corrupt(of, "has the snapshot of another version in its sidecar")
	case n != read.Layout.Total || uint64(len(read.Numbers)) != 2*n:
		return nil, corrupt(of, "has a snapshot of %d cards, of which %d bytes say which they are", n, len(read.Numbers))
	}
	return &read, nil
}

// keyed is the last byte of a sidecar with a key. Seeds are blocks of 32 bytes, so the length shows
// whether there is a key.
const keyed = 1

// lengthSize is the size of the length before the JSON of a shoe, in bytes.
const lengthSize = 4

// encode returns the plaintext of the sidecar, nil if it is empty: what it has of a shoe as JSON
// after its length, the seed, and for a request with a key the digests of key and request and the
// byte 01.
func (s *Sidecar) encode() []byte {
	var b []byte
	if s.Shoe != nil {
		state, err := json.Marshal(s.Shoe)
		if err != nil {
			panic("journal: the sidecar of a shoe does not marshal: " + err.Error())
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
	s.Shoe = &ShoeSidecar{}
	if err := json.Unmarshal(b[lengthSize:end], s.Shoe); err != nil {
		return nil, fmt.Errorf("%w: the sidecar of a shoe's record is malformed", ledger.ErrCorrupt)
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
