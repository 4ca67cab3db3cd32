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

	"riffle/internal/audit"
	"riffle/internal/dealer"
	"riffle/internal/disclosure"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/scheduler"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// A problem is a problem document of RFC 9457. It is an error, so that handlers can return it.
type problem struct {
	Detail     string       `json:"detail"` // what to do about it, which people read first
	Status     int          `json:"status"`
	Title      string       `json:"title"`
	Type       string       `json:"type"`
	Errors     []fieldError `json:"errors,omitempty"`
	AuditID    string       `json:"audit_id,omitempty"` // of the record that the request conflicts with
	retryAfter int          // seconds; 0 for none
	allow      string
	challenge  string // for WWW-Authenticate
	close      bool   // the connection has to be closed
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

// badRequest returns the problem of a malformed request.
func badRequest(format string, args ...any) *problem {
	return newProblem(http.StatusBadRequest, format, args...)
}

// unprocessable returns the problem of a well-formed request for what cannot be done.
func unprocessable(format string, args ...any) *problem {
	return newProblem(http.StatusUnprocessableEntity, format, args...)
}

// conflict returns the problem of a request that contradicts what is recorded or in flight.
func conflict(format string, args ...any) *problem {
	return newProblem(http.StatusConflict, format, args...)
}

// notFound returns the problem of a request for what does not exist.
func notFound(format string, args ...any) *problem {
	return newProblem(http.StatusNotFound, format, args...)
}

// problemOfBody returns the problem of a body that was refused.
func problemOfBody(e *httpjson.Error) *problem {
	p := newProblem(e.Status, "%s", e.Detail)
	if e.Pointer != "" {
		p = p.at(e.Pointer)
	}
	if e.Status == http.StatusServiceUnavailable {
		p.retryAfter = 1
	}
	return p
}

// longestName is how many bytes of a pointer or of the name of a parameter an answer repeats.
const longestName = 80

// at points the problem at a member of the body, or at what a member of a long name is in.
func (p *problem) at(pointer string) *problem {
	pointer = shortPointer(pointer)
	p.Errors = []fieldError{{Pointer: &pointer, Detail: p.Detail}}
	return p
}

// shortPointer returns a pointer, or one to what it is in if it is long.
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

// because names the record that the request conflicts with, if there is one.
func (p *problem) because(id uuid.UUID) *problem {
	if id != uuid.Nil {
		p.AuditID = id.String()
	}
	return p
}

func problemInternal() *problem {
	return newProblem(http.StatusInternalServerError, "The service failed, and has logged why. Retry, and tell the operator if it fails again.")
}

func problemBusy(detail string) *problem {
	p := newProblem(http.StatusServiceUnavailable, "%s", detail)
	p.retryAfter = 1
	return p
}

// fail answers with the problem document of the error.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) && r.Context().Err() != nil {
		panic(http.ErrAbortHandler) // the caller has left
	}
	p, log := a.problem(r, err), w.(*response).log
	if p.Status >= http.StatusInternalServerError && p.retryAfter == 0 {
		a.Logger.Error("request failed", "log", log.name, "method", r.Method, "path", pathToLog(r), "error", err)
	}
	if p.Status == http.StatusServiceUnavailable && p.retryAfter > 0 {
		log.metrics.shed.Inc()
		log.metrics.Reject(err)
	}
	writeProblem(w, p)
}

// pathToLog is the path of a request, or the pattern of its route where the path has the id of a
// shoe: who has that has the shoe.
func pathToLog(r *http.Request) string {
	if p := pattern(r); strings.HasPrefix(p, "/shoes/") {
		return p
	}
	return r.URL.Path
}

