package api

import (
	"encoding/hex"
	"encoding/json"

	"github.com/google/uuid"

	"riffle/internal/disclosure"
)

// A shownAudit is an audit in an answer.
type shownAudit struct {
	AuditID  uuid.UUID       `json:"audit_id"`
	LogIndex uint64          `json:"log_index"`
	Record   json.RawMessage `json:"record"` // byte for byte
	Revealed bool            `json:"revealed"`
	Seed     *string         `json:"seed"` // null while it is secret
}

func show(a *disclosure.PublicRecord) shownAudit {
	return shownAudit{a.ID, a.LogIndex, a.Record, a.Seed != nil, orNull(hex.EncodeToString(a.Seed))}
}

// sendAudit sends an audit, unless there was an error.
func (x *exchange) sendAudit(found *disclosure.PublicRecord, err error) error {
	if err != nil {
		return err
	}
	return x.sendValue(show(found))
}

// orNull returns a pointer to a text, or nil, which is null in JSON, for "".
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// getAudit answers GET /audits/{id}.
func (a *API) getAudit(x *exchange) error {
	return x.sendAudit(a.Disclosure.Audit(x.r.Context(), x.id))
}

// tlogProof is the format of proofs that is not JSON.
const tlogProof = "tlog-proof"

// proveAudit answers GET /audits/{id}/proof: one file that can be checked offline.
func (a *API) proveAudit(x *exchange) error {
	p, err := a.Disclosure.Prove(x.r.Context(), x.id, x.witnessed)
	switch {
	case err != nil:
		return err
	case x.query.Get("format") == tlogProof:
		x.Header()["Cache-Control"] = noStore
		return x.send(typeText, p.TlogProof())
	}
	return x.sendFresh(p.Text())
}

// listAudits answers GET /audits?reference=.
func (a *API) listAudits(x *exchange) error {
	reference := x.query.Get("reference")
	if reference == "" {
		return badRequest("reference is missing. Send the reference of the shuffle requests whose records you want.").in("reference")
	}
	found, err := a.Disclosure.Audits(x.r.Context(), reference, x.from, int(x.limit), func(f *disclosure.PublicRecord) error {
		return x.lease.Grow(3 * int64(len(f.Record)+hex.EncodedLen(len(f.Seed)))) // the answer grows by copying
	})
	if err != nil {
		return err
	}
	answer := struct {
		Reference string       `json:"reference"`
		Audits    []shownAudit `json:"audits"`
		Next      *uint64      `json:"next"` // where the next page begins; null on the last
	}{Reference: reference, Audits: []shownAudit{}}
	for i := range found {
		answer.Audits = append(answer.Audits, show(found[i]))
	}
	if len(found) == int(x.limit) {
		answer.Next = new(found[len(found)-1].LogIndex + 1)
	}
	return x.sendValue(answer)
}

// reveal answers POST /audits/{id}/reveal.
func (a *API) reveal(x *exchange) error {
	var text string
	body, given, err := readMembers(a, x, revealMembers, &text)
	if err == nil && len(given) == 0 {
		err = badRequest("seed is missing. Send the seed of the answer that had this audit id.").at("/seed")
	}
	if err != nil {
		return err
	}
	seed, _ := hex.DecodeString(text) // no error, since it is hex
	key, err := idempotencyKey(x, body)
	if err != nil {
		return err
	}
	return x.sendAudit(a.Disclosure.Reveal(x.committing(), x.id, seed, key))
}
