package api

import (
	"context"

	"riffle/internal/disclosure"
	"riffle/internal/httpserver"
)

const (
	// shortReplay is the most steps that need no place among the long requests: about a millisecond.
	shortReplay = 100_000
	// shortShuffle is the same for a shuffle, whose keystream is 20 times as fast as the reference that
	// replays use: a few milliseconds for fewer than 100,000 results.
	shortShuffle = 20 * shortReplay
)

// A replay implements [disclosure.Limits] for a request.
type replay struct {
	*httpserver.Replay
	memory int64 // bytes of the budget
	drawn  int64 // bytes that drawing the order takes, which is never short; 0 for no drawing
}

func (p replay) Begin(ctx context.Context, work disclosure.Work) error {
	if work.Steps > work.Most || work.Bytes+uint64(p.drawn) > uint64(p.memory) {
		return unprocessable("Checking this takes longer than the service allows. Get the proof of each record from GET /audits/{id}/proof, and check it offline with riffle verify.")
	}
	return p.Replay.Begin(ctx, work.Steps <= shortReplay && p.drawn == 0, int64(work.Bytes)+p.drawn)
}
