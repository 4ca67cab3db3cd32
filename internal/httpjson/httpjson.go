// Package httpjson reads JSON bodies of HTTP requests: within a memory budget that requests share,
// strictly, and without copying what the caller only wants to have passed on.
//
// A request gets a [Lease] on the [Budget], [Read] receives its body, and a [Reader] takes it
// apart. Where an array can be long, [Reader.Elements] finds its elements in the body instead of
// decoding them.
package httpjson

// An Error says why a body was refused. Its text is for the caller, in whole sentences.
type Error struct {
	Status  int    // of HTTP
	Pointer string // JSON pointer (RFC 6901) to the member that is at fault; empty for the whole body
	Detail  string
	// Integer is the head of an integer that cannot be a count, if that is the error.
	Integer string
}

func (e *Error) Error() string { return e.Detail }
