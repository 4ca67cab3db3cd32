package api

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"riffle/internal/quota"
	"riffle/internal/suggest"
	"riffle/internal/tracing"
)

// observe is the middleware of all requests. It gives the request an id, and checks it before it is
// routed. Afterwards it records the result: in the metrics, against the caller's
// limits, in the access log, and in a span if it is sampled. It answers a panic with 500.
func (a *API) observe(next http.Handler) http.Handler {
	return http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		began := time.Now()
		r = a.forwarded(r)
		x := &exchange{peer: quota.Peer(r.RemoteAddr)}
		x.Draining = &a.draining
		x.Begin(out, r, a.WriteTimeout)
		id := requestID(r)
		var span *tracing.Span
		if a.Tracer != nil {
			r, span = a.Tracer.StartRequest(r)
		}
		x.r = r
		defer func() {
			x.Status = max(x.Status, http.StatusOK)
			ended := time.Now()
			a.Metrics.request(x, ended.Sub(began))
			x.caller.Charge(ended, 0, x.Sent)
			a.logRequest(x, id, span, ended, ended.Sub(began))
			if span != nil {
				span.End(tracing.Request{
					Method: method(r.Method), Route: chi.RouteContext(r.Context()).RoutePattern(), Status: x.Status,
					Peer: x.peer, ID: id, Key: x.caller.Key, AuditID: x.auditID,
				})
			}
		}()
		defer a.rescue(x)
		x.Header().Set(requestIDHeader, id)
		if err := a.checkRequest(x, r); err != nil {
			a.fail(x, err)
			return
		}
		next.ServeHTTP(x, r)
	})
}

// logRequest writes a request's line to the access log, in the JSON of log/slog. Using slog makes a shuffle
// take a twentieth longer, largely for quoting, which none of these texts needs: they are constants or
// validated.
//
// The line has the route and not the path, since a shoe's id is a secret.
func (a *API) logRequest(x *exchange, id string, span *tracing.Span, ended time.Time, took time.Duration) {
	if a.AccessLog == nil {
		return
	}
	line := object{make([]byte, 0, 512)}
	text := func(name, value string) {
		if value != "" {
			line.text(name, value)
		}
	}
	line.open()
	line.time("time", ended, time.RFC3339Nano)
	line.text("level", "INFO")
	line.text("msg", "request")
	text("method", method(x.r.Method))
	text("route", pattern(x.r))
	line.number("status", uint64(x.Status))
	line.number("bytes", uint64(x.Sent))
	line.name("seconds")
	line.buf = strconv.AppendFloat(line.buf, took.Seconds(), 'f', -1, 64)
	text("peer", x.peer.String())
	text("request_id", id)
	text("key", x.caller.Key)
	if x.auditID != uuid.Nil {
		text("audit_id", x.auditID.String())
		if x.records != 1 { // 0 for a retry
			line.number("records", uint64(x.records))
		}
	}
	if x.dropped {
		text("dropped", "connections")
	}
	text("trace_id", tracing.ID(x.r, span))
	line.close()
	_, _ = a.AccessLog.Write(append(line.buf, '\n')) // nobody could be told
}

const requestIDHeader = "X-Request-Id"

// maxRequestID is the length of a client's longest request id, in bytes.
const maxRequestID = 128

// requestID returns the client's request id if it needs no escapes in a log and contains no token.
// Otherwise it returns a new one.
func requestID(r *http.Request) string {
	id := r.Header.Get(requestIDHeader)
	if id != "" && len(id) <= maxRequestID && strings.Trim(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:+/=") == "" && suggest.Mask(id) == id {
		return id
	}
	return uuid.NewString()
}
