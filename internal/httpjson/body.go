package httpjson

import (
	"bytes"
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
	// firstRead is the size of the first buffer, before any byte has arrived.
	firstRead = 2 << 10
	// pooled is the size from which buffers are pooled.
	pooled = 64 << 10
	// weight is the memory of a byte of a body: itself, the garbage of a growing buffer, and the copy
	// without white space for a digest.
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
// needs memory then. A request that is handled again reads the same body.
func ReadAny(w http.ResponseWriter, r *http.Request, limit int64, lease *budget.Lease) ([]byte, error) {
	body, err := receive(w, r, limit, lease)
	if err != nil {
		lease.Release()
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return body, err
}

func receive(w http.ResponseWriter, r *http.Request, limit int64, lease *budget.Lease) ([]byte, error) {
	in := http.MaxBytesReader(w, r.Body, limit)
	announced := r.ContentLength
	if announced < 0 {
		announced = limit // the longest possible
	}
	var body []byte
	var long []byte // the pooled buffer that has a long body
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

// roomAfter returns the size of the buffer after a full one: at most twice as large, and no larger than the
// announced length needs.
func roomAfter(full, announced int64) int64 {
	room := max(firstRead, 2*full)
	if announced >= full {
		room = min(room, announced+1) // the last byte is for the read that finds the end
	}
	return room
}

// checkHeader rejects bodies that cannot be read, by their header.
func checkHeader(r *http.Request, limit int64) error {
	var unsupported string
	switch encoding, media := r.Header.Get("Content-Encoding"), r.Header.Get("Content-Type"); {
	case r.ContentLength > limit:
		return tooLarge(limit)
	case encoding != "" && !strings.EqualFold(encoding, "identity"):
		unsupported = "The body is compressed. Send it uncompressed, without Content-Encoding."
	case isJSON(media) || len(r.Header.Values("Content-Type")) == 0: // a program's
		return nil
	case isForm(media):
		unsupported = `The Content-Type is that of a form, which curl -d sends. Send JSON, as in curl --json '{"deck":"standard52"}'.`
	default:
		unsupported = "The body must be JSON in UTF-8. Send it with the header Content-Type: application/json (curl: --json)."
	}
	return &Error{Status: http.StatusUnsupportedMediaType, Detail: unsupported}
}

// isForm reports whether a media type is of a web form or of curl -d.
func isForm(contentType string) bool {
	media, _, _ := strings.Cut(contentType, ";")
	return strings.EqualFold(media, "application/x-www-form-urlencoded") || strings.EqualFold(media, "multipart/form-data")
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

// readError returns the error for an incomplete body.
func readError(err error, limit int64) *Error {
	if _, tooLong := errors.AsType[*http.MaxBytesError](err); tooLong {
		return tooLarge(limit)
	}
	if network, ok := errors.AsType[net.Error](err); ok && network.Timeout() {
		return &Error{Status: http.StatusRequestTimeout, Detail: "The body took too long to arrive. Send it faster, or in smaller requests."}
	}
	return malformed("The body ended before its announced length, or its chunks are malformed.")
}
