package httpjson

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"strings"

	"riffle/internal/budget"
)

const (
	// firstRead is how much room a body gets before any of it has arrived.
	firstRead = 2 << 10
	// pooled is the length from which on a body is in a pooled buffer, and its elements are.
	pooled = 64 << 10
	// weight is how many bytes of memory a byte of a body takes while its request is in flight:
	// itself, and as much again for what is left behind when the buffer grows and for the copy
	// without white space that a digest is taken of.
	weight = 3
)

// longBodies has the buffers of bodies longer than pooled.
var longBodies budget.Pool[byte]

// Read receives a JSON body of at most limit bytes. It charges the lease for the bytes that have
// arrived, not for the announced length. The body is valid until the lease is released. The error is
// an [*Error], or [budget.ErrFull].
func Read(w http.ResponseWriter, r *http.Request, limit int64, lease *budget.Lease) ([]byte, error) {
	if err := checkHeader(r, limit); err != nil {
		return nil, err
	}
	return ReadAny(w, r, limit, lease)
}

// ReadAny is [Read] for a body of any media type. An error releases the lease, since only the answer
// needs memory then.
func ReadAny(w http.ResponseWriter, r *http.Request, limit int64, lease *budget.Lease) ([]byte, error) {
	body, err := receive(w, r, limit, lease)
	if err != nil {
		lease.Release()
	}
	return body, err
}

func receive(w http.ResponseWriter, r *http.Request, limit int64, lease *budget.Lease) ([]byte, error) {
	in := http.MaxBytesReader(w, r.Body, limit)
	announced := r.ContentLength
	if announced < 0 {
		announced = limit // which it may at most have
	}
	var body []byte
	var long []byte // pooled; body is its head once it is longer than pooled
	for {
		if len(body) == cap(body) {
			room := roomAfter(int64(cap(body)), announced)
			if err := lease.Grow((room - int64(cap(body))) * weight); err != nil {
				return nil, err
			}
			if room <= pooled {
				body = append(make([]byte, 0, room), body...)
			} else {
				if int64(cap(long)) < room {
					long = append(longBodies.Get(lease, int(room)), body...)
				}
				body = long[:len(body):room]
			}
		}
		n, err := in.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		if errors.Is(err, io.EOF) {
			return body, nil
		}
		if err != nil {
			return nil, readError(err, limit)
		}
	}
}

// roomAfter returns how large a buffer follows one that is full. It is at most twice as large, and
// no larger than an announced length needs.
func roomAfter(full, announced int64) int64 {
	room := max(firstRead, 2*full)
	if announced >= full {
		room = min(room, announced+1) // one more byte of room finds the end without growing again
	}
	return room
}

// checkHeader refuses what the header says cannot be read.
func checkHeader(r *http.Request, limit int64) error {
	switch encoding := r.Header.Get("Content-Encoding"); {
	case r.ContentLength > limit:
		return tooLarge(limit)
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		return &Error{Status: http.StatusUnsupportedMediaType, Detail: "The body is compressed. Send it uncompressed, without Content-Encoding."}
	case isJSON(r.Header.Get("Content-Type")) || untyped(r):
		return nil
	case isForm(r.Header.Get("Content-Type")):
		return &Error{Status: http.StatusUnsupportedMediaType, Detail: `The Content-Type is that of a form, which curl -d sends. Send JSON, as in curl --json '{"deck":"standard52"}'.`}
	default:
		return &Error{Status: http.StatusUnsupportedMediaType, Detail: "The body must be JSON in UTF-8. Send it with the header Content-Type: application/json (curl: --json)."}
	}
}

// isForm reports whether a media type is one that forms of web pages and curl -d send.
func isForm(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(media, "application/x-www-form-urlencoded") || strings.EqualFold(media, "multipart/form-data")
}

// untyped reports whether the type of a body is left open, and it may be JSON. That of a web page may
// not: a page of another site could send it without asking.
func untyped(r *http.Request) bool {
	return len(r.Header.Values("Content-Type")) == 0 && len(r.Header.Values("Origin")) == 0
}

// isJSON reports whether a media type is JSON in UTF-8.
func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	media, parameters, err := mime.ParseMediaType(contentType)
	charset := parameters["charset"]
	return err == nil && media == "application/json" && (charset == "" || strings.EqualFold(charset, "utf-8"))
}

func tooLarge(limit int64) *Error {
	return &Error{Status: http.StatusRequestEntityTooLarge, Detail: fmt.Sprintf(
		"The body is longer than %d bytes. Shuffle positions (size) instead of long items, or split the request.", limit)}
}

// readError returns the error for a body that did not arrive whole.
func readError(err error, limit int64) *Error {
	var tooLong *http.MaxBytesError
	var network net.Error
	switch {
	case errors.As(err, &tooLong):
		return tooLarge(limit)
	case errors.As(err, &network) && network.Timeout():
		return &Error{
			Status: http.StatusRequestTimeout,
			Detail: "The body took too long to arrive. Send it faster, or in smaller requests.",
		}
	}
	return &Error{
		Status: http.StatusBadRequest,
		Detail: "The body ended before its announced length, or its chunks are malformed.",
	}
}
