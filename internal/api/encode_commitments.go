package api

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
)

// made appends the members of a commitment that never change.
func (o *object) made(c *dealer.Commitment) {
	statement := c.Statement.Append(make([]byte, 0, 512))
	statement = statement[:bytes.LastIndex(statement, []byte("seed "))] // the last line has the seed
	quoted, err := jsontext.AppendQuote(nil, statement)
	if err != nil {
		panic("api: a statement is not text: " + err.Error())
	}
	o.text("commitment_id", c.ID.String())
	o.number("log_index", c.LogIndex)
	o.hex("commitment", c.Hash[:])
	o.raw("statement", string(quoted))
	o.time("deadline", c.Deadline.UTC(), audit.TimeFormat)
}

// commitment appends a commitment with its status.
func (o *object) commitment(c *dealer.Commitment) {
	o.open()
	o.made(c)
	o.text("status", string(c.Status))
	if c.ClosedBy == uuid.Nil { // the record that used or voided it
		o.raw("audit_id", "null")
	} else {
		o.text("audit_id", c.ClosedBy.String())
	}
	o.close()
}