// problem is the one place where errors of the inner packages get a status and words for the
// caller.
func (a *API) problem(r *http.Request, err error) *problem {
	var p *problem
	var body *httpjson.Error
	var invalid *plan.Invalid
	var settled *dealer.CommitmentClosedError
	var notUnique *ledger.NotUniqueError
	var changed *plan.DeckChangedError
	ofAccess := problemOfAccess(err)
	switch ofShoe := problemOfShoe(r, err); {
	case errors.As(err, &p):
		return p
	case errors.As(err, &body):
		return problemOfBody(body)
	case ofShoe != nil:
		return ofShoe
	case ofAccess != nil:
		return ofAccess
	case errors.As(err, &invalid):
		p := unprocessable("%s", sentence(invalid.Fields[0].Detail))
		for _, f := range invalid.Fields {
			p.Errors = append(p.Errors, place(r, f))
		}
		return p
	case errors.As(err, &settled):
		return problemSettled(settled)
	case errors.As(err, &notUnique):
		return conflict("The reference has an attempt already, of which this is the audit_id: %s. GET /audits?reference= lists them all. Give another game another reference, or leave unique_reference out.", notUnique.First).at("/unique_reference").because(notUnique.First)
	case errors.As(err, &changed):
		return conflict("This was dealt before, and the deck type %s has had its cards changed since. The record is there under its audit_id: %s.", changed.Type, changed.AuditID).because(changed.AuditID)
	case errors.Is(err, dealer.ErrNoCommitment):
		p := notFound("There is no commitment with this id. Copy the commitment_id from an answer to POST /commitments exactly.")
		if r.Method == http.MethodPost {
			return p.at("/commitment_id")
		}
		return p
	case errors.Is(err, journal.ErrInFlight):
		p := conflict("A request with this key, commitment or shoe is in flight. Wait for its answer, or retry in a second.")
		p.retryAfter = 1 // tells clients this conflict from those that stay
		return p
	case errors.Is(err, journal.ErrKeyReused):
		return unprocessable("This Idempotency-Key was used for a different request. Repeat that request unchanged, or use a new key for this one.")
	case errors.Is(err, journal.ErrOtherCaller):
		return conflict("This Idempotency-Key was used by another caller. Use a new one, such as a random UUID.")
	case errors.Is(err, ledger.ErrNotFound):
		return notFound("There is no record with this id. Copy the audit_id of an answer exactly.")
	case errors.Is(err, disclosure.ErrWrongSeed):
		return newProblem(http.StatusForbidden, "This is not the seed of the record. Send the seed of the answer that had this audit id.").at("/seed")
	case errors.Is(err, disclosure.ErrNoSeed):
		return unprocessable("This record has no seed to check or to reveal. That of a commitment is the seed of the shuffle that used it; those of a shoe are shown when it is closed.")
	case errors.Is(err, ledger.ErrBusy):
		return problemBusy("More shuffles are waiting to become durable than the queue holds. Nothing was shuffled; ask again in a second.")
	case errors.Is(err, ledger.ErrNoSpace):
		return problemBusy("The store has no space left. Nothing was shuffled; earlier records can be read. Ask again once the operator has made room.")
	case errors.Is(err, ledger.ErrClosed):
		return problemBusy("The service is stopping. Nothing was shuffled; ask again, another instance may answer.")
	case errors.Is(err, errLogClosed):
		p := problemBusy("This log is not available at the moment. Nothing was done; ask again in a few seconds.")
		p.retryAfter = reopenSeconds
		return p
	case errors.Is(err, ledger.ErrBroken) && a.reopens():
		p := problemBusy("The record could not be made durable, so there is no shuffle. The log is opened again; retry with the same Idempotency-Key in a few seconds.")
		p.retryAfter = reopenSeconds
		return p
	case errors.Is(err, ledger.ErrReadOnly):
		return newProblem(http.StatusForbidden, "This log is retired: it shows what it has, and nothing is written to it any more. Use another log.")
	case errors.Is(err, ledger.ErrBroken):
		return newProblem(http.StatusInternalServerError, "The record could not be made durable, so there is no shuffle. The service ends and has to be started again.")
	case errors.Is(err, ledger.ErrNotPublished):
		return problemBusy("The record is durable, and no published checkpoint covers it yet. Ask again in a second.")
	case errors.Is(err, ledger.ErrOverloaded):
		return problemBusy("Too many requests are reading from the store at the moment. Ask again in a second.")
	case errors.Is(err, scheduler.ErrFull):
		return problemBusy("Too many long requests are in flight. Nothing was done; ask again in a second.")
	case errors.Is(err, errReplayTime):
		return problemBusy("The service is too busy to be done with this in time. Ask again later, or check the proof of the record offline with riffle verify.")
	case errors.Is(err, ledger.ErrUnavailable):
		return problemBusy("The store cannot be reached at the moment. Nothing was answered; ask again in a second.")
	case errors.Is(err, errConnections):
		p := problemBusy("Too many connections are open, or too many from your address. Nothing was done; retry in a second, on connections that you keep open.")
		p.close = true
		return p
	}
	return problemInternal()
}

// problemTooExpensive is the problem of a replay, or of the proof of a shoe, that would take longer
// than the service lets any take.
func problemTooExpensive() *problem {
	return unprocessable("Checking this takes longer than the service allows. Get the proof of each record from GET /audits/{id}/proof, and check it offline with riffle verify.")
}

