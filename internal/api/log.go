package api

import (
	"cmp"
	"sync"
	"time"

	"riffle/internal/httperror"
	"riffle/internal/services"
)

// A logAPI has the handlers of an open log.
type logAPI struct {
	*API
	*services.Services
	inUse sync.RWMutex // read-locked by each request; locked forever once the log is closed
}

// Open makes the services answer requests.
func (a *API) Open(s *services.Services) { a.opened.Store(&logAPI{API: a, Services: s}) }

// Close makes requests fail with 503. The channel closes once no request uses the services.
func (a *API) Close() (unused <-chan struct{}) {
	done := make(chan struct{})
	open := a.opened.Swap(nil)
	go func() {
		defer close(done)
		if open != nil {
			open.inUse.Lock()
		}
	}()
	return done
}

// acquire returns the handlers of an open log. The caller must call release. The error is
// [httperror.ErrLogClosed].
func (a *API) acquire() (*logAPI, error) {
	if open := a.opened.Load(); open != nil && open.inUse.TryRLock() {
		return open, nil
	}
	return nil, httperror.ErrLogClosed
}

func (a *logAPI) release() { a.inUse.RUnlock() }

// ofLog returns a handler that calls answer with the log, after it has read path and query. It
// rejects parameters that are not named.
func ofLog(answer func(*logAPI, *exchange) error, parameters ...string) handler {
	return withLog(func(a *logAPI, x *exchange) error {
		if err := cmp.Or(x.readPath(), x.readQuery(), x.onlyParameters(parameters...)); err != nil {
			return err
		}
		x.limit = 100
		for _, name := range parameters {
			if x.query.Has(name) {
				if err := a.readParameter(x, name, x.query.Get(name)); err != nil {
					return err
				}
			}
		}
		return answer(a, x)
	})
}

// withLog returns a handler that calls answer with the log.
func withLog(answer func(*logAPI, *exchange) error) handler {
	return func(x *exchange) error {
		open, err := x.api.acquire()
		if err != nil {
			return err
		}
		defer open.release()
		return answer(open, x)
	}
}

// An outage is a time in which a log fails for one reason. Its begin and its end are logged, one
// line each however many requests are rejected.
type outage struct {
	reason        string
	began, failed time.Time // the first and the last failure
	rejected      int       // requests
}

// outageQuiet is the time without a failure after which an outage is over, so that one that comes
// and goes is one outage.
const outageQuiet = 10 * time.Second

// reject counts a request that is answered 503 because of the error. Unlike a failed health check,
// it is part of an outage.
func (a *API) reject(err error) {
	a.Metrics.rejected.WithLabelValues(httperror.Reason(err)).Inc()
	if answer, _ := httperror.Find(err); answer.Reason != "" {
		a.note(err, 1)
	}
}

// Failed notes that work in the background failed, and is tried again.
func (a *API) Failed(err error) { a.note(err, 0) }

// note begins an outage, or goes on with it, unless the service is stopping.
func (a *API) note(err error, rejected int) {
	if a.draining.Load() {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	reason := httperror.Reason(err)
	o := a.outages[reason]
	if o == nil {
		o = &outage{reason: reason, began: time.Now()}
		a.outages[reason] = o
		a.Logger.Warn("outage", "reason", reason, "error", err)
		time.AfterFunc(time.Second, func() { a.watch(o) })
	}
	o.failed = time.Now()
	o.rejected += rejected
}

// watch ends an outage, or looks again in a second. A service that is not ready fails.
func (a *API) watch(o *outage) {
	err := a.ready()
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil {
		o.failed = time.Now()
	}
	if time.Since(o.failed) < outageQuiet {
		time.AfterFunc(time.Second, func() { a.watch(o) })
		return
	}
	delete(a.outages, o.reason)
	lasted := o.failed.Sub(o.began).Round(time.Millisecond)
	a.Logger.Info("outage over", "reason", o.reason, "lasted", lasted.String(), "rejected", o.rejected)
}
