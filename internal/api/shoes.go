package api

import (
	"bytes"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/disclosure"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
	"riffle/internal/shoes"
)

// shoeID reads the id of the path. One that is malformed answers like one that is not there.
func shoeID(r *http.Request) (uuid.UUID, error) {
	id, ok := parseID(chi.URLParam(r, "id"))
	if !ok {
		return uuid.Nil, journal.ErrNoShoe
	}
	return id, nil
}

// pileInPath returns the place of the pile that the path names.
func pileInPath(r *http.Request) (shoe.Place, error) {
	name := chi.URLParam(r, "pile")
	if !shoe.IsName(name) {
		return "", problemPileName()
	}
	return shoe.OnPile(name), nil
}

func problemPileName() *problem {
	return newProblem(http.StatusUnprocessableEntity, "A pile is named by 1 to %d letters, digits, hyphens and underscores.", shoe.MaxName)
}

// proofParameter reads whether cards are to come with what proves them.
func proofParameter(r *http.Request) (bool, error) {
	query, err := parseQuery(r)
	if err != nil {
		return false, err
	}
	if err := onlyParameters(query, "proof"); err != nil {
		return false, err
	}
	text, given := query["proof"]
	if given && text != "true" && text != "false" {
		return false, newProblem(http.StatusBadRequest, "proof is true or false.").in("proof")
	}
	return text == "true", nil
}

// ifVersion reads which version of a shoe is to be changed; 0 is any.
func ifVersion(r *http.Request) (uint64, error) {
	values := r.Header.Values("If-Match")
	if len(values) == 0 {
		return 0, nil
	}
	text := strings.Trim(values[0], " \t")
	if len(values) == 1 && text == "*" {
		return 0, nil
	}
	digits := strings.Trim(text, `"`)
	version, err := strconv.ParseUint(digits, 10, 64)
	if len(values) > 1 || err != nil || version == 0 || text != versionTag(version) {
		return 0, newProblem(http.StatusBadRequest, `If-Match is the ETag of an answer about the shoe, as it stands with its quotes, or * for any version.`)
	}
	return version, nil
}

// versionTag is the ETag of a version of a shoe.
func versionTag(version uint64) string { return `"` + strconv.FormatUint(version, 10) + `"` }

// makeShoe answers POST /shoes.
func (a *API) makeShoe(w http.ResponseWriter, r *http.Request) error {
	q, body, err := a.readRequest(w, r, ofShoe)
	if err != nil {
		return err
	}
	defer q.release()
	if q.Key, err = idempotencyKey(r, body); err != nil {
		return err
	}
	made, err := a.Shoes.Create(r.Context(), &shoes.Request{Request: q.Request, Items: q.values(body), Expires: q.expires})
	if err != nil {
		return err
	}
	out := a.shoeStream(w, &made.Shoe)
	out.buf = append(appendShoe(out.buf, &made.Shoe), "}\n"...)
	return out.finish()
}

// shoeStream begins an answer about a shoe.
func (a *API) shoeStream(w http.ResponseWriter, s *shoes.Shoe) *stream {
	w.Header()["Etag"] = []string{versionTag(s.Version)}
	return a.newStream(w)
}

// appendShoe appends a shoe as it is at its version: an object that is still open.
func appendShoe(b []byte, s *shoes.Shoe) []byte {
	b = appendIDs(b, s.First.ID, s.LogIndex, s)
	b = append(b, `,"algorithm":"`...)
	b = append(b, s.First.Statement.Algorithm...)
	b = append(b, `","size":`...)
	b = strconv.AppendUint(b, s.Size, 10)
	b = appendTable(b, s)
	return appendSealed(b, s.First)
}

// appendIDs appends by what a record and its shoe are known: an object that is still open.
func appendIDs(b []byte, id uuid.UUID, index uint64, s *shoes.Shoe) []byte {
	b = append(append(b, `{"audit_id":"`...), id.String()...)
	b = append(b, `","log_index":`...)
	b = strconv.AppendUint(b, index, 10)
	b = append(b, ',')
	b = appendVersion(b, s)
	b = append(append(b, `,"status":"`...), s.Status...)
	return append(b, '"')
}

// appendVersion appends which shoe it is, and at which version.
func appendVersion(b []byte, s *shoes.Shoe) []byte {
	b = append(append(b, `"shoe_id":"`...), s.ID.String()...)
	b = append(b, `","version":`...)
	return strconv.AppendUint(b, s.Version, 10)
}

// appendTable appends how many cards lie where, and until when they are dealt.
func appendTable(b []byte, s *shoes.Shoe) []byte {
	b = append(b, `,"remaining":`...)
	b = strconv.AppendUint(b, s.Remaining, 10)
	b = append(b, `,"dealt":`...)
	b = strconv.AppendUint(b, s.Dealt, 10)
	b = append(b, ',')
	b = appendPiles(b, s)
	b = append(b, `,"expires":`...)
	if s.Expires.IsZero() {
		return append(b, "null"...)
	}
	b = s.Expires.UTC().AppendFormat(append(b, '"'), audit.TimeFormat)
	return append(b, '"')
}

