package api

import (
	"errors"
	"net/http"
	"sync"
	"sync/atomic"

	"riffle/internal/services"
)

// A Log is a log that the API answers for, whether or not it is open at the moment.
type Log struct {
	api  *API
	name string
	open atomic.Pointer[logAPI] // nil while the log is closed
}

// A logAPI has the handlers of a log that is open.
type logAPI struct {
	*API
	*services.Services
	inUse sync.RWMutex // read-locked by each request; locked for good once the services are to be closed
}

// errLogClosed is for a request to a log that is not open.
var errLogClosed = errors.New("the log is not open")

// LogNamed returns the log of a name, or nil.
func (a *API) LogNamed(name string) *Log {
	if name == a.main.name {
		return a.main
	}
	return nil
}

// Open has the services answer requests to the log from now on.
func (l *Log) Open(s *services.Services) { l.open.Store(&logAPI{API: l.api, Services: s}) }

// acquire returns the handlers of the log, which has to be open. Their services are not closed
// before release.
func (l *Log) acquire() (*logAPI, error) {
	if open := l.open.Load(); open != nil && open.inUse.TryRLock() {
		return open, nil
	}
	return nil, errLogClosed
}

func (a *logAPI) release() { a.inUse.RUnlock() }

// ofLog returns a handler that has the log of the request answer.
func ofLog(answer func(*logAPI, http.ResponseWriter, *http.Request) error) func(http.ResponseWriter, *http.Request) error {
	return func(w http.ResponseWriter, r *http.Request) error {
		open, err := w.(*response).log.acquire()
		if err != nil {
			return err
		}
		defer open.release()
		return answer(open, w, r)
	}
}

// useLog lets handlers behind it have the log of their requests, by [LogOf].
func (a *API) useLog(next http.Handler) http.Handler {
	return a.handle(ofLog(func(open *logAPI, w http.ResponseWriter, r *http.Request) error {
		w.(*response).open = open
		next.ServeHTTP(w, r)
		return nil
	}))
}

// LogOf returns the services of the log that the request is for which w answers. It is for handlers
// of [More] alone.
func LogOf(w http.ResponseWriter) *services.Services { return w.(*response).open.Services }
