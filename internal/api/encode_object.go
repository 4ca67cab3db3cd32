package api

import (
	"encoding/hex"
	"strconv"
	"time"
)

// An object appends the members of a JSON object to a buffer. Its texts need no escapes: they are names, ids
// and constants. encoding/json takes several times as long.
type object struct{ buf []byte }

// open begins an object, close ends it.
func (o *object) open()  { o.buf = append(o.buf, '{') }
func (o *object) close() { o.buf = append(o.buf, '}') }

// name begins a member, whose value follows.
func (o *object) name(name string) {
	if last := len(o.buf) - 1; last < 0 || o.buf[last] != '{' {
		o.buf = append(o.buf, ',')
	}
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, name...)
	o.buf = append(o.buf, '"', ':')
}

func (o *object) text(name, value string) {
	o.name(name)
	o.buf = append(o.buf, '"')
	o.buf = append(o.buf, value...)
	o.buf = append(o.buf, '"')
}

func (o *object) number(name string, value uint64) {
	o.name(name)
	o.buf = strconv.AppendUint(o.buf, value, 10)
}

func (o *object) hex(name string, value []byte) {
	o.name(name)
	o.buf = append(hex.AppendEncode(append(o.buf, '"'), value), '"')
}

func (o *object) time(name string, value time.Time, layout string) {
	o.name(name)
	o.buf = append(value.AppendFormat(append(o.buf, '"'), layout), '"')
}

// raw appends a member whose value is JSON.
func (o *object) raw(name, value string) {
	o.name(name)
	o.buf = append(o.buf, value...)
}

// list appends a member that is an array of n elements, each appended by element.
func (o *object) list(name string, n int, element func(i int)) {
	o.name(name)
	o.buf = append(o.buf, '[')
	for i := range n {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		element(i)
	}
	o.buf = append(o.buf, ']')
}