// problemSettled returns the problem of a use of a commitment that was used before or has expired.
func problemSettled(e *dealer.CommitmentClosedError) *problem {
	p := conflict("The commitment's deadline was %s, and it can no longer be used. Make a new commitment, and use it in time.", e.Deadline.UTC().Format(audit.TimeFormat))
	if e.Status == dealer.StatusUsed {
		p = conflict("The commitment was used before; the shuffle is there under its audit_id: %s. Make a new commitment for another shuffle.", e.ClosedBy)
	}
	return p.at("/commitment_id").because(e.ClosedBy)
}

// problemOfShoe is the problem of an error of shoes; nil for any other.
func problemOfShoe(r *http.Request, err error) *problem {
	var closed *liveshoes.ClosedError
	var version *liveshoes.VersionError
	var cards *liveshoes.CardsError
	var short *shoe.ShortError
	switch {
	case errors.Is(err, journal.ErrNoShoe):
		return notFound("There is no shoe with this id. Copy the shoe_id from an answer to POST /shoes exactly.")
	case errors.Is(err, shoe.ErrNoPile):
		return notFound("The shoe has no such pile; GET /shoes/{id}/piles lists them. Cards that are put to a pile make it.")
	case errors.As(err, &closed) && closed.Status == shoe.Closed:
		return conflict("The shoe is closed, by the record with this audit_id: %s. Nothing more is dealt from it.", closed.AuditID).because(closed.AuditID)
	case errors.As(err, &closed):
		return newProblem(http.StatusGone, "The shoe has expired, and nothing more is dealt from it. It can still be closed, which shows its seeds.").because(closed.AuditID)
	case errors.As(err, &version):
		return newProblem(http.StatusPreconditionFailed, "The shoe is at version %d, and If-Match is for another. Nothing was changed; get the shoe again before you retry.", version.Version)
	case errors.As(err, &cards):
		return problemCards(cards)
	case errors.Is(err, liveshoes.ErrNotSeen):
		return conflict("The card at this position has not been drawn. It is shown to nobody before that, or before the shoe is closed.")
	case errors.As(err, &short):
		p := unprocessable("Wanted: %d; left there: %d. Nothing was taken; ask for fewer, or put cards there first.", short.Want, short.Have)
		if strings.HasSuffix(r.URL.Path, "/draw") {
			p = p.at("/count")
		}
		return p
	case errors.Is(err, shoe.ErrNotThere):
		return unprocessable("These cards are not there. Nothing was moved.").at("/cards")
	case errors.Is(err, shoe.ErrTooMany):
		return unprocessable("A shoe has at most %d piles, and is shuffled at most %d times, its piles included. Nothing was changed; use a pile that there is, or make a new shoe.", shoe.MaxPiles, shoe.MaxSeals)
	}
	return nil
}

// problemCards says which card of the request cannot be taken.
func problemCards(e *liveshoes.CardsError) *problem {
	p := unprocessable("This card is not there, or is named twice. Nothing was moved.")
	if e.Ambiguous {
		p = unprocessable("Several cards there have this code. Nothing was moved; name the card by its number, the member card of an answer.")
	}
	return p.at("/cards/" + strconv.Itoa(e.Index))
}

// place points at a field by the way the request named it: members of a body, parameters of a
// query.
func place(r *http.Request, f plan.FieldError) fieldError {
	detail, pointer := sentence(f.Detail), shortPointer(f.Pointer)
	if r.Method != http.MethodGet {
		return fieldError{Pointer: &pointer, Detail: detail}
	}
	name := strings.TrimPrefix(pointer, "/parameters")
	name, _, _ = strings.Cut(strings.TrimPrefix(name, "/"), "/")
	return fieldError{Parameter: name, Detail: detail}
}

// sentence turns the text of an error into a sentence.
func sentence(s string) string {
	s = strings.ToUpper(s[:1]) + s[1:]
	if strings.HasSuffix(s, "?") {
		return s
	}
	return s + "."
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

func (a *API) methodNotAllowed(w http.ResponseWriter, r *http.Request) error {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodHead, http.MethodPost} {
		if chi.RouteContext(r.Context()).Routes.Match(chi.NewRouteContext(), method, r.URL.Path) {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) == 0 { // the router takes any method that it does not know for one that is not allowed
		return a.noSuchPath(w, r)
	}
	names := slices.DeleteFunc(slices.Clone(allowed), func(m string) bool { return m == http.MethodHead })
	p := newProblem(http.StatusMethodNotAllowed, "This path does not take %s; it takes %s.", suggest.Brief(r.Method), strings.Join(names, " and "))
	p.allow = strings.Join(allowed, ", ")
	return p
}
