// Package load generates HTTP load and records what became of each request.
//
// It shares the machine with the server it measures, so it does as little as it can: requests are
// bytes rendered before the run, they are written to bare connections, and response bodies are
// discarded unless the exchange needs them.
//
// Start with [Closed], in which each connection sends its next request when it has the response to
// the last, and [Open], which sends requests by the clock.
package load

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// A Tally is what became of the requests of one run.
type Tally struct {
	Latencies  []time.Duration // of every response, to its last byte
	FirstBytes []time.Duration // of every response, to its first byte; closed loops only
	Took       time.Duration
}

// Add records an exchange that nothing overlapped: its latency adds to the time that the run took.
func (t *Tally) Add(latency time.Duration) {
	t.Latencies = append(t.Latencies, latency)
	t.Took += latency
}

// Merge adds the latencies of another tally.
func (t *Tally) Merge(o *Tally) {
	t.Latencies = append(t.Latencies, o.Latencies...)
	t.FirstBytes = append(t.FirstBytes, o.FirstBytes...)
}

// Rate returns responses per second.
func (t *Tally) Rate() float64 { return float64(len(t.Latencies)) / t.Took.Seconds() }

// An Exchange is what a connection repeats: one request and its response, or a few that count as
// one. It returns [ErrDone] to leave the loop before the run is over.
type Exchange func(*Conn) error

// ErrDone is returned by an [Exchange] that has nothing left to send. It is not counted, and not an
// error of the run.
var ErrDone = errors.New("nothing left to send")

// A Target is the servers that a closed loop asks, and how.
type Target struct {
	Addrs       []string
	Connections int             // spread evenly over the addresses
	Exchange    func() Exchange // called once for each connection
	RetryFaults bool            // repeat exchanges answered 500 or above, and do not count them
}

// Repeat returns an exchange for every connection to send the same request.
func Repeat(r Request) func() Exchange {
	return func() Exchange { return func(c *Conn) error { return c.Send(r) } }
}

// Closed runs a closed loop until ctx is done: each connection starts its next exchange when the
// last is complete.
func Closed(ctx context.Context, target Target) (*Tally, error) {
	var over atomic.Bool
	defer context.AfterFunc(ctx, func() { over.Store(true) })()
	var next atomic.Int64
	return Together(target.Connections, func() (*Tally, error) {
		addr := target.Addrs[int(next.Add(1))%len(target.Addrs)]
		return closed(ctx, addr, target, &over)
	})
}

// Together calls run in n goroutines and returns what they did in all.
func Together(n int, run func() (*Tally, error)) (*Tally, error) {
	type part struct {
		tally *Tally
		err   error
	}
	parts := make(chan part)
	began := time.Now()
	for range n {
		go func() {
			t, err := run()
			parts <- part{t, err}
		}()
	}
	all := &Tally{}
	var errs []error
	for range n {
		p := <-parts
		if p.tally != nil {
			all.Merge(p.tally)
		}
		errs = append(errs, p.err)
	}
	all.Took = time.Since(began)
	return all, errors.Join(errs...)
}

// closed runs the loop of one connection.
func closed(ctx context.Context, addr string, target Target, over *atomic.Bool) (*Tally, error) {
	c, err := dial(ctx, addr)
	if err != nil {
		return nil, err
	}
	defer c.close()
	t := &Tally{}
	exchange := target.Exchange()
	for !over.Load() {
		if c.closing {
			if err := c.redial(ctx); err != nil {
				return t, err
			}
		}
		began := time.Now()
		err := exchange(c)
		switch status := (*StatusError)(nil); {
		case err == nil:
			t.FirstBytes, t.Latencies = append(t.FirstBytes, c.firstByte.Sub(began)), append(t.Latencies, time.Since(began))
		case errors.Is(err, ErrDone):
			return t, nil
		case target.RetryFaults && errors.As(err, &status) && status.Status >= 500:
		default:
			return t, err
		}
	}
	return t, nil
}

// Open runs an open loop until ctx is done: it sends rate requests per second, whether or not
// earlier ones have their responses. A latency counts from when its request was due, so that a
// request which found no connection free has waited.
func Open(ctx context.Context, addr string, r Request, connections int, rate float64) (*Tally, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	idle := make(chan *lane, connections)
	var lanes []*lane
	defer func() {
		for _, l := range lanes {
			l.close()
		}
	}()
	for range connections {
		c, err := dial(ctx, addr)
		if err != nil {
			return nil, err
		}
		lanes = append(lanes, &lane{Conn: c, due: make(chan time.Time, 1)})
	}
	var readers sync.WaitGroup
	began := time.Now()
	for _, l := range lanes {
		idle <- l
		readers.Go(func() {
			if l.err = l.read(idle); l.err != nil {
				cancel()
			}
		})
	}
	err := dispatch(ctx, idle, r.render(addr), rate)
	for _, l := range lanes {
		close(l.due)
	}
	readers.Wait()
	all := &Tally{Took: time.Since(began)}
	errs := []error{err}
	for _, l := range lanes {
		all.Latencies = append(all.Latencies, l.latencies...)
		errs = append(errs, l.err)
	}
	return all, errors.Join(errs...)
}

// A lane is a connection of an open loop. It has at most one request in flight.
type lane struct {
	*Conn
	due       chan time.Time // when the request in flight was due
	latencies []time.Duration
	err       error
}

// read reads responses until due is closed, and returns the lane to idle after each.
func (l *lane) read(idle chan<- *lane) error {
	for due := range l.due {
		if err := l.receive(false); err != nil {
			return err
		}
		l.latencies = append(l.latencies, time.Since(due))
		idle <- l
	}
	return nil
}

// dispatch writes requests by the clock until ctx is done.
func dispatch(ctx context.Context, idle <-chan *lane, text []byte, rate float64) error {
	sleep, wake := sleeper()
	defer wake()
	began := time.Now()
	for sent := 0; ; sent++ {
		due := began.Add(time.Duration(float64(sent) / rate * float64(time.Second)))
		sleep(time.Until(due))
		select {
		case <-ctx.Done():
			return nil
		case l := <-idle:
			l.due <- due
			if _, err := l.conn.Write(text); err != nil {
				return err
			}
		}
	}
}
