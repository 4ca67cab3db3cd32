// Package client talks to a Riffle service. It is generated from openapi.yaml, which says what every call does; a new
// contract makes a new client by go generate.
//
// Every call has two forms on [ClientWithResponses]: ShuffleWithResponse takes a [ShuffleRequest], and
// ShuffleWithBodyWithResponse takes the bytes of one. An answer has a field for each status, JSON200 above all, and
// [AsError] makes an error of those that are none. A call that makes a record takes parameters with an IdempotencyKey, by
// which it can be sent again; they may be nil.
//
// An [Item] is the bytes of one JSON value, and so are the items of an answer: nothing is decoded, and a 64-bit id
// comes back as it was sent. What a [ShuffleRequest] holds is made compact on the way out, with <, > and & escaped
// within strings; to send other bytes, send the body yourself.
//
// A card of a shoe is named, in [CardNames], by its number as any integer, or by its code as a string. What the owner of a shoe
// sees of a card is a [ShoeCard]; an item that is null is one.
//
// A [Record] keeps the bytes that it came in, which are those that the log holds: MarshalJSON returns them.
package client

import (
	"encoding/json"
	"fmt"
)

//go:generate go tool oapi-codegen -config config.yaml ../openapi.yaml

// Error makes a problem document an error.
func (p *Problem) Error() string {
	return fmt.Sprintf("%d %s: %s", p.Status, p.Title, p.Detail)
}

// An Answer is what the answers to all calls have in common.
type Answer interface {
	StatusCode() int
	ContentType() string
	GetBody() []byte
}

// AsError returns nil if a call did what it was asked to do, and otherwise why not: the [*Problem] of the answer where
// it has one, which it has unless something between client and service answered.
func AsError(a Answer) error {
	if a.StatusCode() < 300 {
		return nil
	}
	if a.ContentType() == "application/problem+json" {
		problem := new(Problem)
		err := json.Unmarshal(a.GetBody(), problem)
		if err == nil {
			return problem
		}
		return fmt.Errorf("answered %d with a problem that cannot be read: %w", a.StatusCode(), err)
	}
	return fmt.Errorf("answered %d without saying why", a.StatusCode())
}
