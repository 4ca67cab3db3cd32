// Package client is a client of the Riffle service, generated from openapi.yaml, which documents
// every operation.
//
// Each operation has two methods on [ClientWithResponses]: ShuffleWithResponse takes a
// [ShuffleRequest], and ShuffleWithBodyWithResponse the bytes of a request body. A response has a
// field for each status, such as JSON200, and [OK] turns every status from 300 on into an error, a
// [*Problem]. Operations that write a record take parameters with an IdempotencyKey, with which a
// request can be retried safely; the parameters may be nil.
//
// An [Item] is the raw bytes of a JSON value, so that a 64-bit id returns unchanged. Items in a
// [ShuffleRequest] are compacted when it is encoded, and <, > and & in strings are escaped. To send
// other bytes, send the body yourself.
//
// [Deal], [DrawFrom], [Pick] and [VerifyDeal] are what games ask for most, in their words.
//
// [WithRetries] repeats what is safe to repeat, [WithToken] sends a token, [Proofs] reads the records
// of a shoe as they arrive, and [Verify] checks a proof without the service.
//
// [CardNames] names a card of a shoe by its number, as any integer type, or by its code, as a
// string. In a [ShoeCard] an item can be the JSON value null; a card without an item has a nil
// [Item].
//
// A [Record] keeps the exact bytes that the log holds: MarshalJSON returns them.
package client

import (
	"encoding/json"
	"fmt"
	"net/http"
)

//go:generate go tool -modfile generate/go.mod oapi-codegen -config config.yaml ../../openapi.yaml

// Error returns the status, title and detail of the problem document.
func (p *Problem) Error() string { return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail) }

// An Answer is implemented by the responses of all operations.
type Answer interface {
	StatusCode() int
	ContentType() string
	GetBody() []byte
}

// OK returns the answer to a call, or the error if there was none or the service refused:
//
//	answer, err := client.OK(riffle.ListDecksWithResponse(ctx))
func OK[A Answer](answer A, err error) (A, error) {
	if err != nil {
		return answer, err
	}
	return answer, AsError(answer)
}

// AsError returns nil for a status below 300, and otherwise the [*Problem] in the answer. If there
// is none, as when a proxy answered in place of the service, the problem has the status alone.
func AsError(a Answer) error {
	if a.StatusCode() < http.StatusMultipleChoices {
		return nil
	}
	return problem(a.StatusCode(), a.ContentType(), a.GetBody())
}

func problem(status int, contentType string, body []byte) *Problem {
	p := new(Problem)
	if contentType != "application/problem+json" || json.Unmarshal(body, p) != nil {
		return &Problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf("This is no answer of the service: %.200q", body)}
	}
	return p
}
