package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/access"
	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/httperror"
	"riffle/internal/httpjson"
	"riffle/internal/httpserver"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// A problem is a problem document of RFC 9457. It is an error, so that handlers can return it.
type problem struct {
	Detail     string       `json:"detail"` // what was wrong and how to fix the request; people read it first
	Status     int          `json:"status"`
	Title      string       `json:"title"`
	Type       string       `json:"type"`
	Errors     []fieldError `json:"errors,omitempty"`
	AuditID    string       `json:"audit_id,omitempty"` // of the record that the request conflicts with
	retryAfter int          // seconds; 0 for none
	allow      string
	challenge  string // for WWW-Authenticate
	close      bool   // closes the connection
}

// A fieldError points at one part of the request.
type fieldError struct {
	Pointer   *string `json:"pointer,omitempty"`   // JSON pointer into the body; empty for the whole of it
	Parameter string  `json:"parameter,omitempty"` // or the name of a query parameter
	Detail    string  `json:"detail"`
}

func (p *problem) Error() string { return p.Title + ": " + p.Detail }

func newProblem(status int, format string, args ...any) *problem {
	return &problem{Type: "about:blank", Title: http.StatusText(status), Status: status, Detail: fmt.Sprintf(format, args...)}
}

// badRequest is for a malformed request.
func badRequest(format string, args ...any) *problem {
	return newProblem(http.StatusBadRequest, format, args...)
}

// unprocessable is for a well-formed request that cannot be fulfilled.
func unprocessable(format string, args ...any) *problem {
	return newProblem(http.StatusUnprocessableEntity, format, args...)
}

// conflict is for a request that contradicts a record or a request in flight.
func conflict(format string, args ...any) *problem {
	return newProblem(http.StatusConflict, format, args...)
}

// notFound is for a request for something unknown.
func notFound(format string, args ...any) *problem {
	return newProblem(http.StatusNotFound, format, args...)
}

// longestName is the length of the longest pointer or parameter name that an answer repeats, in bytes.
const longestName = 80

// at points the problem at a member of the body, or at its parent if its name is long.
func (p *problem) at(pointer string) *problem {
	pointer = shortPointer(pointer)
	p.Errors = []fieldError{{Pointer: &pointer, Detail: p.Detail}}
	return p
}

// shortPointer returns a pointer, or the nearest parent that is short enough.
func shortPointer(pointer string) string {
	for len(pointer) > longestName {
		pointer = pointer[:strings.LastIndexByte(pointer, '/')]
	}
	return pointer
}

// in points the problem at a query parameter, unless its name is long.
func (p *problem) in(parameter string) *problem {
	if len(parameter) > longestName {
		return p
	}
	p.Errors = []fieldError{{Parameter: parameter, Detail: p.Detail}}
	return p
}

// because names the conflicting record, if there is one.
func (p *problem) because(id uuid.UUID) *problem {
	if id != uuid.Nil {
		p.AuditID = id.String()
	}
	return p
}

func problemInternal() *problem {
	return newProblem(http.StatusInternalServerError, "Internal error; details are in the server log. Retry, or contact the operator.")
}

// fail answers with the problem document of an error. It panics with http.ErrAbortHandler if the client has
// left.
func (a *API) fail(x *exchange, err error) {
	x.dropped = errors.Is(err, httpserver.ErrDropped)
	if left := errors.Is(err, context.Canceled) && x.r.Context().Err() != nil; left || x.dropped {
		panic(http.ErrAbortHandler)
	}
	p := a.problem(x.r, err)
	if p.Status >= http.StatusInternalServerError && p.retryAfter == 0 {
		a.Logger.Error("request failed", "log", x.log.name, "method", x.r.Method, "path", pathToLog(x.r), "error", err)
	}
	if p.Status == http.StatusServiceUnavailable && p.retryAfter > 0 {
		x.log.metrics.shed.Inc()
		x.log.metrics.Reject(err)
	}
	p.close = errors.Is(err, httpserver.ErrConnections)
	writeProblem(x, p)
}

// pathToLog returns the request's path, or its pattern if the path has a shoe's id, which is a secret.
func pathToLog(r *http.Request) string {
	if p := pattern(r); strings.HasPrefix(p, "/shoes/") {
		return p
	}
	return r.URL.Path
}

// problem returns the answer to an error. Errors of any request are in [httperror], errors with values
// in detailed, and the others in problems. An error that none has is a bug or a failure: 500.
func (a *API) problem(r *http.Request, err error) *problem {
	for _, problemOf := range detailed {
		if p := problemOf(r, err); p != nil {
			return p
		}
	}
	if answer, ok := httperror.Find(err); ok {
		if answer.Err == ledger.ErrBroken && a.reopens() { //nolint:errorlint // a row's own error
			return a.problem(r, httperror.ErrReopening)
		}
		p := newProblem(answer.Status, "%s", answer.Text)
		p.retryAfter = answer.RetryAfter
		return p
	}
	for _, row := range problems {
		if !errors.Is(err, row.err) {
			continue
		}
		p := newProblem(row.status, "%s", row.detail)
		p.challenge = row.challenge
		if row.pointer != "" && r.Method == http.MethodPost {
			return p.at(row.pointer)
		}
		return p
	}
	return problemInternal()
}

