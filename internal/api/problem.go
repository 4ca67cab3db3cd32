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
	"riffle/internal/quota"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// A problem is a problem document of RFC 9457. It is an error, so that handlers can return it.
type problem struct {
	Detail  string       `json:"detail"` // what was wrong and how to fix the request; people read it first
	Status  int          `json:"status"`
	Title   string       `json:"title"`
	Type    string       `json:"type"`
	Errors  []fieldError `json:"errors,omitempty"`
	AuditID uuid.UUID    `json:"audit_id,omitzero"` // of the record that the request conflicts with; Nil for none
	header  [][2]string  // names and values of further fields
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

// badRequest is for a request that is not well formed: not JSON, a wrong type, an unknown, missing or
// repeated member or parameter, or a text that is not in its form. See docs/decisions/requests.md.
func badRequest(format string, args ...any) *problem {
	return newProblem(http.StatusBadRequest, format, args...)
}

// unprocessable is for a well-formed request that asks for what cannot be: a number out of range,
// members that contradict each other, something that does not exist, or more than a limit.
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

// about points the problem at a field as the request named it, if there is one: a member of the body
// or, of a GET, a parameter of the query.
func (p *problem) about(r *http.Request, pointer string) *problem {
	switch {
	case pointer == "":
		return p
	case r.Method != http.MethodGet:
		return p.at(pointer)
	}
	name := strings.TrimPrefix(shortPointer(pointer), "/parameters/")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return p.in(name)
}

// because names the conflicting record; Nil for none.
func (p *problem) because(id uuid.UUID) *problem {
	p.AuditID = id
	return p
}

// with adds a header field.
func (p *problem) with(name, value string) *problem {
	p.header = append(p.header, [2]string{name, value})
	return p
}

// retry sets the seconds after which the client may retry; 0 for none.
func (p *problem) retry(seconds int) *problem {
	if seconds == 0 {
		return p
	}
	return p.with("Retry-After", strconv.Itoa(seconds))
}

// fail answers with the problem document of an error. It panics with http.ErrAbortHandler if the client has
// left.
func (a *API) fail(x *exchange, err error) {
	x.dropped = errors.Is(err, httpserver.ErrDropped)
	if left := errors.Is(err, context.Canceled) && x.r.Context().Err() != nil; left || x.dropped {
		panic(http.ErrAbortHandler)
	}
	p := a.problem(x.r, err)
	retry := len(p.header) > 0 // the only field of a server error
	if p.Status >= http.StatusInternalServerError && !retry {
		a.Logger.Error("request failed", "method", x.r.Method, "path", pathToLog(x.r), "error", err)
	}
	switch {
	case p.Status == http.StatusServiceUnavailable && retry:
		a.Metrics.shed.Inc()
		a.reject(err)
	case p.Type == typeShare:
		a.reject(err)
	}
	if errors.Is(err, httpserver.ErrConnections) {
		p = p.with("Connection", "close")
	}
	writeProblem(x, p)
}

// pathToLog returns the request's path, or its pattern if the path has a shoe's id, which is a secret.
func pathToLog(r *http.Request) string {
	if p := pattern(r); strings.HasPrefix(p, "/shoes/") {
		return p
	}
	return r.URL.Path
}

// problem returns the answer to an error. Errors with values are in detailed, others of single
// endpoints in problems, and errors of any request in [httperror]. An error that none has is a bug
// or a failure: 500.
func (a *API) problem(r *http.Request, err error) *problem {
	if p := detailed(r, err); p != nil {
		return p
	}
	for _, row := range problems {
		if !errors.Is(err, row.err) {
			continue
		}
		inBody := row.pointer != "" && r.Method == http.MethodPost
		if inBody && row.status == http.StatusNotFound { // which is for what the path names
			row.status = http.StatusUnprocessableEntity
		}
		p := newProblem(row.status, "%s", row.detail)
		if row.challenge != "" {
			p = p.with("WWW-Authenticate", row.challenge)
		}
		if inBody {
			p = p.at(row.pointer)
		}
		return p
	}
	answer, _ := httperror.Find(err)
	p := newProblem(answer.Status, "%s", answer.Text).retry(answer.RetryAfter)
	if errors.Is(err, quota.ErrShare) {
		p.Type = typeShare
	}
	return p
}

// typeShare is the type of the problem that the caller's own share is full, as in [quota.ErrShare].
// It leads to what the documentation says about it.
const typeShare = "/docs/operations/limits#one-address"

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
	{liveshoes.ErrNotSeen, http.StatusConflict, "", "", "No card drawn from this order lies at this position. One is shown from its draw until it is shuffled again, and all once the shoe is closed."},
	{shoe.ErrNotThere, http.StatusUnprocessableEntity, "/cards", "", "These cards are not there. Nothing was moved."},
	{shoe.ErrTooMany, http.StatusUnprocessableEntity, "", "", fmt.Sprintf("A shoe has at most %d piles, with %d characters of names, and cards of at most %d shuffles at a time; it is shuffled at most %d times, its piles included. Nothing was changed; use an existing pile, shuffle all cards, or make a new shoe.", shoe.MaxPiles, liveshoes.MaxNameBytes, liveshoes.MaxOrders, shoe.MaxOrders)},

	{access.ErrTwoTokens, http.StatusBadRequest, "", "", "The request has more than one Authorization header. Send one."},
	{access.ErrTokenInQuery, http.StatusBadRequest, "", "", "The query has a token, and proxies log queries. Have the token replaced, and send it as a header: Authorization: Bearer rfl_..."},
	{access.ErrScheme, http.StatusUnauthorized, "", `Bearer error="invalid_request"`, "The Authorization header is not a token. Send it as Authorization: Bearer rfl_... with the 43 characters that follow."},
	{access.ErrUnknown, http.StatusUnauthorized, "", `Bearer error="invalid_token"`, "No key has this token. Copy it exactly, or ask the operator for another one."},
	{access.ErrExpired, http.StatusUnauthorized, "", `Bearer error="invalid_token"`, "The token has expired. Ask the operator for another one."},
	{access.ErrAnonymous, http.StatusUnauthorized, "", "Bearer", "A token is required: Authorization: Bearer rfl_... Ask the operator for one."},
	{access.ErrScope, http.StatusForbidden, "", "", "The key of this token is not for requests like this one. Ask the operator for one that is."},
}

