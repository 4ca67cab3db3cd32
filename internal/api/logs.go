package api

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"

	"riffle/internal/access"
	"riffle/internal/budget"
	"riffle/internal/httperror"
	"riffle/internal/services"
)

// A Log is a log that the API answers for, whether or not it is open at the moment.
//
// The main log is at the root. Any other is below /logs/ and its name, where everything is that the
// root has, but for the metrics.
type Log struct {
	api     *API
	name    string
	prefix  string // of its paths; empty for the main log
	metrics *LogMetrics
	open    atomic.Pointer[logAPI] // nil while the log is closed
}

// A logAPI has the handlers of a log that is open.
type logAPI struct {
	*API
	*services.Services
	log   *Log
	inUse sync.RWMutex // read-locked by each request; locked for good once the log is closed
}

// logsPath is where the logs are that have a name of their own.
const logsPath = "/logs/"

// addLogs makes the logs, all of them closed.
func (a *API) addLogs() {
	a.named = map[string]*Log{}
	for _, name := range append([]string{access.MainLog}, a.Logs...) {
		l := &Log{api: a, name: name, metrics: a.Metrics.Log(name)}
		if a.all = append(a.all, l); name == access.MainLog {
			a.main = l
			continue
		}
		l.prefix = logsPath + name
		a.named[name] = l
	}
}

// reopens reports whether a log that fails is opened again, while the others are served. Where
// there is one log, the process ends with it.
func (a *API) reopens() bool { return len(a.named) > 0 }

// LogNamed returns the log of a name, or nil.
func (a *API) LogNamed(name string) *Log {
	if name == access.MainLog {
		return a.main
	}
	return a.named[name]
}

// logFor returns the log that a request is for, and the request without the prefix of that log. The
// main log gets what is of no log, and answers that nothing is there.
func (a *API) logFor(r *http.Request) (*Log, *http.Request) {
	rest, found := strings.CutPrefix(r.URL.Path, logsPath)
	if !found {
		return a.main, r
	}
	name, _, _ := strings.Cut(rest, "/")
	l := a.named[name]
	if l == nil {
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

// Open has the services answer requests to the log from now on.
func (l *Log) Open(s *services.Services) {
	l.open.Store(&logAPI{API: l.api, Services: s, log: l})
}

// Close has requests to the log answered 503 from now on. The channel is closed when no request
// uses its services any more.
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

// acquire returns the handlers of the log, which has to be open. Their services are in use until
// release.
func (l *Log) acquire() (*logAPI, error) {
	if open := l.open.Load(); open != nil && open.inUse.TryRLock() {
		return open, nil
	}
	return nil, httperror.ErrLogClosed
}

func (a *logAPI) release() { a.inUse.RUnlock() }

// ofLog returns a handler that has the log of the request answer.
func ofLog(answer func(*logAPI, http.ResponseWriter, *http.Request, *budget.Lease) error) handler {
	return func(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
		open, err := w.(*response).log.acquire()
		if err != nil {
			return err
		}
		defer open.release()
		return answer(open, w, r, lease)
	}
}

// useLog lets handlers behind it have the log of their requests, by [LogOf].
func (a *API) useLog(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out := w.(*response)
		open, err := out.log.acquire()
		if err != nil {
			a.fail(w, r, err)
			return
		}
		defer open.release()
		out.open = open
		next.ServeHTTP(w, r.WithContext(committing(w, r)))
	})
}

// LogOf returns the services of the log that the request is for which w answers. It is for handlers
// of [More] that have a scope.
func LogOf(w http.ResponseWriter) *services.Services { return w.(*response).open.Services }

// PrefixOf returns what the paths of the log begin with that the request is for which w answers.
func PrefixOf(w http.ResponseWriter) string { return w.(*response).log.prefix }

// NoteRejection counts that the request which w answers is answered 503 because of the error.
func NoteRejection(w http.ResponseWriter, err error) {
	if out, ok := w.(*response); ok {
		out.log.metrics.Reject(err)
	}
}