// appendPiles appends the piles by their names, of which no character needs an escape.
func appendPiles(b []byte, s *shoes.Shoe) []byte {
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

// appendSealed appends what fixes the order that a record has sealed. A deck that was not shuffled has no root.
func appendSealed(b []byte, record *audit.Record) []byte {
	b = append(b, `,"commitment":"`...)
	b = hex.AppendEncode(b, record.Commitment[:])
	if record.Root == nil {
		return append(b, `","root":null`...)
	}
	b = append(b, `","root":"`...)
	return append(hex.AppendEncode(b, record.Root[:]), '"')
}

// getShoe answers GET /shoes/{id}.
func (a *API) getShoe(w http.ResponseWriter, r *http.Request) error {
	s, err := a.findShoe(r)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, s)
	out.buf = append(appendShoe(out.buf, s), `,"changed_by":"`...)
	out.buf = append(append(out.buf, s.ChangedBy.String()...), "\"}\n"...)
	return out.finish()
}

// findShoe finds the shoe of a path that takes no parameters.
func (a *API) findShoe(r *http.Request) (*shoes.Shoe, error) {
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
func (a *API) listPiles(w http.ResponseWriter, r *http.Request) error {
	s, err := a.findShoe(r)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, s)
	out.buf = append(appendVersion(append(out.buf, '{'), s), ',')
	out.buf = append(appendPiles(out.buf, s), "}\n"...)
	return out.finish()
}

// listDealt answers GET /shoes/{id}/dealt.
func (a *API) listDealt(w http.ResponseWriter, r *http.Request) error {
	return a.listLying(w, r, shoe.Dealt)
}

// listPile answers GET /shoes/{id}/piles/{pile}.
func (a *API) listPile(w http.ResponseWriter, r *http.Request) error {
	place, err := pileInPath(r)
	if err != nil {
		return err
	}
	return a.listLying(w, r, place)
}

// listLying answers with the cards at a place.
func (a *API) listLying(w http.ResponseWriter, r *http.Request, place shoe.Place) error {
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
	cards, err := a.Shoes.Cards(r.Context(), s, place, openings)
	if err != nil {
		return err
	}
	out := a.shoeStream(w, s)
	out.buf = appendVersion(append(out.buf, '{'), s)
	if name, ok := place.Pile(); ok {
		out.buf = append(append(append(out.buf, `,"pile":"`...), name...), '"')
	}
	out.cards(cards)
	out.buf = append(out.buf, "}\n"...)
	return out.finish()
}

// openCard answers GET /shoes/{id}/cards/{position}/proof.
func (a *API) openCard(w http.ResponseWriter, r *http.Request) error {
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
			return newProblem(http.StatusBadRequest, "sealed_by is the sealed_by of a card, as it stands.").in("sealed_by")
		}
	}
	text := chi.URLParam(r, "position")
	position, wrong := parseCount(text)
	if wrong != nil || strconv.FormatUint(position, 10) != text {
		return problemNoPosition()
	}
	card, err := a.Shoes.Card(r.Context(), id, sealedBy, position)
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoPosition()
	} else if err != nil {
		return err
	}
	return writeFresh(w, append(appendCard(make([]byte, 0, 2048), card), '\n'))
}

func problemNoPosition() *problem {
	return newProblem(http.StatusNotFound, "The shoe has sealed no order with this position. Send position and sealed_by of a card, as they stand.")
}

// proveShoe answers GET /shoes/{id}/proof: the proof files of all records, a line for each. It is sent once it is complete, so
// that a shoe which cannot be proven yet is told by its status.
func (a *API) proveShoe(w http.ResponseWriter, r *http.Request) error {
	id, err := shoeID(r)
	if err != nil {
		return err
	}
	if err := noParameters(r); err != nil {
		return err
	}
	var text bytes.Buffer
	held := int64(freeBody)
	defer func() { a.memory.give(held - freeBody) }()
	err = a.Disclosure.ProveShoe(r.Context(), id, func(p *disclosure.Proof) error {
		text.Write(proofText(p))
		for int64(text.Cap()) > held {
			if !a.memory.take(held) {
				return problemMemory()
			}
			held *= 2
		}
		return nil
	})
	if err != nil {
		return err
	}
	h := w.Header()
	h["Content-Type"] = []string{"application/jsonl"}
	h["Cache-Control"] = noStore
	return writeBody(w, http.StatusOK, text.Bytes())
}

// expiresIn reads after how many seconds a shoe expires.
func (d *reader) expiresIn() (time.Duration, error) {
	n, err := d.count("/expires_in")
	if err != nil {
		return 0, err
	}
	const most = uint64(shoes.MaxExpiry / time.Second)
	if *n < 1 || *n > most {
		return 0, newProblem(http.StatusUnprocessableEntity, "expires_in is from 1 to %d seconds, or left out for a shoe that does not expire.", most).at("/expires_in")
	}
	return time.Duration(*n) * time.Second, nil
}
