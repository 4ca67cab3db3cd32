package api

import (
	"bytes"
	"crypto/sha256"
	"sync/atomic"

	"github.com/go-json-experiment/json/jsontext"
)

// An ahead takes the digest of a long array while that is being read, in the hope that it has no white space and ends with
// the last bracket of the body. One that is nil has taken nothing.
type ahead struct {
	to      int // where it is hoped to end in the body
	sum     [sha256.Size]byte
	done    chan struct{} // closed when nothing of the body is read any more
	stopped atomic.Bool
}

const (
	longArray      = 256 << 10 // bytes, from which on it is worth a goroutine
	digestedAtOnce = 128 << 10
)

// digestAhead begins with the array that begins at an offset, if it is long and its head has no white space.
func digestAhead(body []byte, from int) *ahead {
	if len(body)-from < longArray {
		return nil
	}
	to := bytes.LastIndexByte(body, ']') + 1
	if to-from < longArray {
		return nil
	}
	comma := from + bytes.IndexByte(body[from:to], ',')
	if isSpace(body[from+1]) || isSpace(body[comma+1]) {
		return nil
	}
	a := &ahead{to: to, done: make(chan struct{})}
	go func() {
		defer close(a.done)
		h := sha256.New()
		for rest := body[from:to]; len(rest) > 0 && !a.stopped.Load(); {
			n := min(len(rest), digestedAtOnce)
			_, _ = h.Write(rest[:n]) // which never fails
			rest = rest[n:]
		}
		h.Sum(a.sum[:0])
	}()
	return a
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

// digest returns the SHA-256 of the array, which is a part of the body, less its insignificant white space; packed says that it has
// none.
func (a *ahead) digest(body []byte, array span, packed bool) [sha256.Size]byte {
	text := body[array.from:array.to]
	switch {
	case packed && a != nil && a.to == int(array.to):
		<-a.done
		return a.sum
	case packed:
		return sha256.Sum256(text)
	}
	compact := jsontext.Value(bytes.Clone(text))
	if err := compact.Compact(); err != nil {
		panic("api: a value that was read does not compact: " + err.Error())
	}
	return sha256.Sum256(compact)
}

// stop waits until nothing of the body is being read any more.
func (a *ahead) stop() {
	if a != nil {
		a.stopped.Store(true)
		<-a.done
	}
}
