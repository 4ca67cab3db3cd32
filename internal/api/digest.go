package api

import (
	"crypto/sha256"
	"hash"

	"github.com/go-json-experiment/json/jsontext"
)

// digest is the SHA-256 of a JSON array without its insignificant white space.
func digest(array jsontext.Value) [sha256.Size]byte {
	compact := array.Clone()
	if err := compact.Compact(); err != nil {
		panic("api: a value that was read does not compact: " + err.Error())
	}
	return sha256.Sum256(compact)
}

// A digester takes the digest of a part of the body while that is still being read, once it is long.
type digester struct {
	body []byte
	from int // where what it has not taken yet begins

	parts chan []byte
	taken chan struct{} // closed when all parts are in hash
	hash  hash.Hash
}

// digestedAtOnce is how much is handed over to be digested at a time.
const digestedAtOnce = 128 << 10

// reach says that the part goes on at least to an offset.
func (d *digester) reach(to int) {
	if to-d.from < digestedAtOnce {
		return
	}
	if d.parts == nil {
		parts, taken, h := make(chan []byte, 64), make(chan struct{}), sha256.New()
		go func() {
			defer close(taken)
			for p := range parts {
				_, _ = h.Write(p) // which never fails
			}
		}()
		d.parts, d.taken, d.hash = parts, taken, h
	}
	d.parts <- d.body[d.from:to]
	d.from = to
}

// sum returns the SHA-256 of the part, which ends at an offset.
func (d *digester) sum(to int) (sum [sha256.Size]byte) {
	if d.parts == nil {
		return sha256.Sum256(d.body[d.from:to])
	}
	d.parts <- d.body[d.from:to]
	d.stop()
	d.hash.Sum(sum[:0])
	return sum
}

// stop waits until nothing of the body is being read any more.
func (d *digester) stop() {
	if d.parts != nil {
		close(d.parts)
		<-d.taken
		d.parts = nil
	}
}
