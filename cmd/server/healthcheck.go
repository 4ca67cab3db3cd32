package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"
)

// healthcheck returns an error if the service is not ready. It connects to --admin-addr if set, else to
// --addr, and to localhost if that address is all interfaces. It does not verify the certificate,
// which is for another name.
func healthcheck(ctx context.Context, o *options) (err error) {
	addr, scheme := cmp.Or(o.adminAddr, o.addr), "http"
	if o.adminAddr == "" && o.tls != nil {
		scheme = "https"
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+net.JoinHostPort(host, port)+"/readyz", nil)
	if err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.Proxy, transport.TLSClientConfig = nil, &tls.Config{InsecureSkipVerify: true} //nolint:gosec // the service itself
	client := &http.Client{Timeout: 3 * time.Second, Transport: transport}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, response.Body.Close()) }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", response.Status)
	}
	return nil
}
