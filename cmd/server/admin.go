package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"riffle/internal/httpserver"
)

// An admin serves metrics and profiles at --admin-addr. A nil *admin does nothing.
type admin struct {
	server   *http.Server
	listener net.Listener
}

// listenAdmin listens at --admin-addr, if it is set.
func listenAdmin(ctx context.Context, o *options, served httpserver.Options) (*admin, error) {
	if o.adminAddr == "" {
		return nil, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", o.adminAddr)
	if err != nil {
		return nil, err
	}
	return &admin{httpserver.New(served).Server, listener}, nil
}

// serve serves in the background, and sends the error that ends it to failed.
func (a *admin) serve(logger *slog.Logger, failed chan<- error) {
	if a == nil {
		return
	}
	if !isLoopback(a.listener) {
		logger.Warn("anybody who can reach the admin address can read the metrics and profile the service: "+
			"let it be localhost, or a network that only operators reach", "addr", a.addr())
	}
	go func() {
		if err := a.server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			failed <- err
		}
	}()
}

// addr returns the listener's address, or "" for a nil admin.
func (a *admin) addr() string {
	if a == nil {
		return ""
	}
	return a.listener.Addr().String()
}

// close stops serving without waiting for requests in flight.
func (a *admin) close() error {
	if a == nil {
		return nil
	}
	_ = a.listener.Close() // a server that has not begun to serve does not close it
	return a.server.Close()
}

// isLoopback reports whether only this machine can connect to l.
func isLoopback(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}
