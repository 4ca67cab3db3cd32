package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"riffle/bench/contest"
)

// body is a shuffle request of 52 strings.
func body() string {
	var cards []string
	for _, suit := range "SHDC" {
		for _, rank := range "A23456789TJQK" {
			cards = append(cards, fmt.Sprintf("%q", string(rank)+string(suit)))
		}
	}
	return `{"items":[` + strings.Join(cards, ",") + `]}`
}

// An exchange is what a connection does over and over. Every answer has to be a 200.
type exchange func(c net.Conn, in *bufio.Reader) error

// once posts a body to a path of the address.
func once(path, addr, text string) exchange {
	request := post(path, addr, text)
	return func(c net.Conn, in *bufio.Reader) error {
		_, err := say(c, in, request)
		return err
	}
}

// committed makes a commitment to the shuffle of a body, and uses it.
func committed(_, addr, text string) exchange {
	commit := post("/commitments", addr, text)
	const blank = "00000000-0000-0000-0000-000000000000"
	use := post("/shuffle", addr, fmt.Sprintf(`{"commitment_id":"%s","client_seed":"4711",%s`, blank, text[1:]))
	at := bytes.Index(use, []byte(blank))
	return func(c net.Conn, in *bufio.Reader) error {
		answer, err := say(c, in, commit)
		if err != nil {
			return err
		}
		const before = `{"commitment_id":"`
		id := answer[len(before) : len(before)+len(blank)]
		copy(use[at:], id)
		_, err = say(c, in, use)
		return err
	}
}

// dealt draws one card after another from a shoe of eight decks that it has made for itself, and shuffles it again when it is empty.
func dealt(_, addr, _ string) exchange {
	const cards = 8 * 52
	var draw, shuffle []byte
	left := 0
	return func(c net.Conn, in *bufio.Reader) error {
		switch {
		case draw == nil:
			answer, err := say(c, in, post("/shoes", addr, `{"deck":"standard52","decks":8}`))
			if err != nil {
				return err
			}
			var made struct {
				ID string `json:"shoe_id"`
			}
			if err := json.Unmarshal(answer, &made); err != nil {
				return err
			}
			draw, shuffle = post("/shoes/"+made.ID+"/draw", addr, "{}"), post("/shoes/"+made.ID+"/reshuffle", addr, `{"cards":"all"}`)
			left = cards
		case left == 0:
			if _, err := say(c, in, shuffle); err != nil {
				return err
			}
			left = cards
		}
		left--
		_, err := say(c, in, draw)
		return err
	}
}

// say sends a request and reads the answer.
func say(c net.Conn, in *bufio.Reader, request []byte) ([]byte, error) {
	if _, err := c.Write(request); err != nil {
		return nil, err
	}
	return readAnswer(in)
}

func post(path, addr, text string) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, addr, len(text), text)
}

// asking returns a contender whose connections, spread over the addresses, ask over and over.
func asking(name string, does func(path, addr, text string) exchange, path string, connections int, addrs ...string) *contest.Contender {
	text := body()
	run := func(ctx context.Context) (contest.Outcome, error) {
		type outcome struct {
			answers int
			err     error
		}
		outcomes := make(chan outcome)
		began := time.Now()
		for i := range connections {
			addr := addrs[i%len(addrs)]
			go func() {
				n, err := ask(ctx, addr, does(path, addr, text))
				outcomes <- outcome{n, err}
			}()
		}
		answers := 0
		var errs []error
		for range connections {
			o := <-outcomes
			answers += o.answers
			errs = append(errs, o.err)
		}
		return contest.Outcome{Done: answers, Took: time.Since(began)}, errors.Join(errs...)
	}
	return &contest.Contender{Name: fmt.Sprintf("%s, %d connections", name, connections), Run: run}
}

func ask(ctx context.Context, addr string, next exchange) (done int, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for ctx.Err() == nil {
		if err := next(c, in); err != nil {
			return done, err
		}
		done++
	}
	return done, nil
}

// readAnswer reads one answer with a Content-Length. What it returns stands until the next one is read.
func readAnswer(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	if string(line) != "HTTP/1.1 200 OK\r\n" {
		return nil, fmt.Errorf("answered %q", line)
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return nil, err
		}
		if len(line) == 2 {
			break
		}
		if digits, ok := strings.CutPrefix(string(line), "Content-Length: "); ok {
			for _, d := range strings.TrimSpace(digits) {
				length = 10*length + int(d-'0')
			}
		}
	}
	if length == 0 {
		return nil, errors.New("an answer without a length")
	}
	answer, err := in.Peek(length)
	if err != nil {
		return nil, err
	}
	_, err = in.Discard(length)
	return answer, err
}
