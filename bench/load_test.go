package bench

import (
	"context"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// A request is sent again and again.
type request struct{ method, path, body string }

var (
	shuffle52 = request{http.MethodPost, "/shuffle", items(cards())}
	deck52    = request{http.MethodGet, "/decks/standard52", ""}
)

func (r request) String() string { return r.method + " " + r.path }

func (r request) targeter(p *process) vegeta.Targeter {
	return vegeta.NewStaticTargeter(vegeta.Target{
		Method: r.method, URL: "http://" + p.addr + r.path, Body: []byte(r.body),
		Header: http.Header{"Content-Type": {"application/json"}},
	})
}

// cards returns the usual codes of 52 cards.
func cards() (codes []string) {
	for _, suit := range "SHDC" {
		for _, rank := range "A23456789TJQK" {
			codes = append(codes, string(rank)+string(suit))
		}
	}
	return codes
}

// items returns the body of POST /shuffle.
func items(list []string) string {
	quoted := make([]string, len(list))
	for i, item := range list {
		quoted[i] = strconv.Quote(item)
	}
	return `{"items":[` + strings.Join(quoted, ",") + `]}`
}

// unlimited has each connection send its next request as soon as it has a response.
var unlimited vegeta.Rate

// attack sends requests over so many connections until length has passed, unless it is 0, or the
// pacer stops. Every response must succeed. each, if not nil, sees every result.
func attack(ctx context.Context, t vegeta.Targeter, connections int, p vegeta.Pacer, length time.Duration, each func(*vegeta.Result)) (*vegeta.Metrics, error) {
	transport := &http.Transport{MaxIdleConnsPerHost: connections}
	defer transport.CloseIdleConnections()
	n := uint64(connections)
	attacker := vegeta.NewAttacker(vegeta.Client(&http.Client{Transport: transport, Timeout: time.Minute}), vegeta.Workers(n), vegeta.MaxWorkers(n))
	defer context.AfterFunc(ctx, func() { attacker.Stop() })()
	var m vegeta.Metrics
	for result := range attacker.Attack(t, p, length, "") {
		m.Add(result)
		if each != nil {
			each(result)
		}
	}
	m.Close()
	if err := ctx.Err(); err != nil { // a run cut short means nothing
		return nil, err
	}
	if m.Requests == 0 || m.Success < 1 {
		return nil, fmt.Errorf("%d requests, %.2f%% succeeded: %v", m.Requests, 100*m.Success, m.Errors)
	}
	return &m, nil
}

// A contender is a server under one load, and its figures run by run.
type contender struct {
	Name        string
	Connections int
	Request     request
	server      *process

	Rates, CPUs []float64 // responses a second, and CPU seconds a response
	P50s, P99s  []float64 // seconds
}

func (c *contender) Rate() float64 { return median(c.Rates) }
func (c *contender) CPU() float64  { return median(c.CPUs) }
func (c *contender) P50() float64  { return median(c.P50s) }
func (c *contender) P99() float64  { return median(c.P99s) }

// alternate runs the contenders in turn, each so many times after a warm-up run. Every other round
// is in reverse order.
func alternate(ctx context.Context, runs int, length time.Duration, contenders ...*contender) error {
	for round := range runs + 1 {
		order := slices.Clone(contenders)
		if round%2 == 1 {
			slices.Reverse(order)
		}
		for _, c := range order {
			if err := c.run(ctx, length, round > 0); err != nil {
				return fmt.Errorf("%s, %d connections: %w", c.Name, c.Connections, err)
			}
		}
	}
	return nil
}

func (c *contender) run(ctx context.Context, length time.Duration, counts bool) error {
	before, err := c.server.cpu()
	if err != nil {
		return err
	}
	m, err := attack(ctx, c.Request.targeter(c.server), c.Connections, unlimited, length, nil)
	if err != nil {
		return err
	}
	after, err := c.server.cpu()
	if err != nil || !counts {
		return err
	}
	c.Rates = append(c.Rates, m.Throughput)
	c.CPUs = append(c.CPUs, (after-before).Seconds()/float64(m.Requests))
	c.P50s = append(c.P50s, m.Latencies.P50.Seconds())
	c.P99s = append(c.P99s, m.Latencies.P99.Seconds())
	return nil
}

// A spread is a median with its range.
type spread struct{ Median, Min, Max float64 }

// ratios compares two contenders run by run: it is the spread of a[i]/b[i].
func ratios(a, b []float64) spread {
	list := make([]float64, len(a))
	for i := range a {
		list[i] = a[i] / b[i]
	}
	return spread{median(list), slices.Min(list), slices.Max(list)}
}

func (s spread) String() string { return fmt.Sprintf("%.2f (%.2f to %.2f)", s.Median, s.Min, s.Max) }

// median returns the middle of a list, or NaN if it is empty.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}
