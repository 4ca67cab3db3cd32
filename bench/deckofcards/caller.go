package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/textproto"
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

// get asks until there is an answer that is no fault.
func (c *caller) get(path string, cards int, into *deck) error {
	for {
		text, err := c.once(path)
		switch {
		case c.ctx.Err() != nil:
			return c.ctx.Err()
		case errors.Is(err, errFault):
			continue
		case err != nil:
			return err
		}
		if err := json.Unmarshal(text, into); err != nil || !into.Success || len(into.Cards) != cards {
			return fmt.Errorf("%s answered %.200s", path, text)
		}
		c.answered++
		return nil
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
	line, err := c.in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	header, err := textproto.NewReader(c.in).ReadMIMEHeader()
	if err != nil {
		return nil, err
	}
	length, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil {
		return nil, fmt.Errorf("an answer without a length: %s", line)
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(c.in, text); err != nil {
		return nil, err
	}
	if strings.EqualFold(header.Get("Connection"), "close") {
		c.close()
	}
	if !strings.Contains(line, " 200 ") {
		return nil, fmt.Errorf("%w: %s", errFault, line)
	}
	return text, nil
}
