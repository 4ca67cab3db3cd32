package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"riffle/internal/disclosure"
	"riffle/internal/httpjson"
	"riffle/internal/ledger"
	"riffle/internal/quota"
	"riffle/internal/scheduler"
)

// Long work is that of replays, of proofs of shoes, and of the encoding of long shuffles. It shares
// some of the processors (see [scheduler.Scheduler]) and ends when its caller leaves; replays and
// proofs end as well when the service stops, or after Options.ReplayTime.
const (
	// defaultReplayTime suffices for the most expensive record, even if others are in flight.
	defaultReplayTime = 2 * time.Minute
	// shortReplay is the longest work, in steps, that needs no place: about a millisecond.
	shortReplay = 100_000
	// shortShuffle is the same for a shuffle, whose keystream is many times as fast as the reference
	// that a replay uses: less than 100,000 results, a few milliseconds.
	shortShuffle = 20 * shortReplay
	// maxLong is how much long work may be in flight.
	maxLong = 128
	// littleMemory is how many bytes a replay may take without waiting for others that take much.
	littleMemory = 1 << 20
)

// errReplayTime is for a replay or a proof that took too long.
var errReplayTime = errors.New("the replay was not done in time")

// Stop ends the replays and proofs in flight: they change nothing, and another instance can do them
// again. Those that have sent nothing yet are answered 503.
func (a *API) Stop() { a.stop() }

// A replay is the long work of a GET, and its [disclosure.Limits].
type replay struct {
	api    *API
	w      http.ResponseWriter
	r      *http.Request
	ctx    context.Context // ends with the request, the service or the time
	timer  *time.Timer     // until the time is over; stopped once an answer is being sent
	cancel func()
	job    *scheduler.Job // nil while the work is short
	lease  *httpjson.Lease
	shared int64 // bytes of api.replayMemory
}

// newReplay returns the long work of a request. Call done when it is over.
func (a *API) newReplay(w http.ResponseWriter, r *http.Request) *replay {
	ctx, cancel := context.WithCancelCause(r.Context())
	timer := time.AfterFunc(a.ReplayTime, func() { cancel(errReplayTime) })
	stop := context.AfterFunc(a.stopping, func() { cancel(ledger.ErrClosed) })
	return &replay{api: a, w: w, r: r, ctx: ctx, timer: timer, lease: LeaseOf(w), cancel: func() {
		timer.Stop()
		stop()
		cancel(nil)
	}}
}

// Begin implements [disclosure.Limits]. Replays that need much memory wait for each other, since
// all that have begun hold it; an eighth of the budget is theirs.
func (p *replay) Begin(ctx context.Context, work disclosure.Work) (err error) {
	if work.Steps > work.Most || work.Bytes > uint64(p.api.Budget.Size()) {
		return problemTooExpensive()
	}
	if work.Steps > shortReplay {
		if p.job, err = p.api.admit(p.w, p.r); err != nil {
			return err
		}
	}
	if bytes := int64(work.Bytes); bytes > littleMemory {
		shared := min(bytes, p.api.maxReplayMemory())
		if err := p.api.replayMemory.Acquire(ctx, shared); err != nil {
			return err
		}
		p.shared = shared
	}
	if err := p.lease.Grow(int64(work.Bytes)); err != nil {
		return err
	}
	return p.job.Wait(ctx)
}

// Wait implements [disclosure.Limits].
func (p *replay) Wait(ctx context.Context) error { return p.job.Wait(ctx) }

func (p *replay) done() {
	p.job.Done()
	p.api.replayMemory.Release(p.shared)
	p.cancel()
}

// cause returns the error to answer with: why the work was ended, if it was.
func (p *replay) cause(err error) error {
	if p.ctx.Err() != nil && p.r.Context().Err() == nil {
		return context.Cause(p.ctx)
	}
	return err
}

// maxReplayMemory is how many bytes all replays together may take.
func (a *API) maxReplayMemory() int64 { return a.Budget.Size() / 8 }

// admit admits the long work of a request. The error is [scheduler.ErrFull].
func (a *API) admit(w http.ResponseWriter, r *http.Request) (*scheduler.Job, error) {
	job, err := a.long.Admit(quota.Peer(r.RemoteAddr))
	if err != nil {
		return nil, err
	}
	// net/http waits for the end of the connection until the -read-timeout, and then takes the caller
	// for gone. The request has arrived.
	control := http.NewResponseController(w)
	err = errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Now().Add(a.ReplayTime+a.writeTimeout)))
	if err != nil && !errors.Is(err, http.ErrNotSupported) {
		job.Done()
		panic(http.ErrAbortHandler) // the caller has left
	}
	return job, nil
}
