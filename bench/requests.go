package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"

	"riffle/bench/load"
)

// The requests that more than one scenario sends.
var (
	shuffleOf52  = load.Post("/shuffle", cards())
	deckOf52     = load.Get("/decks/standard52")
	shuffleOf10k = load.Post("/shuffle", items(10_000))
	repeatOf1000 = load.Post("/shuffle", fmt.Sprintf(`{"deck":"standard52","repeat":%d}`, decksOfRepeat))
)

const (
	decksOfRepeat = 1000
	itemsOfLarge  = 1_000_000
)

// cards returns a body of 52 strings, the usual codes of cards.
func cards() string {
	var list []string
	for _, suit := range "SHDC" {
		for _, rank := range "A23456789TJQK" {
			list = append(list, strconv.Quote(string(rank)+string(suit)))
		}
	}
	return `{"items":[` + strings.Join(list, ",") + `]}`
}

// items returns a body of n strings of ten bytes each.
func items(n int) string {
	var b strings.Builder
	b.WriteString(`{"items":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"%08d"`, i)
	}
	b.WriteString("]}")
	return b.String()
}

// retries has each connection send POST /shuffle with an Idempotency-Key of its own again and
// again, so that all but the first response are replays.
func retries() func() load.Exchange {
	var connections atomic.Int64
	return func() load.Exchange {
		r := shuffleOf52
		r.Header += fmt.Sprintf("Idempotency-Key: %d\r\n", connections.Add(1))
		return func(c *load.Conn) error { return c.Send(r) }
	}
}

// committedShuffles has each connection make a commitment and use it in a shuffle, which counts as
// one exchange.
func committedShuffles() load.Exchange {
	body := cards()
	commit := load.Post("/commitments", body)
	return func(c *load.Conn) error {
		var made struct {
			ID string `json:"commitment_id"`
		}
		if err := fetchJSON(c, commit, &made); err != nil {
			return err
		}
		return c.Send(load.Post("/shuffle", fmt.Sprintf(`{"commitment_id":"%s","client_seed":"4711",%s`, made.ID, body[1:])))
	}
}

// draws has each connection make a shoe of eight decks, draw its cards one by one, and reshuffle it
// when it is empty.
func draws() load.Exchange {
	const cards = 8 * 52
	var shoe struct {
		ID string `json:"shoe_id"`
	}
	var draw load.Request
	remaining := 0
	return func(c *load.Conn) error {
		if remaining == 0 {
			if err := refill(c, shoe.ID, &shoe); err != nil {
				return err
			}
			draw, remaining = load.Post("/shoes/"+shoe.ID+"/draw", "{}"), cards
		}
		remaining--
		return c.Send(draw)
	}
}

// refill reshuffles a shoe, or makes one if it has no id yet.
func refill(c *load.Conn, id string, shoe any) error {
	if id == "" {
		return fetchJSON(c, load.Post("/shoes", `{"deck":"standard52","decks":8}`), shoe)
	}
	return c.Send(load.Post("/shoes/"+id+"/reshuffle", `{"cards":"all"}`))
}

func fetchJSON(c *load.Conn, r load.Request, to any) error {
	body, err := c.Fetch(r)
	if err != nil {
		return err
	}
	return json.Unmarshal(body, to)
}
