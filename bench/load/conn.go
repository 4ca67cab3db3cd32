package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// A Request is an HTTP request, sent as it is to whichever server is measured.
type Request struct {
	Method, Path string
	Body         string
	Header       string // further header lines, each ending in "\r\n"
}

// Get returns the request GET path.
func Get(path string) Request { return Request{Method: "GET", Path: path} }

// Post returns the request POST path with a JSON body.
func Post(path, body string) Request {
	return Request{Method: "POST", Path: path, Body: body, Header: "Content-Type: application/json\r\n"}
}

func (r *Request) render(addr string) []byte {
	length := ""
	if r.Body != "" {
		length = fmt.Sprintf("Content-Length: %d\r\n", len(r.Body))
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\n%s%s\r\n%s", r.Method, r.Path, addr, r.Header, length, r.Body)
}

// A StatusError is a response whose status is not 200.
type StatusError struct {
	Status int
	Body   string
}

func (e *StatusError) Error() string {
	return fmt.Sprintf("status %d, want 200: %.200s", e.Status, e.Body)
}

// A Conn is a connection to a server. It sends one request at a time.
type Conn struct {
	conn      net.Conn
	addr      string
	stop      func() bool
	in        *bufio.Reader
	last      Request
	text      []byte       // last, rendered
	body      bytes.Buffer // of the last response that was fetched
	firstByte time.Time    // of the last response
	closing   bool         // the server closes the connection after the last response
}

// patience is how long a response may take after the run is over.
const patience = time.Minute

func dial(ctx context.Context, addr string) (*Conn, error) {
	c := &Conn{addr: addr, in: bufio.NewReaderSize(nil, 32<<10)}
	return c, c.connect(ctx)
}

func (c *Conn) connect(ctx context.Context) error {
	conn, err := net.Dial("tcp", c.addr)
	if err != nil {
		return err
	}
	c.conn, c.closing = conn, false
	c.in.Reset(conn)
	c.stop = context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Now().Add(patience)) })
	return nil
}

func (c *Conn) redial(ctx context.Context) error {
	c.close()
	return c.connect(ctx)
}

func (c *Conn) close() {
	c.stop()
	_ = c.conn.Close()
}

// Send sends a request and discards the body of its response, which must have the status 200.
func (c *Conn) Send(r Request) error { return c.do(r, false) }

// Fetch is like [Conn.Send] and returns the body. It is valid until the next request.
func (c *Conn) Fetch(r Request) ([]byte, error) {
	err := c.do(r, true)
	return c.body.Bytes(), err
}

func (c *Conn) do(r Request, fetch bool) error {
	if c.text == nil || r != c.last { // a repeated request is rendered once
		c.last, c.text = r, r.render(c.addr)
	}
	if _, err := c.conn.Write(c.text); err != nil {
		return err
	}
	return c.receive(fetch)
}

// receive reads one response.
func (c *Conn) receive(fetch bool) error {
	if _, err := c.in.Peek(1); err != nil {
		return err
	}
	c.firstByte = time.Now()
	status, length, err := c.head()
	if err != nil {
		return err
	}
	c.body.Reset()
	to := io.Discard
	if fetch || status != 200 {
		to = &c.body
	}
	if length == inChunks {
		err = c.chunks(to)
	} else {
		err = c.take(to, length)
	}
	if err == nil && status != 200 {
		err = &StatusError{status, c.body.String()}
	}
	return err
}

// inChunks is the length of a body whose Transfer-Encoding is chunked.
const inChunks = -1

// head reads the status line and the header.
func (c *Conn) head() (status, length int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, 0, err
	}
	fields := bytes.Fields(line)
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("not a status line: %q", line)
	}
	if status, err = strconv.Atoi(string(fields[1])); err != nil {
		return 0, 0, fmt.Errorf("not a status line: %q", line)
	}
	const unknown = -2
	length = unknown
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, 0, err
		}
		name, value, found := bytes.Cut(line, []byte(":"))
		if !found {
			break
		}
		value = bytes.TrimSpace(value)
		switch {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, 0, err
			}
		case bytes.EqualFold(name, []byte("Transfer-Encoding")) && bytes.EqualFold(value, []byte("chunked")):
			length = inChunks
		case bytes.EqualFold(name, []byte("Connection")):
			c.closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	if length == unknown {
		return 0, 0, errors.New("a response with neither a length nor chunks")
	}
	return status, length, nil
}

// take reads n bytes of a body.
func (c *Conn) take(to io.Writer, n int) error {
	if to == io.Discard { // without a copy
		_, err := c.in.Discard(n)
		return err
	}
	_, err := io.CopyN(to, c.in, int64(n))
	return err
}

// chunks reads a chunked body (RFC 9112, section 7.1) without trailers.
func (c *Conn) chunks(to io.Writer) error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		n, err := strconv.ParseUint(string(bytes.TrimSpace(line)), 16, 31)
		if err != nil {
			return err
		}
		if err := c.take(to, int(n)); err != nil {
			return err
		}
		if _, err := c.in.Discard(len("\r\n")); err != nil {
			return err
		}
		if n == 0 {
			return nil
		}
	}
}