// problems are the errors of single endpoints.
var problems = []struct {
	err       error
	status    int
	pointer   string // to the member at fault; for a POST
	challenge string
	detail    string
}{
	{dealer.ErrNoCommitment, http.StatusNotFound, "/commitment_id", "", "There is no commitment with this id. Copy the commitment_id from an answer to POST /commitments exactly."},
	{ledger.ErrNotFound, http.StatusNotFound, "", "", "There is no record with this id. Copy the audit_id of an answer exactly."},
	{disclosure.ErrWrongSeed, http.StatusForbidden, "/seed", "", "This is not the record's seed. Send the seed of the answer that had this audit id."},
	{disclosure.ErrNoSeed, http.StatusUnprocessableEntity, "", "", "This record has no seed. For a commitment, use the shuffle's; for a shoe, close it."},

	{journal.ErrNoShoe, http.StatusNotFound, "", "", "There is no shoe with this id. Copy the shoe_id from an answer to POST /shoes exactly."},
	{shoe.ErrNoPile, http.StatusNotFound, "", "", "The shoe has no such pile; GET /shoes/{id}/piles lists them. Adding cards to a pile creates it."},
	{liveshoes.ErrNotSeen, http.StatusConflict, "", "", "The card at this position has not been drawn. It stays secret until then, or until the shoe is closed."},
	{shoe.ErrNotThere, http.StatusUnprocessableEntity, "/cards", "", "These cards are not there. Nothing was moved."},
	{shoe.ErrTooMany, http.StatusUnprocessableEntity, "", "", fmt.Sprintf("A shoe has at most %d piles, and is shuffled at most %d times, its piles included. Nothing was changed; use an existing pile, or make a new shoe.", shoe.MaxPiles, shoe.MaxSeals)},

	{access.ErrTwoTokens, http.StatusBadRequest, "", "", "The request has more than one Authorization header. Send one."},
	{access.ErrTokenInQuery, http.StatusBadRequest, "", "", "The query has a token, and proxies log queries. Have the token replaced, and send it as a header: Authorization: Bearer rfl_..."},
	{access.ErrScheme, http.StatusUnauthorized, "", `Bearer error="invalid_request"`, "The Authorization header is not a token. Send it as Authorization: Bearer rfl_... with the 43 characters that follow."},
	{access.ErrUnknown, http.StatusUnauthorized, "", `Bearer error="invalid_token"`, "No key has this token. Copy it exactly, or ask the operator for another one."},
	{access.ErrAnonymous, http.StatusUnauthorized, "", "Bearer", "A token is required: Authorization: Bearer rfl_... Ask the operator for one."},
	{access.ErrScope, http.StatusForbidden, "", "", "The key of this token is not for requests like this one. Ask the operator for one that is."},
	{access.ErrLog, http.StatusForbidden, "", "", "The key of this token is not for this log. Ask the operator for one that is."},
}

// detailed answer the errors that have values. Each function returns nil for any other error.
var detailed = []func(*http.Request, error) *problem{
	detail(func(_ *http.Request, p *problem) *problem { return p }),
	detail(problemOfBody),
	detail(problemOfClosedShoe),
	detail(func(_ *http.Request, e *liveshoes.VersionError) *problem {
		return newProblem(http.StatusPreconditionFailed, "The shoe is at version %d, and If-Match is for another. Nothing was changed; get the shoe again before you retry.", e.Version)
	}),
	detail(problemOfCards),
	detail(problemOfCount),
	detail(func(_ *http.Request, e *access.LimitError) *problem {
		p := newProblem(http.StatusTooManyRequests, "The caller's limit is reached. Nothing was done; retry after the seconds in Retry-After.")
		p.retryAfter = max(1, seconds(e.Wait))
		return p
	}),
	detail(problemOfFields),
	detail(problemOfCommitment),
	detail(func(_ *http.Request, e *ledger.NotUniqueError) *problem {
		return conflict("This reference was already used by record %s. GET /audits?reference= lists its records. Use another reference, or omit unique_reference.", e.First).at("/unique_reference").because(e.First)
	}),
	detail(func(_ *http.Request, e *plan.DeckChangedError) *problem {
		return conflict("The cards of deck type %s have changed since the first answer. Its record is %s.", e.Type, e.AuditID).because(e.AuditID)
	}),
}

// detail returns a function that answers errors of type E.
func detail[E error](answer func(*http.Request, E) *problem) func(*http.Request, error) *problem {
	return func(r *http.Request, err error) *problem {
		if e, ok := errors.AsType[E](err); ok {
			return answer(r, e)
		}
		return nil
	}
}

