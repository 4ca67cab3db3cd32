package api

import (
	"errors"
	"net/http"
	"strconv"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/budget"
	"riffle/internal/disclosure"
	"riffle/internal/httpjson"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// makeShoe answers POST /shoes.
func (a *logAPI) makeShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	q, body, err := a.readRequest(w, r, shoeForm, lease)
	if err != nil {
		return err
	}
	made, err := a.Shoes.Create(committing(w, r), &liveshoes.Request{Request: q.Request, Items: q.values(body), Expires: q.expires, Cut: q.cut})
	if err != nil {
		return err
	}
	out := a.shoeStream(w, lease, &made.Shoe)
	out.buf = append(appendShoe(out.buf, &made.Shoe), "}\n"...)
	return out.finish()
}

// getShoe answers GET /shoes/{id}.
func (a *logAPI) getShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	s, err := a.findShoe(r)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, lease, s)
	out.buf = append(appendShoe(out.buf, s), `,"changed_by":"`...)
	out.buf = append(append(out.buf, s.ChangedBy.String()...), "\"}\n"...)
	return out.finish()
}

// findShoe finds the shoe in a path without parameters.
func (a *logAPI) findShoe(r *http.Request) (*liveshoes.Shoe, error) {
	id, err := shoeID(r)
	if err != nil {
		return nil, err
	}
	if err := noParameters(r); err != nil {
		return nil, err
	}
	return a.Shoes.Get(r.Context(), id)
}

// listPiles answers GET /shoes/{id}/piles.
func (a *logAPI) listPiles(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	s, err := a.findShoe(r)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, lease, s)
	out.buf = append(appendVersion(append(out.buf, '{'), s), ',')
	out.buf = append(appendPiles(out.buf, s), "}\n"...)
	return out.finish()
}

// listDealt answers GET /shoes/{id}/dealt.
func (a *logAPI) listDealt(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	return a.listLying(w, r, lease, shoe.Dealt)
}

// listPile answers GET /shoes/{id}/piles/{pile}.
func (a *logAPI) listPile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	return a.listLying(w, r, lease, place)
}

// listLying answers with the cards at a place.
func (a *logAPI) listLying(w http.ResponseWriter, r *http.Request, lease *budget.Lease, place shoe.Place) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	openings, err := proofParameter(r)
	if err != nil {
		return err
	}
	s, err := a.Shoes.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if err := lease.Grow(cardsBytes(cardsAt(s, place), openings)); err != nil {
		return err
	}
	cards, err := a.Shoes.Cards(r.Context(), s, place, openings)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, lease, s)
	out.buf = appendVersion(append(out.buf, '{'), s)
	if name, ok := place.Pile(); ok {
		out.buf = append(append(append(out.buf, `,"pile":"`...), name...), '"')
	}
	out.cards(cards)
	out.buf = append(out.buf, "}\n"...)
	return out.finish()
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
func (a *logAPI) openCard(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	query, err := parseQuery(r)
	if err != nil {
		return err
	}
	if err := onlyParameters(query, "sealed_by"); err != nil {
		return err
	}
	sealedBy := uuid.Nil
	if text, given := query["sealed_by"]; given {
		var ok bool
		if sealedBy, ok = parseID(text); !ok || sealedBy == uuid.Nil {
			return badRequest("sealed_by must be the sealed_by of a card, copied exactly; got %s.", suggest.Quote(text)).in("sealed_by")
		}
	}
	text := chi.URLParam(r, "position")
	position, wrong := httpjson.ParseCount(text)
	if wrong != nil || strconv.FormatUint(position, 10) != text {
		return problemNoPosition()
	}
	card, err := a.Shoes.Card(r.Context(), id, sealedBy, position)
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoPosition()
	} else if err != nil {
		return err
	}
	return writeFresh(w, lease, append(appendCard(make([]byte, 0, 2048), card), '\n'))
}

func problemNoPosition() *problem {
	return notFound("The shoe has no card at this position. Copy position and sealed_by of a card exactly.")
}

// proveShoe answers GET /shoes/{id}/proof: a line with the proof file of each record. It sends nothing before
// all can be proven, so that the status can report that a proof is not ready.
func (a *logAPI) proveShoe(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	if err := noParameters(r); err != nil {
		return err
	}
	long := a.long.Replay(w, r, lease)
	defer long.Done()
	out := a.newStream(w, lease)
	out.media, out.ctx = []string{typeOfLines(r)}, long.Context
	err = a.Disclosure.ProveShoe(long.Context, id, replay{long, a.Budget.Size()}, func(p *disclosure.Proof) error {
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
