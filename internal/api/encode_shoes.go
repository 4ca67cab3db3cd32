package api

import (
	"encoding/hex"
	"net/http"
	"strconv"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/liveshoes"
)

// shoeStream begins an answer about a shoe.
func (a *API) shoeStream(w http.ResponseWriter, lease *budget.Lease, s *liveshoes.Shoe) *stream {
	w.Header().Set("ETag", versionTag(s.Version))
	return a.newStream(w, lease)
}

// appendShoe appends a shoe: an object without its closing brace.
func appendShoe(b []byte, s *liveshoes.Shoe) []byte {
	b = appendIDs(b, s.First.ID, s.LogIndex, s)
	b = append(b, `,"algorithm":"`...)
	b = append(b, s.First.Statement.Algorithm...)
	b = append(b, `","size":`...)
	b = strconv.AppendUint(b, s.Size, 10)
	b = appendCounts(b, s)
	return appendSealed(b, s.First)
}

// appendIDs appends the ids of a record and its shoe: an object without its closing brace.
func appendIDs(b []byte, id uuid.UUID, index uint64, s *liveshoes.Shoe) []byte {
	b = append(append(b, `{"audit_id":"`...), id.String()...)
	b = append(b, `","log_index":`...)
	b = strconv.AppendUint(b, index, 10)
	b = append(b, ',')
	b = appendVersion(b, s)
	b = append(append(b, `,"status":"`...), s.Status...)
	return append(b, '"')
}

// appendVersion appends the id of a shoe and its version.
func appendVersion(b []byte, s *liveshoes.Shoe) []byte {
	b = append(append(b, `"shoe_id":"`...), s.ID.String()...)
	b = append(b, `","version":`...)
	return strconv.AppendUint(b, s.Version, 10)
}

// appendCounts appends the numbers of cards by place, the cut card, and the expiry.
func appendCounts(b []byte, s *liveshoes.Shoe) []byte {
	b = append(b, `,"remaining":`...)
	b = strconv.AppendUint(b, s.Remaining, 10)
	b = append(b, `,"dealt":`...)
	b = strconv.AppendUint(b, s.Dealt, 10)
	b = append(b, ',')
	b = appendPiles(b, s)
	if s.Cut != nil {
		b = strconv.AppendUint(append(b, `,"cut":`...), s.Cut.At, 10)
		b = strconv.AppendBool(append(b, `,"cut_reached":`...), s.AtCut)
	}
	b = append(b, `,"expires":`...)
	if s.Expires.IsZero() {
		return append(b, "null"...)
	}
	b = s.Expires.UTC().AppendFormat(append(b, '"'), audit.TimeFormat)
	return append(b, '"')
}

// appendPiles appends the piles by name. Names have no characters that need escapes.
func appendPiles(b []byte, s *liveshoes.Shoe) []byte {
	b = append(b, `"piles":{`...)
	for i := range s.Piles {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '"'), s.Piles[i].Name...), `":{"remaining":`...)
		b = append(strconv.AppendUint(b, s.Piles[i].Cards, 10), '}')
	}
	return append(b, '}')
}

// appendSealed appends the commitment and root of a record. An unshuffled deck has no root.
func appendSealed(b []byte, record *audit.Record) []byte {
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, record.Commitment[:])
	if record.Root == nil {
		return append(b, `","root":null`...)
	}
	b = append(b, `","root":"`...)
	return append(hex.AppendEncode(b, record.Root[:]), '"')
}

// change encodes a change of a shoe, and the shoe after it.
func (s *stream) change(c *liveshoes.Result) {
	s.buf = appendIDs(s.buf, c.AuditID, c.LogIndex, &c.Shoe)
	s.buf = appendCounts(s.buf, &c.Shoe)
	switch record := c.Record; {
	case record.Root != nil:
		s.buf = append(s.buf, `,"size":`...)
		s.buf = strconv.AppendUint(s.buf, record.Statement.Size, 10)
		s.buf = append(append(s.buf, `,"algorithm":"`...), record.Statement.Algorithm...)
		s.buf = appendSealed(append(s.buf, '"'), record)
	case len(c.Cards) > 0:
		s.cards(c.Cards)
	}
	s.buf = append(s.buf, "}\n"...)
}

// cards encodes the member that lists cards.
func (s *stream) cards(list []liveshoes.Card) {
	s.buf = append(s.buf, `,"cards":[`...)
	for i := range list {
		if i > 0 {
			s.buf = append(s.buf, ',')
		}
		s.buf = appendCard(s.buf, &list[i])
		s.flush()
	}
	s.buf = append(s.buf, ']')
}

// appendCard appends a card of a shoe: its code and instance, or the caller's item byte for byte.
func appendCard(b []byte, c *liveshoes.Card) []byte {
	b = append(b, `{"card":`...)
	b = strconv.AppendUint(b, c.Number, 10)
	if c.Card != nil {
		b = append(append(b, `,"code":"`...), c.Card.Code...)
		b = append(b, `","instance":`...)
		b = strconv.AppendInt(b, int64(c.Card.Instance), 10)
	} else {
		b = append(append(b, `,"item":`...), c.Item...)
	}
	b = append(b, `,"position":`...)
	b = strconv.AppendUint(b, c.Position, 10)
	b = append(append(b, `,"sealed_by":"`...), c.SealedBy.String()...)
	b = append(b, '"')
	if c.Opening == nil {
		return append(b, '}')
	}
	b = append(b, `,"salt":"`...)
	b = hex.AppendEncode(b, c.Opening.Salt[:])
	b = append(b, `","path":[`...)
	for i := range c.Opening.Path {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(hex.AppendEncode(b, c.Opening.Path[i][:]), '"')
	}
	return append(b, "]}"...)
}

// versionTag is the ETag of a version of a shoe.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 10) + `"` }
