package main

import (
	"bufio"
	"context"
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

// asking returns a contender whose connections, spread over the addresses, ask over and over. Every answer has to be
// a 200.
func asking(name, path string, connections int, addrs ...string) *contest.Contender {
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
			request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, addr, len(text), text)
			go func() {
				n, err := ask(ctx, addr, request)
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

func ask(ctx context.Context, addr string, request []byte) (answers int, err error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close() }()
	in := bufio.NewReader(c)
	for ctx.Err() == nil {
		if _, err := c.Write(request); err != nil {
			return answers, err
		}
		if err := readAnswer(in); err != nil {
			return answers, err
		}
		answers++
	}
	return answers, nil
}

// readAnswer reads one answer with a Content-Length.
func readAnswer(in *bufio.Reader) error {
	line, err := in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if string(line) != "HTTP/1.1 200 OK\r\n" {
		return fmt.Errorf("answered %q", line)
	}
	length := 0
	for {
		line, err := in.ReadSlice('\n')
		if err != nil {
			return err
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
		return errors.New("an answer without a length")
	}
	_, err = in.Discard(length)
	return err
}
