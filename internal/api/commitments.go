package api

import (
	"net/http"
	"slices"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/suggest"
)

// commit answers POST /commitments.
func (a *logAPI) commit(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	q, _, err := a.readRequest(w, r, commitmentForm, lease)
	if err != nil {
		return err
	}
	c, err := a.Dealer.Commit(committing(w, r), &q.Request)
	if err != nil {
		return err
	}
	return writeFresh(w, lease, append(appendMade(make([]byte, 0, 1024), c), "}\n"...))
}

// getCommitment answers GET /commitments/{id}.
func (a *logAPI) getCommitment(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
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
	return writeFresh(w, lease, append(appendShown(nil, c), '\n'))
}

// commitmentBytes is the approximate memory of a commitment in a list.
const commitmentBytes = 2 << 10

// listCommitments answers GET /commitments.
func (a *logAPI) listCommitments(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	query, err := parseQuery(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query, "status", "after", "limit"); err != nil {
		return err
	}
	status := dealer.Status(query["status"])
	if _, given := query["status"]; given && !slices.Contains(dealer.Statuses(), status) {
		return unprocessable("status must be open, late, used or void; got %s.", suggest.Quote(query["status"])).in("status")
	}
	after := uuid.Nil
	if text, given := query["after"]; given {
		id, ok := parseID(text)
		if !ok {
			return badRequest("after must be the commitment_id that the last page ended with; got %s.", suggest.Quote(text)).in("after")
		}
		after = id
	}
	limit, err := pageLimit(query)
	if err != nil {
		return err
	}
	if err := lease.Grow(int64(limit) * commitmentBytes); err != nil {
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
	next := "null" // the after of the next page; null on the last
	if len(found) == limit {
		next = `"` + found[len(found)-1].ID.String() + `"`
	}
	return writeFresh(w, lease, append(append(append(answer, `],"next":`...), next...), "}\n"...))
}
