package main

import (
	"context"
	"errors"
	"net"
	"net/http"

	"riffle/internal/access"
	"riffle/internal/httpserver"
)

// An endpoint is a server at --addr or --admin-addr.
type endpoint struct {
	*httpserver.Server
	listener net.Listener
}

func listen(ctx context.Context, addr string, server *httpserver.Server) (*endpoint, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &endpoint{server, listener}, nil
}

// serve serves in the background. It sends the error that ends it to failed.
func (e *endpoint) serve(failed chan<- error) {
	go func() {
		if err := e.Serve(e.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
}

// close stops serving without waiting for requests in flight. A nil endpoint does nothing.
func (e *endpoint) close() error {
	if e == nil {
		return nil
	}
	_ = e.listener.Close() // a server that has not begun to serve does not close it
	return e.Close()
}

// address returns the listener's address, or "" for a nil endpoint.
func (e *endpoint) address() string {
	if e == nil {
		return ""
	}
	return e.listener.Addr().String()
}

// isLocal reports whether only this machine can connect.
func (e *endpoint) isLocal() bool { return access.IsLoopback(e.listener.Addr()) }
