// Package httpjson reads JSON request bodies strictly, within a memory budget.
//
// [Read] receives a body, and a [Reader] decodes it. [Reader.Elements] locates the elements of a long array
// without copying or decoding them.
package httpjson

// An Error rejects a body.
type Error struct {
	Status  int    // of HTTP
	Pointer string // JSON pointer (RFC 6901) to the wrong member; empty for the whole body
	Detail  string // whole sentences for the caller
	Integer string // the head of an integer that is out of range; empty for any other error
}

func (e *Error) Error() string { return e.Detail }
