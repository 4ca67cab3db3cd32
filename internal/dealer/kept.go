package dealer

import (
	"bytes"
	"crypto/sha256"
	"fmt"

	"riffle/internal/ledger"
	"riffle/internal/rng"
)

// kept is what is kept beside a record and belongs to the caller: the seed, and by what a retry of the request is known.
type kept struct {
	seed rng.Seed // nil for a record without one, and for a shuffle that used a commitment: it is beside that
	call *Call    // nil for a request that nobody can repeat
}

// withCall is the last byte of what is kept with a call. Seeds alone are whole blocks of 32 bytes, and so one byte shorter
// than any text that ends with it.
const withCall = 1

// text returns the text that is kept: the seed and, for a request with a key, the digests of key and request and the
// byte 01. It is nil if there is nothing to keep.
func (k *kept) text() []byte {
	if k.call == nil {
		return k.seed
	}
	b := make([]byte, 0, len(k.seed)+len(k.call.key)+len(k.call.request)+1)
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

// keptOf returns what is kept beside the record of an entry. The error is [ledger.ErrCorrupt].
func (d *Dealer) keptOf(e *ledger.Stored) (kept, error) {
	text, err := d.log.Secret(e)
	if err != nil {
		return kept{}, err
	}
	return parseKept(text)
}