// detailed answers the errors that have values. It returns nil for any other error.
func detailed(r *http.Request, err error) *problem {
	var (
		answered *problem
		body     *httpjson.Error
		closed   *liveshoes.ClosedError
		version  *liveshoes.VersionError
		cards    *liveshoes.CardsError
		short    *shoe.ShortError
		limit    *access.LimitError
		invalid  *plan.Invalid
		used     *dealer.CommitmentClosedError
		unique   *ledger.NotUniqueError
		changed  *plan.DeckChangedError
	)
	switch {
	case errors.As(err, &answered):
		return answered
	case errors.As(err, &body):
		return newProblem(body.Status, "%s", body.Detail).about(r, body.Pointer)
	case errors.As(err, &closed) && closed.Status == shoe.Closed:
		return conflict("The shoe was closed by record %s, and deals no more cards.", closed.AuditID).because(closed.AuditID)
	case errors.As(err, &closed):
		return newProblem(http.StatusGone, "The shoe has expired and deals no more cards. It can still be closed, which shows its seeds.").because(closed.AuditID)
	case errors.As(err, &version):
		return newProblem(http.StatusPreconditionFailed, "The shoe is at version %d, and If-Match is for another. Nothing was changed; get the shoe again before you retry.", version.Version)
	case errors.As(err, &cards):
		detail := "This card is not there, or is named twice. Nothing was moved."
		if cards.Ambiguous {
			detail = "Several cards there have this code. Nothing was moved; name the card by its number, the member card of an answer."
		}
		return unprocessable("%s", detail).at("/cards/" + strconv.Itoa(cards.Index))
	case errors.As(err, &short) && short.Have == 0: // the request may have no count
		return unprocessable("No cards are there to take. Draw cards or put some there first.")
	case errors.As(err, &short):
		p := unprocessable("count is %d, but only %d cards remain. Nothing was taken; ask for fewer, or put cards there first.", short.Want, short.Have)
		if strings.HasSuffix(r.URL.Path, "/draw") {
			return p.at("/count")
		}
		return p
	case errors.As(err, &limit):
		return newProblem(http.StatusTooManyRequests, "The caller's limit is reached. Nothing was done; retry after the seconds in Retry-After.").retry(max(1, seconds(limit.Wait)))
	case errors.As(err, &invalid) && invalid.Malformed:
		return badRequest("%s", sentence(invalid.Pointer, invalid.Detail)).about(r, invalid.Pointer)
	case errors.As(err, &invalid):
		return unprocessable("%s", sentence(invalid.Pointer, invalid.Detail)).about(r, invalid.Pointer)
	case errors.As(err, &used) && used.Count > 0:
		return conflict("The book is over after %d of %d rounds: they are used up, its deadline has passed, or its log has ended. Make another one.", used.Used, used.Count).at("/commitment_id").because(used.ClosedBy)
	case errors.As(err, &used) && used.Status == dealer.StatusUsed:
		return conflict("The commitment was already used by record %s. Make a new commitment for another shuffle.", used.ClosedBy).at("/commitment_id").because(used.ClosedBy)
	case errors.As(err, &used):
		return conflict("The commitment expired at %s. Make a new commitment, and use it in time.", used.Deadline.UTC().Format(audit.TimeFormat)).at("/commitment_id").because(used.ClosedBy)
	case errors.As(err, &unique):
		return conflict("This reference was already used by record %s. GET /audits?reference= lists its records. Use another reference, or omit unique_reference.", unique.First).at("/unique_reference").because(unique.First)
	case errors.As(err, &changed):
		return conflict("The cards of deck type %s have changed since the first answer. Its record is %s.", changed.Type, changed.AuditID).because(changed.AuditID)
	}
	return nil
}

// sentence completes the text of an error to a sentence. It does not capitalize the name of the member at
// pointer.
func sentence(pointer, text string) string {
	word := text[:max(0, strings.IndexAny(text, " ."))]
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
	for _, field := range p.header {
		h.Set(field[0], field[1])
	}
	httpserver.Send(w, p.Status, []byte(text+"\n"))
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
	return newProblem(http.StatusMethodNotAllowed, "This path does not take %s; it takes %s.", suggest.Brief(x.r.Method), strings.Join(names, " and ")).
		with("Allow", strings.Join(allowed, ", "))
}
