package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// fetchTimeout limits the time to fetch a proof.
const fetchTimeout = 30 * time.Second

// fetch gets a proof file over HTTP. The server is not trusted: the file is verified like any
// other.
func fetch(ctx context.Context, address string) (_ []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %s, and no proof", answer.Status)
	}
	return readLimited(answer.Body)
}
