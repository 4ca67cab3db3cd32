package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"
)

// A caller asks one service, one request after another.
type caller struct {
	addr string
	ctx  context.Context //nolint:containedctx // it ends the run, and every request of it
	conn net.Conn
	in   *bufio.Reader
	text []byte // the last answer

	answered int // requests that were
}

func (c *caller) close() {
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// errFault is for an answer that says that the service failed.
var errFault = errors.New("the service failed")

// What an answer has to begin with, and what each card in it begins with.
var success, aCard = []byte(`{"success": true, "deck_id": "`), []byte(`{"code": `)

// get asks until there is an answer that is no fault, which has to have so many cards. It returns the deck's id.
func (c *caller) get(path string, cards int) (deck []byte, err error) {
	for {
		text, err := c.once(path)
		switch {
		case c.ctx.Err() != nil:
			return nil, c.ctx.Err()
		case errors.Is(err, errFault):
			continue
		case err != nil:
			return nil, err
		}
		if !bytes.HasPrefix(text, success) || bytes.Count(text, aCard) != cards {
			return nil, fmt.Errorf("%s answered %.200s", path, text)
		}
		c.answered++
		deck, _, _ = bytes.Cut(text[len(success):], []byte{'"'})
		return deck, nil
	}
}

// once sends a request and reads the answer.
func (c *caller) once(path string) ([]byte, error) {
	if c.conn == nil {
		var err error
		if c.conn, err = net.Dial("tcp", c.addr); err != nil {
			return nil, err
		}
		c.in = bufio.NewReader(c.conn)
	}
	if err := c.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(c.conn, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", path, c.addr); err != nil {
		return nil, err
	}
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return nil, err
	}
	fault := !bytes.Contains(line, []byte(" 200 "))
	length, closing := -1, false
	for line = nil; len(line) != len("\r\n"); {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return nil, err
		}
		name, value, _ := strings.Cut(string(line), ":")
		switch {
		case strings.EqualFold(name, "Content-Length"):
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, err
			}
		case strings.EqualFold(name, "Connection"):
			closing = strings.EqualFold(strings.TrimSpace(value), "close")
		}
	}
	if length < 0 {
		return nil, errors.New("an answer without a length")
	}
	if cap(c.text) < length {
		c.text = make([]byte, length)
	}
	text := c.text[:length]
	if _, err := io.ReadFull(c.in, text); err != nil {
		return nil, err
	}
	if closing {
		c.close()
	}
	if fault {
		return nil, errFault
	}
	return text, nil
}
