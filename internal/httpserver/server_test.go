package httpserver

import (
	"io"
	"log/slog"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
)

// TestContextEndsWhenTheClientDisconnects closes the connection of a request in flight.
func TestContextEndsWhenTheClientDisconnects(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	started, ended := make(chan struct{}), make(chan struct{})
	server := New(Options{
		MaxConnections: 10, Metrics: NewMetrics(prometheus.NewRegistry(), 10), Logger: slog.New(slog.DiscardHandler),
		Timeouts: Timeouts{Header: time.Minute, Read: time.Minute, Write: time.Minute, Idle: time.Minute},
		Handler: http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			close(started)
			<-r.Context().Done()
			close(ended)
		}),
	})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { _ = server.Close() })
	c, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	_, _ = io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}")
	<-started
	_ = c.Close()
	<-ended
}
