package api_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
	"riffle/internal/api"
	"riffle/internal/ledger"
	"riffle/internal/services"
)

// The admin address says why the service is not ready; to others it says no more than they may know.
func TestReadiness(t *testing.T) {
	s := start(t, setup{faults: failingAppends(errors.New("the disk does not answer"))})
	ready := func(status int, public, admin string) {
		t.Helper()
		a := s.send(t, get(t, "/readyz"))
		assert.Truef(t, a.status == status && strings.Contains(a.body, public), "%d %s", a.status, a.body)
		w := httptest.NewRecorder()
		s.AdminHandler().ServeHTTP(w, get(t, "/readyz"))
		assert.Truef(t, w.Code == status && strings.Contains(w.Body.String(), admin), "at the admin address: %d %s", w.Code, w.Body)
	}
	ready(http.StatusOK, "ready", "ready")
	s.send(t, post(t, "/shuffle", `{"size":5}`)).problem(t)
	ready(http.StatusServiceUnavailable, "/readyz at the admin address says why", "the disk does not answer")
	s.Drain(0)
	ready(http.StatusServiceUnavailable, "the service is stopping", "the service is stopping")
}

// A route beyond the contract answers its own errors, which count in the metrics.
func TestRoutesBeyondTheContract(t *testing.T) {
	answer := func(w http.ResponseWriter, _ *http.Request, _ services.Call) error {
		_, err := io.WriteString(w, "answered")
		return err
	}
	s := start(t, setup{more: []api.More{{
		Scope: access.Deal, Fail: func(w http.ResponseWriter, _ *http.Request, err error) { http.Error(w, err.Error(), http.StatusTeapot) },
		Routes: map[string]func(http.ResponseWriter, *http.Request, services.Call) error{
			"/answer": answer, "/fail": func(http.ResponseWriter, *http.Request, services.Call) error { return ledger.ErrBusy },
		},
	}}})
	assert.Equal(t, "answered", s.send(t, get(t, "/answer")).body)
	assert.Equal(t, http.StatusTeapot, s.send(t, get(t, "/fail")).status)
	s.checkMetrics(t, `riffle_rejected_requests_total{reason="queue"} 1`)
}
