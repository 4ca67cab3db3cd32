package api

import (
	"time"

	"riffle/internal/httperror"
)

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
func (l *Log) reject(err error) {
	l.metrics.rejected.WithLabelValues(l.name, httperror.Reason(err)).Inc()
	if answer, _ := httperror.Find(err); answer.Reason != "" {
		l.note(err, 1)
	}
}

// Failed notes that work in the background failed, and is tried again.
func (l *Log) Failed(err error) { l.note(err, 0) }

// note begins an outage, or goes on with it, unless the service is stopping.
func (l *Log) note(err error, rejected int) {
	if l.api.draining.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	reason := httperror.Reason(err)
	o := l.outages[reason]
	if o == nil {
		o = &outage{reason: reason, began: time.Now()}
		l.outages[reason] = o
		l.api.Logger.Warn("outage", "log", l.name, "reason", reason, "error", err)
		time.AfterFunc(time.Second, func() { l.watch(o) })
	}
	o.failed = time.Now()
	o.rejected += rejected
}

// watch ends an outage, or looks again in a second. A log that is not ready fails.
func (l *Log) watch(o *outage) {
	err := l.ready()
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		o.failed = time.Now()
	}
	if time.Since(o.failed) < outageQuiet {
		time.AfterFunc(time.Second, func() { l.watch(o) })
		return
	}
	delete(l.outages, o.reason)
	lasted := o.failed.Sub(o.began).Round(time.Millisecond)
	l.api.Logger.Info("outage over", "log", l.name, "reason", o.reason, "lasted", lasted.String(), "rejected", o.rejected)
}
