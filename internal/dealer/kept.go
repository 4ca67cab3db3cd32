package dealer

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/rng"
	"riffle/internal/shoe"
)

// kept is what is kept beside a record and belongs to the caller: the seed, and by what a retry of the request is known.
type kept struct {
	seed rng.Seed // nil for a record without one, and for an order that used a commitment: it is beside that
	call *Call    // nil for a request that nobody can repeat
	shoe *shoeKept
}

// A shoeKept is what is kept beside every record of a shoe: how the shoe is after it. Beside the first record stands besides what
// the shoe is made of, and beside that of a sealing which card lies where.
type shoeKept struct {
	Layout   *shoe.Layout `json:"layout"`
	Seals    []uint64     `json:"seals"`              // the log indexes of the records that made the seals of the layout
	Previous uint64       `json:"previous"`           // the log index of the record before; of the first one that of none
	Status   ShoeStatus   `json:"status"`             // what the record leaves the shoe in
	Shuffled bool         `json:"shuffled,omitempty"` // whether the deck ever was
	Expires  time.Time    `json:"expires,omitzero"`   // zero for never
	Keep     int64        `json:"keep,omitempty"`     // by how much a change puts off the expiry, in seconds; 0 for not at all

	Order []uint32  `json:"order,omitempty"` // of a sealing: the number of the card at each position
	ID    uuid.UUID `json:"id,omitzero"`     // of a first record: what the owner knows the shoe by
	Items []string  `json:"items,omitempty"` // of a first record: the caller's items, as they came
}

// withCall is the last byte of what is kept with a call. Seeds alone are whole blocks of 32 bytes, and so one byte shorter
// than any text that ends with it.
const withCall = 1

// text returns the text that is kept: the seed and, for a request with a key, the digests of key and request and the
// byte 01. It is nil if there is nothing to keep.
//
// Of a shoe it begins with what is kept of that, as JSON, behind its length in four bytes.
func (k *kept) text() []byte {
	var b []byte
	if k.shoe != nil {
		const length = 4
		b = k.shoe.append(make([]byte, length, 1024))
		binary.BigEndian.PutUint32(b, uint32(len(b)-length))
	}
	if k.call == nil {
		return append(b, k.seed...)
	}
	b = append(b, k.seed...)
	b = append(b, k.call.key[:]...)
	b = append(b, k.call.request[:]...)
	return append(b, withCall)
}

// parseKept reads the text. The error is [ledger.ErrCorrupt].
func parseKept(text []byte) (k kept, err error) {
	switch len(text) % rng.BlockSize {
	case 0:
	case 1:
		const digests = 2 * sha256.Size
		seed := len(text) - digests - 1
		if seed < 0 || text[len(text)-1] != withCall {
			return k, fmt.Errorf("%w: what is kept beside the record is of an unknown form", ledger.ErrCorrupt)
		}
		k.call = &Call{}
		copy(k.call.key[:], text[seed:])
		copy(k.call.request[:], text[seed+sha256.Size:])
		text = text[:seed]
	default:
		return k, fmt.Errorf("%w: what is kept beside the record has %d bytes", ledger.ErrCorrupt, len(text))
	}
	if len(text) > 0 {
		k.seed = bytes.Clone(text)
	}
	return k, nil
}

// append appends the state as json.Marshal does, of which there is one for every card that is drawn.
func (k *shoeKept) append(b []byte) []byte {
	b = k.Layout.AppendJSON(append(b, `{"layout":`...))
	b = append(b, `,"seals":[`...)
	for i, index := range k.Seals {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendUint(b, index, 10)
	}
	b = strconv.AppendUint(append(b, `],"previous":`...), k.Previous, 10)
	b = append(append(append(b, `,"status":"`...), k.Status...), '"')
	if k.Shuffled {
		b = append(b, `,"shuffled":true`...)
	}
	if !k.Expires.IsZero() {
		b = append(k.Expires.AppendFormat(append(b, `,"expires":"`...), time.RFC3339Nano), '"')
	}
	if k.Keep != 0 {
		b = strconv.AppendInt(append(b, `,"keep":`...), k.Keep, 10)
	}
	if len(k.Order) > 0 {
		b = append(b, `,"order":`...)
		for i, number := range k.Order {
			b = append(b, "[,"[min(i, 1)])
			b = strconv.AppendUint(b, uint64(number), 10)
		}
		b = append(b, ']')
	}
	if k.ID != uuid.Nil {
		b = append(append(append(b, `,"id":"`...), k.ID.String()...), '"')
	}
	if len(k.Items) > 0 {
		items, err := json.Marshal(k.Items)
		if err != nil {
			panic("dealer: texts do not marshal: " + err.Error())
		}
		b = append(append(b, `,"items":`...), items...)
	}
	return append(b, '}')
}

// parseKeptOf reads the text that is kept beside a record of a kind.
func parseKeptOf(kind audit.Kind, text []byte) (k kept, err error) {
	if kind != audit.KindShoe && !kind.ChangesShoe() {
		return parseKept(text)
	}
	const length = 4
	if len(text) < length || uint64(len(text)-length) < uint64(binary.BigEndian.Uint32(text)) {
		return k, fmt.Errorf("%w: what is kept beside the record of a shoe has %d bytes", ledger.ErrCorrupt, len(text))
	}
	state, rest := text[length:], text[length+binary.BigEndian.Uint32(text):]
	if k, err = parseKept(rest); err != nil {
		return k, err
	}
	k.shoe = &shoeKept{}
	if err := json.Unmarshal(state[:len(state)-len(rest)], k.shoe); err != nil || k.shoe.Layout == nil {
		return k, fmt.Errorf("%w: what is kept beside the record of a shoe is of an unknown form", ledger.ErrCorrupt)
	}
	return k, nil
}

// keptOf returns what is kept beside the record of an entry. The error is [ledger.ErrCorrupt].
func (d *Dealer) keptOf(e *ledger.Stored, kind audit.Kind) (kept, error) {
	text, err := d.log.Sidecar(e)
	if err != nil {
		return kept{}, err
	}
	return parseKeptOf(kind, text)
}
