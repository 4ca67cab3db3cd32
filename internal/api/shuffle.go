package api

import (
	"riffle/internal/deck"
)

// shuffle answers POST /shuffle.
func (a *logAPI) shuffle(x *exchange) error {
	q, err := a.readRequest(x, shuffleForm)
	if err != nil {
		return err
	}
	return a.answerShuffle(x, q)
}

// dealDeck answers GET /decks/{type}.
func (a *logAPI) dealDeck(x *exchange, kind *deck.Type) error {
	q, err := decodeDeal(x.query, kind.Name, len(kind.Parameters) > 0)
	if err != nil {
		return err
	}
	if err := a.prepare(x, q); err != nil {
		return err
	}
	return a.answerShuffle(x, q)
}

// answerShuffle makes, counts and sends a shuffle.
func (a *logAPI) answerShuffle(x *exchange, q *shuffleRequest) error {
	defer func() { q.job.Done() }()
	result, err := a.Dealer.Shuffle(x.committing(), &q.Request)
	if err != nil {
		return err
	}
	defer result.Release()
	out := newStream(x)
	out.job, out.ctx = q.job, x.r.Context()
	a.Metrics.items.WithLabelValues(a.log.name).Add(float64(result.Statement.Draw * result.Statement.Repeat))
	spent := out.shuffle(q, result)
	a.Metrics.shuffles.WithLabelValues(a.log.name, string(result.Statement.Algorithm)).Observe(spent.Seconds())
	return out.end()
}
