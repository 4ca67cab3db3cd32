package api

import (
	"net/http"

	"github.com/go-chi/chi/v5"

	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/suggest"
)

// shuffle answers POST /shuffle.
func (a *logAPI) shuffle(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	q, body, err := a.readRequest(w, r, shuffleForm, lease)
	if err != nil {
		return err
	}
	return a.answerShuffle(w, r, lease, q, body)
}

// dealDeck answers GET /decks/{type}.
func (a *logAPI) dealDeck(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	kind, query, err := a.deckType(r)
	if err != nil {
		return err
	}
	q, err := decodeDeal(query, kind.Name, len(kind.Parameters) > 0)
	if err != nil {
		return err
	}
	if err := a.prepare(w, r, q, nil, lease); err != nil {
		return err
	}
	return a.answerShuffle(w, r, lease, q, nil)
}

// answerShuffle makes and sends a shuffle. body has the caller's items, if any.
func (a *logAPI) answerShuffle(w http.ResponseWriter, r *http.Request, lease *budget.Lease, q *shuffleRequest, body []byte) error {
	defer func() { q.job.Done() }()
	s, err := a.Dealer.Shuffle(committing(w, r), &q.Request)
	if err != nil {
		return err
	}
	defer s.Release()
	out := a.newStream(w, lease)
	out.job, out.ctx = q.job, r.Context()
	return a.sendShuffle(out, q, s, body)
}

// sendShuffle encodes and counts a shuffle.
func (a *logAPI) sendShuffle(out *stream, q *shuffleRequest, result *dealer.Shuffle, body []byte) error {
	a.log.metrics.items.Add(float64(result.Statement.Draw * result.Statement.Repeat))
	spent := out.shuffle(q, result, body)
	a.log.metrics.shuffles[result.Statement.Algorithm].Observe(spent.Seconds())
	return out.finish()
}

// deckType finds the deck type in the path and reads the query.
func (a *logAPI) deckType(r *http.Request) (*deck.Type, map[string]string, error) {
	name := chi.URLParam(r, "type")
	kind, ok := a.Rules.Decks.Type(name)
	if !ok {
		return nil, nil, notFound("%s", sentence("", "there is no deck type "+suggest.Quote(name)+"; "+a.Rules.Decks.Hint(name)))
	}
	query, err := parseQuery(r)
	return kind, query, err
}
