package api

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"riffle/internal/access"
	"riffle/internal/httperror"
	"riffle/internal/services"
)

// A Log is a log of the API, open or closed. The main log is at the root, any other below /logs/ and its
// name, with the same routes except /metrics.
type Log struct {
	api     *API
	name    string
	prefix  string // of its paths; empty for the main log
	metrics *LogMetrics
	open    atomic.Pointer[logAPI] // nil while the log is closed

	mu      sync.Mutex
	outages map[string]*outage // in progress, by reason; guarded by mu
}

// A logAPI has the handlers of a log that is open.
type logAPI struct {
	*API
	*services.Services
	log   *Log
	inUse sync.RWMutex // read-locked by each request; locked forever once the log is closed
}

// logsPath is the prefix of all logs except the main one.
const logsPath = "/logs/"

// addLogs adds the logs, closed.
func (a *API) addLogs() {
	a.named = map[string]*Log{}
	for _, name := range append([]string{access.MainLog}, a.Logs...) {
		l := &Log{api: a, name: name, metrics: a.Metrics.Log(name), outages: map[string]*outage{}}
		if name != access.MainLog {
			l.prefix = logsPath + name
		}
		a.all, a.named[name] = append(a.all, l), l
	}
	a.main = a.all[0]
}

// reopens reports whether a failed log is reopened while others are served. A single log ends the process.
func (a *API) reopens() bool { return len(a.all) > 1 }

// LogNamed returns the log of a name, or nil.
func (a *API) LogNamed(name string) *Log { return a.named[name] }

// logFor returns a request's log, and the request without the log's prefix. The main log answers requests
// to unknown logs: 404.
func (a *API) logFor(r *http.Request) (*Log, *http.Request) {
	rest, found := strings.CutPrefix(r.URL.Path, logsPath)
	if !found {
		return a.main, r
	}
	name, _, _ := strings.Cut(rest, "/")
	l := a.named[name]
	if l == nil || l == a.main { // which has no prefix
		return a.main, r
	}
	path := strings.TrimPrefix(r.URL.Path, l.prefix)
	escaped := r.URL.RawPath != "" && !strings.HasPrefix(r.URL.RawPath, l.prefix+"/")
	if path == "" || path == "/metrics" || escaped { // a name has one spelling
		return a.main, r
	}
	inner := *r
	inner.URL = new(url.URL)
	*inner.URL = *r.URL
	inner.URL.Path, inner.URL.RawPath = path, strings.TrimPrefix(r.URL.RawPath, l.prefix)
	return l, &inner
}

// Open makes the services answer the log's requests.
func (l *Log) Open(s *services.Services) { l.open.Store(&logAPI{API: l.api, Services: s, log: l}) }

// Close makes the log's requests fail with 503. The channel closes once no request uses its services.
func (l *Log) Close() (unused <-chan struct{}) {
	done := make(chan struct{})
	open := l.open.Swap(nil)
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
func (l *Log) acquire() (*logAPI, error) {
	if open := l.open.Load(); open != nil && open.inUse.TryRLock() {
		return open, nil
	}
	return nil, httperror.ErrLogClosed
}

func (a *logAPI) release() { a.inUse.RUnlock() }

// ofLog returns a handler that calls answer with the request's log, after it has read path and query. It
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

// withLog returns a handler that calls answer with the request's log.
func withLog(answer func(*logAPI, *exchange) error) handler {
	return func(x *exchange) error {
		open, err := x.log.acquire()
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
