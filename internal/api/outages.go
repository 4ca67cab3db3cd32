package api

import (
	"errors"
	"time"

	"riffle/internal/httperror"
	"riffle/internal/quota"
)

// An outage is a time in which the service fails for one reason. Its begin and its end are logged, one
// line each however many requests are rejected.
type outage struct {
	reason        string
	began, failed time.Time // the first and the last failure
	rejected      int       // requests
}

// outageQuiet is the time without a failure after which an outage is over, so that one that comes
// and goes is one outage.
const outageQuiet = 10 * time.Second

// reject counts a request that is rejected because of the error. Unlike a failed health check, it
// is part of an outage, unless the caller's own share was full.
func (a *API) reject(err error) {
	a.Metrics.rejected.WithLabelValues(httperror.Reason(err)).Inc()
	if answer, _ := httperror.Find(err); answer.Reason != "" && !errors.Is(err, quota.ErrShare) {
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
