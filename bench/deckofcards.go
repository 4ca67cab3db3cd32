package main

import (
	"bytes"
	"context"
	"fmt"

	"riffle/bench/load"
	"riffle/bench/measure"
	"riffle/bench/service"
)

// deckofcardsCommand measures new, shuffled and drawn decks through the API of deckofcardsapi, each
// deck drawn whole in one request and card by card in 53, beside another service with that API.
// What a service answers with a status of 500 or above is repeated, as its users have to.
type deckofcardsCommand struct {
	timing
	Clients      int    `default:"64" help:"Clients of Riffle."`
	Rival        string `help:"Address of another service with this API, such as localhost:8000."`
	RivalClients int    `default:"8" help:"Clients of the rival, some of which may fail when there are more."`
}

// Run measures both ways to draw a deck and prints rates and ratios.
func (cmd *deckofcardsCommand) Run(ctx context.Context) error {
	return service.WithServer(ctx, func(env *service.Env) error {
		riffle, err := env.StartRiffle("data")
		if err != nil {
			return err
		}
		for _, way := range []struct {
			name     string
			requests float64 // per deck
			exchange func() load.Exchange
		}{{"decks drawn whole", 1, drawWhole}, {"decks drawn card by card", 53, drawCardByCard}} {
			progress("%s", way.name)
			contenders := []*measure.Contender{retrying("Riffle, "+way.name, riffle.Addr, cmd.Clients, way.exchange)}
			if cmd.Rival != "" {
				contenders = append(contenders, retrying("rival, "+way.name, cmd.Rival, cmd.RivalClients, way.exchange))
			}
			results, err := measure.Alternate(ctx, cmd.runs(), contenders...)
			if err != nil {
				return err
			}
			for i := range results {
				for k := range results[i].Rates {
					results[i].Rates[k] /= way.requests
				}
			}
			printResults("times are those of a request", cmd.runs(), results)
			if cmd.Rival != "" {
				printRatios(ratio{way.name + ", to the rival", &results[0], &results[1]})
			}
		}
		return nil
	})
}

// retrying returns a contender that repeats what a server fails at. It counts requests, so that an
// unfinished deck counts in part.
func retrying(name, addr string, clients int, exchange func() load.Exchange) *measure.Contender {
	target := load.Target{Addrs: []string{addr}, Connections: clients, Exchange: exchange, RetryFaults: true}
	run := func(ctx context.Context) (*load.Tally, error) { return load.Closed(ctx, target) }
	return &measure.Contender{Name: name, Connections: clients, Run: run}
}

// drawWhole makes a shuffled deck and draws all of it in one request.
func drawWhole() load.Exchange {
	return func(c *load.Conn) error {
		_, err := fetchDeck(c, "/api/deck/new/draw/?count=52", 52)
		return err
	}
}

// drawCardByCard makes a shuffled deck and draws its cards one by one. Each request counts as an
// exchange.
func drawCardByCard() load.Exchange {
	draw, remaining := "", 0
	return func(c *load.Conn) error {
		if remaining == 0 {
			deck, err := fetchDeck(c, "/api/deck/new/shuffle/", 0)
			if err == nil {
				draw, remaining = "/api/deck/"+deck+"/draw/", 52
			}
			return err
		}
		_, err := fetchDeck(c, draw, 1)
		if err == nil {
			remaining--
		}
		return err
	}
}

// fetchDeck returns the id of the deck that a response is about. It checks, without decoding it,
// that the response has so many cards.
func fetchDeck(c *load.Conn, path string, cards int) (deck string, err error) {
	body, err := c.Fetch(load.Get(path))
	if err != nil {
		return "", err
	}
	rest, found := bytes.CutPrefix(body, []byte(`{"success": true, "deck_id": "`))
	if !found || bytes.Count(body, []byte(`{"code": `)) != cards {
		return "", fmt.Errorf("GET %s: want a deck with %d cards, got %.200s", path, cards, body)
	}
	id, _, _ := bytes.Cut(rest, []byte{'"'})
	return string(id), nil
}
