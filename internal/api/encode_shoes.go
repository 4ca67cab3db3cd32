package api

import (
	"encoding/hex"
	"strconv"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
)

// shoeStream begins an answer about a shoe: an object.
func shoeStream(x *exchange, s *liveshoes.Shoe) *stream {
	x.Header().Set("ETag", versionTag(s.Version))
	out := newStream(x)
	out.open()
	return out
}

// versionTag is the ETag of a version of a shoe.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 10) + `"` }

// shoe appends the members of a shoe.
func (o *object) shoe(s *liveshoes.Shoe) {
	o.ids(s.First.ID, s.LogIndex, s)
	o.text("algorithm", string(s.First.Statement.Algorithm))
	o.number("size", s.Size)
	o.counts(s)
	o.sealed(s.First)
}

// ids appends the ids of a record and its shoe.
func (o *object) ids(id uuid.UUID, index uint64, s *liveshoes.Shoe) {
	o.text("audit_id", id.String())
	o.number("log_index", index)
	o.version(s)
	o.text("status", string(s.Status))
}

// version appends the id of a shoe and its version.
func (o *object) version(s *liveshoes.Shoe) {
	o.text("shoe_id", s.ID.String())
	o.number("version", s.Version)
}

// counts appends the numbers of cards by place, the cut card, and the expiry.
func (o *object) counts(s *liveshoes.Shoe) {
	o.number("remaining", s.Remaining)
	o.number("dealt", s.Dealt)
	o.piles(s)
	if s.Cut != nil {
		o.number("cut", s.Cut.At)
		o.raw("cut_reached", strconv.FormatBool(s.AtCut))
	}
	if s.Expires.IsZero() {
		o.raw("expires", "null")
	} else {
		o.time("expires", s.Expires.UTC(), audit.TimeFormat)
	}
}

// piles appends the piles by name.
func (o *object) piles(s *liveshoes.Shoe) {
	o.name("piles")
	o.open()
	for i := range s.Piles {
		o.name(s.Piles[i].Name)
		o.open()
		o.number("remaining", s.Piles[i].Cards)
		o.close()
	}
	o.close()
}

// sealed appends the commitment and root of a record. An unshuffled deck has no root.
func (o *object) sealed(record *audit.Record) {
	o.hex("commitment", record.Commitment[:])
	if record.Root == nil {
		o.raw("root", "null")
	} else {
		o.hex("root", record.Root[:])
	}
}

// change appends a change of a shoe, and the shoe after it.
func (s *stream) change(c *liveshoes.Result) {
	s.ids(c.AuditID, c.LogIndex, &c.Shoe)
	s.counts(&c.Shoe)
	switch record := c.Record; {
	case record.Root != nil:
		s.number("size", record.Statement.Size)
		s.text("algorithm", string(record.Statement.Algorithm))
		s.sealed(record)
	case len(c.Cards) > 0:
		s.cards(c.Cards)
	}
}

// cards appends the member that lists cards.
func (s *stream) cards(list []liveshoes.Card) {
	s.list("cards", len(list), func(i int) {
		s.card(&list[i])
		s.flush()
	})
}

// card appends a card of a shoe: its code and instance, or the caller's item byte for byte.
func (o *object) card(c *liveshoes.Card) {
	o.open()
	o.number("card", c.Number)
	if c.Card != nil {
		o.text("code", c.Card.Code)
		o.number("instance", uint64(c.Card.Instance))
	} else {
		o.raw("item", c.Item)
	}
	o.number("position", c.Position)
	o.text("sealed_by", c.SealedBy.String())
	if c.Opening != nil {
		o.hex("salt", c.Opening.Salt[:])
		o.list("path", len(c.Opening.Path), func(i int) {
			o.buf = append(hex.AppendEncode(append(o.buf, '"'), c.Opening.Path[i][:]), '"')
		})
	}
	o.close()
}
