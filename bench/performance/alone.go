package main

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"riffle/bench/contest"
)

// What is measured in this process: the least that an answer can take.

// newCommit opens a store beside the service's and returns contenders that commit batches of one record to it: the rows
// that the service writes for a lone request. That they are made and signed does not count.
func newCommit(ctx context.Context, folder string) (commit func() *contender, closeStore func() error, err error) {
	store, err := contest.NewStore(ctx, filepath.Join(folder, "commits.db"))
	if err != nil {
		return nil, nil, err
	}
	do := func(limited context.Context) (*tally, error) {
		t := &tally{}
		for limited.Err() == nil {
			took, err := store.Commit(ctx, contest.NewEntry(""))
			if err != nil {
				return nil, err
			}
			t.count(took)
		}
		return t, nil
	}
	return func() *contender { return newContender(nameCommit, 1, nil, do) }, store.Close, nil
}

// count adds what was done alone, with nothing in between.
func (t *tally) count(took time.Duration) {
	t.latencies = append(t.latencies, took)
	t.took += took
}

// newSplit returns a contender that finds the items of a body and does nothing with them.
func newSplit(body []byte) *contender {
	return newContender(nameSplit, 1, nil, func(ctx context.Context) (*tally, error) {
		t := &tally{}
		for len(t.latencies) == 0 || ctx.Err() == nil {
			began := time.Now()
			if n, err := split(body); err != nil || n != itemsOfLarge {
				return nil, fmt.Errorf("found %d items: %w", n, err)
			}
			t.count(time.Since(began))
		}
		return t, nil
	})
}

// split returns how many items there are in a body of nothing else.
func split(body []byte) (count int, err error) {
	d := jsontext.NewDecoder(bytes.NewBuffer(body)) // whose bytes it reads where they are
	for range 3 {                                   // the bracket, the name, the other bracket
		if _, err := d.ReadToken(); err != nil {
			return 0, err
		}
	}
	for ; d.PeekKind() != ']'; count++ {
		if _, err := d.ReadValue(); err != nil {
			return count, err
		}
	}
	for range 2 {
		if _, err := d.ReadToken(); err != nil {
			return count, err
		}
	}
	return count, nil
}
