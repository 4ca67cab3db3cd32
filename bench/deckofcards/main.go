// Deckofcards measures new, shuffled and drawn decks a second through the façade of deckofcardsapi, each drawn whole in one request
// and card by card in 52, beside another service with that API. Runs alternate; the figures that count are the medians of the
// ratios, run by run. Both are asked by the same client, over connections that are kept where the service keeps them; what a service
// fails at with a status of 500 or more is asked again, as its users have to.
//
//	go run ./bench/deckofcards -rival localhost:8000
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"

	"riffle/bench/contest"
)

func main() { contest.Main("deckofcards", run) }

func run(ctx context.Context) (err error) {
	runs := flag.Int("runs", 3, "runs of each, after one that is not counted")
	length := flag.Duration("length", 5*time.Second, "length of a run")
	clients := flag.Int("clients", 64, "clients that ask Riffle")
	rivalClients := flag.Int("rival-clients", 8, "clients that ask the rival, of which some may fail when more ask at once")
	rival := flag.String("rival", "", "address of another service with this API; none if empty")
	flag.Parse()
	folder, err := contest.Folder()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	riffle, stop, err := launch(ctx, folder)
	if err != nil {
		return err
	}
	defer stop()
	type pair struct {
		what         string
		requests     float64 // that a deck takes
		ours, theirs *contest.Contender
	}
	var pairs []pair
	var contenders []*contest.Contender
	for _, m := range []struct {
		what     string
		requests float64
		does     func(*caller) error
	}{{"decks drawn whole", 1, whole}, {"decks drawn card by card", 53, cardByCard}} {
		p := pair{what: m.what, requests: m.requests, ours: asking("riffle, "+m.what, riffle, *clients, m.does)}
		contenders = append(contenders, p.ours)
		if *rival != "" {
			p.theirs = asking("rival, "+m.what, *rival, *rivalClients, m.does)
			contenders = append(contenders, p.theirs)
		}
		pairs = append(pairs, p)
	}
	if err := contest.Hold(ctx, *runs, *length, contenders...); err != nil {
		return err
	}
	fmt.Printf("%s; %d runs of %s each, alternating\n\n", contest.Machine(), *runs, *length)
	for _, p := range pairs {
		for _, c := range []*contest.Contender{p.ours, p.theirs} {
			if c != nil {
				median, least, most := c.Rate()
				fmt.Printf("%-50s %8.1f/s (%.1f to %.1f)\n", c.Name, median/p.requests, least/p.requests, most/p.requests)
			}
		}
	}
	fmt.Println()
	for _, p := range pairs {
		if p.theirs != nil {
			contest.Compare(p.what+", of the rival", p.ours, p.theirs)
		}
	}
	return nil
}

// whole makes a shuffled deck and draws all of it in one request.
func whole(c *caller) error {
	_, err := c.get("/api/deck/new/draw/?count=52", 52)
	return err
}

// cardByCard makes a shuffled deck and draws its cards one by one.
func cardByCard(c *caller) error {
	deck, err := c.get("/api/deck/new/shuffle/", 0)
	if err != nil {
		return err
	}
	path := "/api/deck/" + string(deck) + "/draw/"
	for range 52 {
		if _, err := c.get(path, 1); err != nil {
			return err
		}
	}
	return nil
}

// asking returns a contender of so many clients. What counts are requests, so that decks which are not finished count in part.
func asking(name, addr string, clients int, does func(*caller) error) *contest.Contender {
	c := &contest.Contender{}
	c.Name = fmt.Sprintf("%s, %d clients", name, clients)
	c.Run = func(ctx context.Context) (contest.Outcome, error) {
		var mu sync.Mutex
		var wait sync.WaitGroup
		done, failed := 0, error(nil)
		began := time.Now()
		for range clients {
			wait.Go(func() {
				caller := &caller{addr: addr, ctx: ctx}
				defer caller.close()
				for ctx.Err() == nil {
					if err := does(caller); err != nil && ctx.Err() == nil {
						mu.Lock()
						failed = err
						mu.Unlock()
						break
					}
				}
				mu.Lock()
				done += caller.answered
				mu.Unlock()
			})
		}
		wait.Wait()
		return contest.Outcome{Done: done, Took: time.Since(began)}, failed
	}
	return c
}

// launch builds and starts the service.
func launch(ctx context.Context, folder string) (base string, stop func(), err error) {
	binary := filepath.Join(folder, "server")
	if err := contest.BuildServer(ctx, binary); err != nil {
		return "", nil, err
	}
	addr, err := contest.FreeAddress()
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	process := exec.CommandContext(ctx, binary, "-data", filepath.Join(folder, "data"), "-addr", addr)
	if err := process.Start(); err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() {
		cancel()
		_ = process.Wait() // it was killed
	}
	if err := contest.AwaitAddress(ctx, addr); err != nil {
		stop()
		return "", nil, err
	}
	return addr, stop, nil
}
