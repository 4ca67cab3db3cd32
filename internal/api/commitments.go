package api

import (
	"bytes"
	"encoding/hex"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
)

// appendMade appends a commitment as it is when it is made, which never changes: an object that is still open.
func appendMade(b []byte, c *dealer.Commitment) []byte {
	statement := c.Statement.Append(make([]byte, 0, 512))
	statement = statement[:bytes.LastIndex(statement, []byte("seed "))] // its lines but the last, which has the seed
	b = append(b, `{"commitment_id":"`...)
	b = append(b, c.ID.String()...)
	b = append(b, `","log_index":`...)
	b = strconv.AppendUint(b, c.LogIndex, 10)
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, c.Hash[:])
	b = append(b, `","statement":`...)
	b, err := jsontext.AppendQuote(b, statement)
	if err != nil {
		panic("api: a statement is no text: " + err.Error())
	}
	b = append(b, `,"deadline":"`...)
	b = c.Deadline.UTC().AppendFormat(b, audit.TimeFormat)
	return append(b, '"')
}

// appendShown appends a commitment with what has become of it.
func appendShown(b []byte, c *dealer.Commitment) []byte {
	b = append(appendMade(b, c), `,"status":"`...)
	b = append(b, c.Status...)
	b = append(b, `","audit_id":`...) // of the record that used it, or says that it is void; null before
	if c.SettledBy == uuid.Nil {
		return append(b, "null}"...)
	}
	return append(append(append(b, '"'), c.SettledBy.String()...), `"}`...)
}

// commit answers POST /commitments.
func (a *API) commit(w http.ResponseWriter, r *http.Request) error {
	q, body, err := a.readRequest(w, r, ofCommitment)
	if err != nil {
		return err
	}
	defer q.release()
	if q.Key, err = idempotencyKey(r, body); err != nil {
		return err
	}
	c, err := a.Dealer.Commit(r.Context(), &q.Request)
	if err != nil {
		return err
	}
	return writeFresh(w, append(appendMade(make([]byte, 0, 1024), c), "}\n"...))
}

// getCommitment answers GET /commitments/{id}.
func (a *API) getCommitment(w http.ResponseWriter, r *http.Request) error {
	id, ok := parseID(chi.URLParam(r, "id"))
	if !ok {
		return dealer.ErrNoCommitment
	}
	if err := noParameters(r); err != nil {
		return err
	}
	c, err := a.Dealer.Commitment(r.Context(), id)
	if err != nil {
		return err
	}
	return writeFresh(w, append(appendShown(nil, c), '\n'))
}

// listCommitments answers GET /commitments.
func (a *API) listCommitments(w http.ResponseWriter, r *http.Request) error {
	query, err := parseQuery(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query, "status", "after", "limit"); err != nil {
		return err
	}
	status := dealer.Status(query["status"])
	if _, given := query["status"]; given && !slices.Contains(dealer.Statuses(), status) {
		return newProblem(http.StatusUnprocessableEntity, "status is open, late, used or void.").in("status")
	}
	after := uuid.Nil
	if text, given := query["after"]; given {
		id, ok := parseID(text)
		if !ok {
			return newProblem(http.StatusBadRequest, "after is the commitment_id that the last page ended with.").in("after")
		}
		after = id
	}
	limit, err := pageLimit(query)
	if err != nil {
		return err
	}
	found, err := a.Dealer.Commitments(r.Context(), status, after, limit)
	if err != nil {
		return err
	}
	answer := []byte(`{"commitments":[`)
	for i := range found {
		if i > 0 {
			answer = append(answer, ',')
		}
		answer = appendShown(answer, &found[i])
	}
	next := "null" // what to go on after; null on the last page
	if len(found) == limit {
		next = `"` + found[len(found)-1].ID.String() + `"`
	}
	return writeFresh(w, append(append(append(answer, `],"next":`...), next...), "}\n"...))
}
