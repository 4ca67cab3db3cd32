package main

import (
	"context"
	"errors"
	"net"
	"net/http"
)

// An endpoint is a server at --addr or --admin-addr.
type endpoint struct {
	*http.Server
	listener net.Listener
}

func listen(ctx context.Context, addr string, server *http.Server) (*endpoint, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	return &endpoint{server, listener}, nil
}

// serve serves in the background, by TLS if the server is configured for it. It sends the error that
// ends it to failed.
func (e *endpoint) serve(failed chan<- error) {
	serve := func() error { return e.Serve(e.listener) }
	if e.TLSConfig != nil {
		serve = func() error { return e.ServeTLS(e.listener, "", "") } // certificates come from TLSConfig
	}
	go func() {
		if err := serve(); !errors.Is(err, http.ErrServerClosed) {
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
func (e *endpoint) isLocal() bool {
	address, ok := e.listener.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}
