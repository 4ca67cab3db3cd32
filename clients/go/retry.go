package client

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"io"
	mathrand "math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"time"
)

// WithToken sends a token, rfl_..., with every request, for a service that asks for one. An empty
// token is not sent.
func WithToken(token string) ClientOption {
	return WithRequestEditorFn(func(_ context.Context, r *http.Request) error {
		if token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
		return nil
	})
}

// WithRetries repeats requests that got no answer, or one that says to come back, until patience
// ends or their context does. Each request that writes a record gets an Idempotency-Key, unless it
// has one, so that it is carried out once however often it is sent.
//
// It wraps the client of an earlier [WithHTTPClient], or else [http.DefaultClient].
func WithRetries(patience time.Duration) ClientOption {
	return func(c *Client) error {
		c.Client = &retrier{next: cmp.Or[HttpRequestDoer](c.Client, http.DefaultClient), patience: patience}
		return nil
	}
}

type retrier struct {
	next     HttpRequestDoer
	patience time.Duration
}

// Do sends the request until it is answered with something that would not change.
func (c *retrier) Do(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	if writes(r) && r.Header.Get("Idempotency-Key") == "" {
		r.Header.Set("Idempotency-Key", rand.Text())
	}
	if r.Body != nil && r.GetBody == nil {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	deadline := time.Now().Add(c.patience)
	for backoff := 100 * time.Millisecond; ; backoff = min(2*backoff, 5*time.Second) {
		if r.GetBody != nil {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			r.Body = body
		}
		answer, err := readWhole(c.next.Do(r))
		wait := backoff/2 + mathrand.N(backoff/2) //nolint:gosec // spreads retries and is no secret
		if err == nil {
			if !goesAway(answer) {
				return answer, nil
			}
			seconds, _ := strconv.Atoi(answer.Header.Get("Retry-After"))
			wait = max(wait, time.Duration(seconds)*time.Second)
		}
		if time.Now().Add(wait).After(deadline) {
			return answer, err
		}
		select {
		case <-r.Context().Done():
			return nil, r.Context().Err()
		case <-time.After(wait):
		}
	}
}

// writes reports whether a request writes a record: every POST and DELETE does, and a deck is dealt
// by a GET.
func writes(r *http.Request) bool {
	return r.Method != http.MethodGet || path.Base(path.Dir(r.URL.Path)) == "decks"
}

// goesAway reports whether the same request may be answered otherwise later. Of all conflicts only
// that with a request in flight has Retry-After.
func goesAway(answer *http.Response) bool {
	switch answer.StatusCode {
	case http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusBadGateway,
		http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	case http.StatusConflict:
		return answer.Header.Get("Retry-After") != ""
	}
	return false
}

// readWhole reads the body of an answer, since a connection can be lost in the middle of one.
func readWhole(answer *http.Response, err error) (*http.Response, error) {
	if err != nil {
		return answer, err
	}
	body, err := io.ReadAll(answer.Body)
	_ = answer.Body.Close()
	if err != nil {
		return nil, err
	}
	answer.Body = io.NopCloser(bytes.NewReader(body))
	return answer, nil
}
