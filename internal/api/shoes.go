package api

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/httpjson"
	"riffle/internal/httpserver"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
)

// makeShoe answers POST /shoes.
func (a *API) makeShoe(x *exchange, q *shuffleRequest) error {
	made, err := a.Shoes.Create(x.committing(), &liveshoes.NewShoe{Request: q.Request, Items: q.values(), Expires: q.Expiry, Cut: q.cut})
	if err != nil {
		return err
	}
	return sendShoe(x, &made.Shoe, nil, func(out *stream) { out.shoe(&made.Shoe) })
}

// getShoe answers GET /shoes/{id}.
func (a *API) getShoe(x *exchange) error {
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	return sendShoe(x, s, err, func(out *stream) {
		out.shoe(s)
		out.text("changed_by", s.ChangedBy.String())
	})
}

// listPiles answers GET /shoes/{id}/piles.
func (a *API) listPiles(x *exchange) error {
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	return sendShoe(x, s, err, func(out *stream) {
		out.version(s)
		out.piles(s)
	})
}

// listPlace answers GET /shoes/{id}/piles/{pile} and GET /shoes/{id}/dealt.
func (a *API) listPlace(x *exchange) error {
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	place := cmp.Or(x.pile, shoe.Dealt)
	there, _ := s.At(place) // none in an error, which follows
	if err := x.lease.Grow(cardsBytes(int(there.Len()), x.openings)); err != nil {
		return err
	}
	cards, err := s.Cards(place)
	if err == nil && x.openings {
		opening := a.opening(x)
		defer opening.Done()
		err = opening.open(s, cards)
	}
	return sendShoe(x, s, err, func(out *stream) {
		out.version(s)
		if name, ok := place.Pile(); ok {
			out.text("pile", name)
		}
		out.cards(cards)
	})
}

// openCard answers GET /shoes/{id}/cards/{position}/proof.
func (a *API) openCard(x *exchange) error {
	text := chi.URLParam(x.r, "position")
	position, wrong := httpjson.ParseCount(text, 0, audit.MaxSize)
	if wrong != nil || strconv.FormatUint(position, 10) != text {
		return problemNoPosition()
	}
	opening := a.opening(x)
	defer opening.Done()
	card, err := a.Shoes.Card(opening.Context, x.id, x.other, position, opening)
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoPosition()
	} else if err != nil {
		return opening.Cause(err)
	}
	opening.Release()
	out := object{make([]byte, 0, 2048)}
	out.card(card)
	return x.sendFresh(append(out.buf, '\n'))
}

// An opening makes the openings of a request's cards, as long work if it is not little. It
// implements [liveshoes.Pace].
type opening struct {
	*httpserver.LongRead
	a     *API
	begun bool
}

func (a *API) opening(x *exchange) *opening { return &opening{a.long.Read(x, x.r, x.lease), a, false} }

// shortOpening is the number of leaves that are made without a place among the long requests: in
// about 3 ms.
const shortOpening = 1024

// Admit waits until the openings may be made. Later calls do nothing.
func (o *opening) Admit(c liveshoes.OpeningCost) error {
	if o.begun || c.Leaves == 0 {
		return nil
	}
	o.begun = true
	return o.Begin(o.Context, c.Leaves <= shortOpening, c.Bytes)
}

// open adds the openings of cards of a shoe.
func (o *opening) open(s *liveshoes.Shoe, cards []liveshoes.Card) error {
	err := o.a.Shoes.Open(o.Context, s, cards, o)
	o.Release()
	return o.Cause(err)
}

func problemNoPosition() *problem {
	return notFound("The shoe has no card at this position. Copy position and sealed_by of a card exactly.")
}

// proveShoe answers GET /shoes/{id}/proof: the proof files of all records. It sends nothing before
// all can be proven, so that the status can report that a proof is not ready.
func (a *API) proveShoe(x *exchange) error {
	long := a.long.Read(x, x.r, x.lease)
	defer long.Done()
	out := newStream(x)
	out.ctx = long.Context
	before := `{"spec":"` + audit.Spec + `","shoe":[`
	err := a.Disclosure.ProveShoe(long.Context, x.id, x.witnessed, limits{long, a.Budget.Size()}, func(p *prooffile.File) error {
		out.job = long.Job
		out.buf = p.AppendTo(append(out.buf, before...))
		before = ","
		if out.flush(); out.sent {
			long.StopTimer()
		}
		return nil
	})
	switch {
	case err == nil:
		out.buf = append(out.buf, "]}\n"...)
		return out.finish()
	case !out.sent:
		return long.Cause(err)
	case long.Context.Err() == nil:
		a.Logger.Error("the proof of a shoe was cut off", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// limits implements [disclosure.Limits] for a request.
type limits struct {
	*httpserver.LongRead
	memory int64 // bytes of the budget
}

const (
	shortProof = 5       // versions, which take about a millisecond and need no place among the long requests
	mostProven = 500_000 // versions, which take about two minutes
)

func (l limits) Begin(ctx context.Context, versions uint64) error {
	bytes := max(versionBytes*int64(min(versions, mostProven)), firstBytes)
	if versions > mostProven || bytes > l.memory {
		return unprocessable("The proof of this shoe takes longer than the service allows. Get the proof of each record from GET /audits/{id}/proof; together, as {\"spec\":\"riffle/1\",\"shoe\":[...]}, they are the proof of the shoe.")
	}
	return l.LongRead.Begin(ctx, versions <= shortProof, bytes)
}

// The memory of a proof until its first part is sent, in bytes.
const (
	versionBytes = 16      // for the log index of each
	firstBytes   = 1 << 20 // for the items in the shoe's first record
)

// sendShoe answers about a shoe with the members that write appends, unless there was an error.
func sendShoe(x *exchange, s *liveshoes.Shoe, err error, write func(out *stream)) error {
	if err != nil {
		return err
	}
	x.Header().Set("ETag", versionTag(s.Version))
	out := newStream(x)
	out.open()
	write(out)
	return out.end()
}

// versionTag is the ETag of a version of a shoe.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 10) + `"` }

// shoe appends the members of a shoe.
func (o *stream) shoe(s *liveshoes.Shoe) {
	o.ids(s.First.ID, s.LogIndex, s)
	o.text("algorithm", string(s.First.Statement.Algorithm))
	o.number("size", s.Size())
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
func (o *stream) counts(s *liveshoes.Shoe) {
	o.number("remaining", s.Deck.Len())
	o.number("dealt", s.Dealt.Len())
	o.piles(s)
	if cut, reached := s.Cut(); cut != nil {
		o.number("cut", cut.At)
		o.raw("cut_reached", strconv.FormatBool(reached))
	}
	if s.Expires.IsZero() {
		o.raw("expires", "null")
	} else {
		o.time("expires", s.Expires.UTC(), audit.TimeFormat)
	}
}

// piles appends the piles by name.
func (o *stream) piles(s *liveshoes.Shoe) {
	o.name("piles")
	o.open()
	for i := range s.Piles {
		o.name(s.Piles[i].Name)
		o.open()
		o.number("remaining", s.Piles[i].Cards.Len())
		o.close()
		o.flush()
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
