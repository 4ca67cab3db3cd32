package main

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// fetchTime is how long it may take to fetch a proof.
const fetchTime = 30 * time.Second

// fetch gets a proof file over HTTP. Nothing in the answer is trusted but for what Check finds in it.
func fetch(ctx context.Context, address string) (_ []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchTime)
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
