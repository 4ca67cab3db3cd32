package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/dealer"
)

// commit answers POST /commitments.
func (a *API) commit(x *exchange, q *shuffleRequest) error {
	c, err := a.Dealer.Commit(x.committing(), &q.Request)
	if err != nil {
		return err
	}
	out := object{make([]byte, 0, 1024)}
	out.open()
	out.made(c)
	return x.sendFresh(append(out.buf, "}\n"...))
}

// getCommitment answers GET /commitments/{id}.
func (a *API) getCommitment(x *exchange) error {
	c, err := a.Dealer.Commitment(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	out := object{make([]byte, 0, 1024)}
	out.commitment(c)
	return x.sendFresh(append(out.buf, '\n'))
}

// commitmentBytes is the approximate memory of a commitment in a list, and playerBytes of each of
// its players.
const commitmentBytes, playerBytes = 2 << 10, 512

// listCommitments answers GET /commitments.
func (a *API) listCommitments(x *exchange) error {
	if err := x.lease.Grow(int64(x.limit) * commitmentBytes); err != nil {
		return err
	}
	found, err := a.Dealer.Commitments(x.r.Context(), dealer.Status(x.query.Get("status")), x.other, int(x.limit), func(c *dealer.Commitment) error {
		return x.lease.Grow(int64(len(c.Players) * playerBytes))
	})
	if err != nil {
		return err
	}
	var out object
	out.open()
	out.list("commitments", len(found), func(i int) { out.commitment(&found[i]) })
	if len(found) == int(x.limit) { // where the next page begins
		out.text("next", found[len(found)-1].ID.String())
	} else {
		out.raw("next", "null")
	}
	return x.sendFresh(append(out.buf, "}\n"...))
}

// made appends the members of a commitment that never change.
func (o *object) made(c *dealer.Commitment) {
	statement := c.Statement.Append(make([]byte, 0, 512))
	statement = statement[:bytes.LastIndex(statement, []byte("seed "))] // the last line has the seed
	quoted, _ := jsontext.AppendQuote(nil, statement)                   // no error, since it is UTF-8
	o.text("commitment_id", c.ID.String())
	o.number("log_index", c.LogIndex)
	o.hex("commitment", c.Commitment[:])
	o.raw("statement", string(quoted))
	o.time("deadline", c.Deadline.UTC(), audit.TimeFormat)
	if c.Count > 0 {
		o.number("count", c.Count)
	}
	if c.Players != nil {
		players, _ := json.Marshal(c.Players) // sorted; no error
		o.raw("players", string(players))
	}
	if round, isKnown := beacon.Parse(c.Beacon); isKnown {
		o.raw("beacon", fmt.Sprintf(`{"chain":%q,"round":%d,"time":%q}`, beacon.Chain, uint64(round), round.Time().Format(time.RFC3339)))
	}
}

// commitment appends a commitment with its status.
func (o *object) commitment(c *dealer.Commitment) {
	o.open()
	o.made(c)
	o.text("status", string(c.Status))
	if c.Count > 0 {
		o.number("used", c.Used)
	}
	if c.ClosedBy == uuid.Nil { // the record that used or voided it
		o.raw("audit_id", "null")
	} else {
		o.text("audit_id", c.ClosedBy.String())
	}
	o.close()
}