// problemTooExpensive is for a replay or a shoe's proof that takes longer than the service allows.
func problemTooExpensive() *problem {
	return unprocessable("Checking this takes longer than the service allows. Get the proof of each record from GET /audits/{id}/proof, and check it offline with riffle verify.")
}

// problemOfBody is for a body that was rejected.
func problemOfBody(_ *http.Request, e *httpjson.Error) *problem {
	p := newProblem(e.Status, "%s", e.Detail)
	if e.Pointer != "" {
		return p.at(e.Pointer)
	}
	return p
}

// problemOfFields is for a request that the rules reject.
func problemOfFields(r *http.Request, e *plan.Invalid) *problem {
	p := unprocessable("%s", sentence(e.Fields[0].Pointer, e.Fields[0].Detail))
	for _, f := range e.Fields {
		p.Errors = append(p.Errors, place(r, f))
	}
	return p
}

// problemOfCommitment is for a commitment that was used or has expired.
func problemOfCommitment(_ *http.Request, e *dealer.CommitmentClosedError) *problem {
	p := conflict("The commitment expired at %s. Make a new commitment, and use it in time.", e.Deadline.UTC().Format(audit.TimeFormat))
	if e.Status == dealer.StatusUsed {
		p = conflict("The commitment was already used by record %s. Make a new commitment for another shuffle.", e.ClosedBy)
	}
	return p.at("/commitment_id").because(e.ClosedBy)
}

// problemOfClosedShoe is for a shoe that is closed or has expired.
func problemOfClosedShoe(_ *http.Request, e *liveshoes.ClosedError) *problem {
	if e.Status == shoe.Closed {
		return conflict("The shoe was closed by record %s, and deals no more cards.", e.AuditID).because(e.AuditID)
	}
	return newProblem(http.StatusGone, "The shoe has expired and deals no more cards. It can still be closed, which shows its seeds.").because(e.AuditID)
}

// problemOfCount is for a count above the number of cards.
func problemOfCount(r *http.Request, e *shoe.ShortError) *problem {
	p := unprocessable("count is %d, but only %d cards remain. Nothing was taken; ask for fewer, or put cards there first.", e.Want, e.Have)
	if strings.HasSuffix(r.URL.Path, "/draw") {
		return p.at("/count")
	}
	return p
}

// problemOfCards is for a card that cannot be taken.
func problemOfCards(_ *http.Request, e *liveshoes.CardsError) *problem {
	detail := "This card is not there, or is named twice. Nothing was moved."
	if e.Ambiguous {
		detail = "Several cards there have this code. Nothing was moved; name the card by its number, the member card of an answer."
	}
	return unprocessable("%s", detail).at("/cards/" + strconv.Itoa(e.Index))
}

// place points at a field as the request named it: a member of the body or a parameter of the query.
func place(r *http.Request, f plan.FieldError) fieldError {
	detail, pointer := sentence(f.Pointer, f.Detail), shortPointer(f.Pointer)
	if r.Method != http.MethodGet {
		return fieldError{Pointer: &pointer, Detail: detail}
	}
	name := strings.TrimPrefix(pointer, "/parameters")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return fieldError{Parameter: name, Detail: detail}
}

// sentence completes the text of an error to a sentence. It does not capitalize the name of the member at
// pointer.
func sentence(pointer, text string) string {
	word, _, _ := strings.Cut(text, " ")
	if member, _, _ := strings.Cut(strings.TrimPrefix(pointer, "/"), "/"); word != member {
		text = strings.ToUpper(text[:1]) + text[1:]
	}
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

func writeProblem(w http.ResponseWriter, p *problem) {
	body, err := json.Marshal(p)
	if err != nil {
		panic(err) // plain strings and integers always marshal
	}
	text := suggest.Mask(string(body)) // a token may be in any text of the caller
	h := w.Header()
	h.Set("Content-Type", "application/problem+json")
	h.Set("Cache-Control", "no-store")
	if p.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(p.retryAfter))
	}
	if p.challenge != "" {
		h.Set("WWW-Authenticate", p.challenge)
	}
	if p.allow != "" {
		h.Set("Allow", p.allow)
	}
	if p.close {
		h.Set("Connection", "close")
	}
	sendBody(w, p.Status, []byte(text+"\n"))
}

func (a *API) methodNotAllowed(x *exchange) error {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
		if chi.RouteContext(x.r.Context()).Routes.Match(chi.NewRouteContext(), method, x.r.URL.Path) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 { // the router does not know the method
		return a.noSuchPath(x)
	}
	names := slices.DeleteFunc(slices.Clone(allowed), func(m string) bool { return m == http.MethodHead })
	p := newProblem(http.StatusMethodNotAllowed, "This path does not take %s; it takes %s.", suggest.Brief(x.r.Method), strings.Join(names, " and "))
	p.allow = strings.Join(allowed, ", ")
	return p
}
