package api

import (
	"cmp"
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/disclosure"
	"riffle/internal/httpjson"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// makeShoe answers POST /shoes.
func (a *logAPI) makeShoe(x *exchange) error {
	q, err := a.readRequest(x, shoeForm)
	if err != nil {
		return err
	}
	made, err := a.Shoes.Create(x.committing(), &liveshoes.Request{Request: q.Request, Items: q.values(), Expires: q.expires, Cut: q.cut})
	if err != nil {
		return err
	}
	out := shoeStream(x, &made.Shoe)
	out.shoe(&made.Shoe)
	return out.end()
}

// getShoe answers GET /shoes/{id}.
func (a *logAPI) getShoe(x *exchange) error {
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	out := shoeStream(x, s)
	out.shoe(s)
	out.text("changed_by", s.ChangedBy.String())
	return out.end()
}

// listPiles answers GET /shoes/{id}/piles.
func (a *logAPI) listPiles(x *exchange) error {
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	out := shoeStream(x, s)
	out.version(s)
	out.piles(s)
	return out.end()
}

// listPlace answers GET /shoes/{id}/piles/{pile} and GET /shoes/{id}/dealt.
func (a *logAPI) listPlace(x *exchange) error {
	openings, err := x.flag("proof")
	if err != nil {
		return err
	}
	s, err := a.Shoes.Get(x.r.Context(), x.id)
	if err != nil {
		return err
	}
	place := cmp.Or(x.pile, shoe.Dealt)
	if err := x.lease.Grow(cardsBytes(cardsAt(s, place), openings)); err != nil {
		return err
	}
	cards, err := a.Shoes.Cards(x.r.Context(), s, place, openings)
	if err != nil {
		return err
	}
	out := shoeStream(x, s)
	out.version(s)
	if name, ok := place.Pile(); ok {
		out.text("pile", name)
	}
	out.cards(cards)
	return out.end()
}

// cardsAt returns the number of cards at a place: a pile, or outside the deck and all piles.
func cardsAt(s *liveshoes.Shoe, place shoe.Place) int {
	name, ok := place.Pile()
	if !ok {
		return int(s.Dealt)
	}
	for _, p := range s.Piles {
		if p.Name == name {
			return int(p.Cards)
		}
	}
	return 0
}

// openCard answers GET /shoes/{id}/cards/{position}/proof.
func (a *logAPI) openCard(x *exchange) error {
	text, given := x.query["sealed_by"]
	sealedBy, ok := parseID(text)
	if given && (!ok || sealedBy == uuid.Nil) {
		return badRequest("sealed_by must be the sealed_by of a card, copied exactly; got %s.", suggest.Quote(text)).in("sealed_by")
	}
	text = chi.URLParam(x.r, "position")
	position, wrong := httpjson.ParseCount(text)
	if wrong != nil || strconv.FormatUint(position, 10) != text {
		return problemNoPosition()
	}
	card, err := a.Shoes.Card(x.r.Context(), x.id, sealedBy, position)
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoPosition()
	} else if err != nil {
		return err
	}
	out := object{make([]byte, 0, 2048)}
	out.card(card)
	return x.sendFresh(append(out.buf, '\n'))
}

func problemNoPosition() *problem {
	return notFound("The shoe has no card at this position. Copy position and sealed_by of a card exactly.")
}

// proveShoe answers GET /shoes/{id}/proof: a line with the proof file of each record. It sends nothing before
// all can be proven, so that the status can report that a proof is not ready.
func (a *logAPI) proveShoe(x *exchange) error {
	long := a.long.Replay(x, x.r, x.lease)
	defer long.Done()
	out := newStream(x)
	out.media, out.ctx = []string{typeOfLines(x.r)}, long.Context
	err := a.Disclosure.ProveShoe(long.Context, x.id, replay{long, a.Budget.Size()}, func(p *disclosure.Proof) error {
		out.job = long.Job()
		out.buf = append(out.buf, proofText(p)...)
		if out.flush(); out.sent {
			long.StopTimer()
		}
		return nil
	})
	switch {
	case err == nil:
		return out.finish()
	case !out.sent:
		return long.Cause(err)
	case long.Context.Err() == nil:
		a.Logger.Error("the proof of a shoe was cut off", "error", err)
	}
	panic(http.ErrAbortHandler)
}

// typeOfLines returns the media type of JSON lines: application/x-ndjson, or application/jsonl if the request
// accepts exactly that, as some generated clients do.
func typeOfLines(r *http.Request) string {
	const jsonl = "application/jsonl"
	if r.Header.Get("Accept") == jsonl {
		return jsonl
	}
	return "application/x-ndjson"
}
