package api

import (
	"bytes"
	"encoding/hex"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/dealer"
)

// appendMade appends the part of a commitment that never changes: an object without its closing
// brace.
func appendMade(b []byte, c *dealer.Commitment) []byte {
	statement := c.Statement.Append(make([]byte, 0, 512))
	statement = statement[:bytes.LastIndex(statement, []byte("seed "))] // the last line has the seed
	b = append(b, `{"commitment_id":"`...)
	b = append(b, c.ID.String()...)
	b = append(b, `","log_index":`...)
	b = strconv.AppendUint(b, c.LogIndex, 10)
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, c.Hash[:])
	b = append(b, `","statement":`...)
	b, err := jsontext.AppendQuote(b, statement)
	if err != nil {
		panic("api: a statement is not text: " + err.Error())
	}
	b = append(b, `,"deadline":"`...)
	b = c.Deadline.UTC().AppendFormat(b, audit.TimeFormat)
	return append(b, '"')
}

// appendShown appends a commitment with its status.
func appendShown(b []byte, c *dealer.Commitment) []byte {
	b = append(appendMade(b, c), `,"status":"`...)
	b = append(b, c.Status...)
	b = append(b, `","audit_id":`...) // of the record that used or voided it; null before
	if c.ClosedBy == uuid.Nil {
		return append(b, "null}"...)
	}
	return append(append(append(b, '"'), c.ClosedBy.String()...), `"}`...)
}
