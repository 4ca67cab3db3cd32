package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"

	"riffle/internal/httpserver"
)

// An admin is the server of metrics and profiles at -admin-addr. A nil one does nothing.
type admin struct {
	server   *http.Server
	listener net.Listener
}

// listenAdmin listens at -admin-addr, if it is set.
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

// serve begins to serve, and sends the error that ends it to failed.
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

// addr returns the address that it listens on; empty if there is none.
func (a *admin) addr() string {
	if a == nil {
		return ""
	}
	return a.listener.Addr().String()
}

// close stops serving at once: what it serves is read again elsewhere or later.
func (a *admin) close() error {
	if a == nil {
		return nil
	}
	_ = a.listener.Close() // the server closes it, too, if it serves
	return a.server.Close()
}

// isLoopback reports whether only this machine can connect to a listener.
func isLoopback(l net.Listener) bool {
	address, ok := l.Addr().(*net.TCPAddr)
	return ok && address.IP.IsLoopback()
}
