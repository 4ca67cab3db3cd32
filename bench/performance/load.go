package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// The load shares the machine with what it asks, so it is light: requests are bytes that were made before, connections
// are written to and read from as they are, and answers are not kept.

// A tally is what became of a run's requests.
type tally struct {
	latencies []time.Duration // of every answer, to its last byte
	firsts    []time.Duration // the same, to its first byte; closed loops only
	took      time.Duration
}

func (t *tally) add(o *tally) {
	t.latencies = append(t.latencies, o.latencies...)
	t.firsts = append(t.firsts, o.firsts...)
}

// A request is what a connection sends, made for an address.
type request struct{ method, path, body string }

func (r *request) bytes(addr string) []byte {
	if r.method == "GET" {
		return fmt.Appendf(nil, "GET %s HTTP/1.1\r\nHost: %s\r\n\r\n", r.path, addr)
	}
	return fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", r.method, r.path, addr, len(r.body), r.body)
}

// closedLoop asks over so many connections, each of which sends the next request when it has the answer to the last, until
// the context ends.
func closedLoop(ctx context.Context, addr string, r *request, connections int) (*tally, error) {
	text := r.bytes(addr)
	var over atomic.Bool
	defer context.AfterFunc(ctx, func() { over.Store(true) })()
	type part struct {
		tally
		err error
	}
	parts := make(chan *part)
	began := time.Now()
	for range connections {
		go func() {
			p := &part{}
			p.err = p.ask(addr, text, &over)
			parts <- p
		}()
	}
	all := &tally{}
	var errs []error
	for range connections {
		p := <-parts
		all.add(&p.tally)
		errs = append(errs, p.err)
	}
	all.took = time.Since(began)
	return all, errors.Join(errs...)
}

// ask asks over one connection.
func (t *tally) ask(addr string, text []byte, over *atomic.Bool) (err error) {
	c, err := dial(addr)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close() }()
	for !over.Load() {
		began := time.Now()
		if _, err := c.Write(text); err != nil {
			return err
		}
		if _, err := c.in.Peek(1); err != nil {
			return err
		}
		first := time.Since(began)
		if err := c.discardAnswer(); err != nil {
			return err
		}
		t.firsts, t.latencies = append(t.firsts, first), append(t.latencies, time.Since(began))
	}
	return nil
}

// openLoop sends so many requests a second, whether or not the earlier ones are answered, until the context ends. A latency
// counts from when its request was due: one that found no connection free has waited.
func openLoop(ctx context.Context, addr string, r *request, connections int, rate float64) (*tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	text := r.bytes(addr)
	idle := make(chan *lane, connections)
	var lanes []*lane
	var readers sync.WaitGroup
	defer func() {
		for _, l := range lanes {
			_ = l.Close()
		}
	}()
	for range connections {
		c, err := dial(addr)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, &lane{connection: c, due: make(chan time.Time, 1)})
	}
	began := time.Now()
	for _, l := range lanes {
		idle <- l
		readers.Go(func() {
			if l.err = l.read(idle); l.err != nil {
				cancel()
			}
		})
	}
	err := dispatch(ctx, idle, text, rate)
	for _, l := range lanes {
		close(l.due)
	}
	readers.Wait()
	all := &tally{took: time.Since(began)}
	errs := []error{err}
	for _, l := range lanes {
		all.latencies = append(all.latencies, l.latencies...)
		errs = append(errs, l.err)
	}
	return all, errors.Join(errs...)
}

// A lane is a connection of an open loop. It has at most one request under way.
type lane struct {
	*connection
	due       chan time.Time // of the request that was sent
	latencies []time.Duration
	err       error
}

func (l *lane) read(idle chan<- *lane) error {
	for due := range l.due {
		if err := l.discardAnswer(); err != nil {
			return err
		}
		l.latencies = append(l.latencies, time.Since(due))
		idle <- l
	}
	return nil
}

// dispatch sends requests by the clock. It sleeps in the kernel: Go's timers wake an idle program up to a millisecond late,
// which would be the program's latency and not the server's.
func dispatch(ctx context.Context, idle <-chan *lane, text []byte, rate float64) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const timerSlack = 29 // PR_SET_TIMERSLACK of prctl(2), in ns; without it a sleep may end 50 us late
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, timerSlack, 1, 0)
	began := time.Now()
	for sent := 0; ; sent++ {
		due := began.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
		if left := time.Until(due); left > 0 {
			sleep := syscall.NsecToTimespec(int64(left))
			_ = syscall.Nanosleep(&sleep, nil) // a signal ends it early, which does no harm
		}
		select {
		case <-ctx.Done():
			return nil
		case l := <-idle:
			l.due <- due
			if _, err := l.Write(text); err != nil {
				return err
			}
		}
	}
}

// A connection is one to a server, and what reads its answers.
type connection struct {
	net.Conn
	in *bufio.Reader
}

func dial(addr string) (*connection, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &connection{c, bufio.NewReaderSize(c, 32<<10)}, nil
}

var (
	answered = []byte("HTTP/1.1 200 OK\r\n")
	length   = []byte("Content-Length: ")
	chunked  = []byte("Transfer-Encoding: chunked\r\n")
)

// discardAnswer reads one answer, which has to be a 200, and keeps nothing of it.
func (c *connection) discardAnswer() error {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.Equal(line, answered) {
		return fmt.Errorf("answered %q", line)
	}
	left, inChunks := int64(-1), false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return err
		}
		if len(line) == 2 {
			break
		}
		if digits, ok := bytes.CutPrefix(line, length); ok {
			if left, err = strconv.ParseInt(string(bytes.TrimSpace(digits)), 10, 64); err != nil {
				return err
			}
		}
		inChunks = inChunks || bytes.Equal(line, chunked)
	}
	switch {
	case inChunks:
		return c.discardChunks()
	case left < 0:
		return errors.New("an answer without a length")
	}
	_, err = c.in.Discard(int(left))
	return err
}

func (c *connection) discardChunks() error {
	for {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		left, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 16, 64)
		if err != nil {
			return err
		}
		if _, err := c.in.Discard(int(left) + len("\r\n")); err != nil {
			return err
		}
		if left == 0 {
			return nil
		}
	}
}
