// Package measure runs contenders in turn, so that a machine that slows down slows all of them, and
// compares them by the ratios of runs that followed each other.
package measure

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"riffle/bench/load"
	"riffle/bench/service"
)

// A Contender is one of the things that are compared.
type Contender struct {
	Name        string
	Connections int
	Servers     []*service.Process                         // measured; none for work in this process
	Run         func(context.Context) (*load.Tally, error) // runs until the context is done
}

// HTTP returns a contender in which each connection repeats an exchange, over all servers.
func HTTP(name string, connections int, exchange func() load.Exchange, servers ...*service.Process) *Contender {
	target := load.Target{Connections: connections, Exchange: exchange}
	for _, s := range servers {
		target.Addrs = append(target.Addrs, s.Addr)
	}
	run := func(ctx context.Context) (*load.Tally, error) { return load.Closed(ctx, target) }
	return &Contender{Name: name, Connections: connections, Servers: servers, Run: run}
}

// Loop returns a contender that calls once, again and again, at least one time in a run. once says
// how long the part of it took that counts.
func Loop(name string, once func() (time.Duration, error)) *Contender {
	return &Contender{Name: name, Connections: 1, Run: func(ctx context.Context) (*load.Tally, error) {
		t := &load.Tally{}
		for len(t.Latencies) == 0 || ctx.Err() == nil {
			took, err := once()
			if err != nil {
				return nil, err
			}
			t.Add(took)
		}
		return t, nil
	}}
}

// Runs says how often each contender runs and for how long.
type Runs struct {
	Count  int
	Length time.Duration
}

func (r Runs) String() string {
	if r.Count == 1 {
		return fmt.Sprintf("1 run of %s", r.Length)
	}
	return fmt.Sprintf("%d runs of %s", r.Count, r.Length)
}

// A Result is what a contender did. CPU time and memory are 0 where the system does not say.
type Result struct {
	Name               string
	Connections        int
	Rates              []float64       // responses per second, run by run
	CPUs               []float64       // CPU time per response in ns, run by run
	Medians, Tails     []time.Duration // 50th and 99th percentiles of the latencies, run by run
	P50, P90, P99, Max time.Duration   // of all responses
	FirstByte          time.Duration   // median
	CPU                time.Duration   // per response, of the servers
	Idle               int64           // resident bytes of the servers before their first request
	Resident, Peak     int64           // resident bytes after the runs, and the most during them
}

// Rate returns the median rate.
func (r *Result) Rate() float64 { return Median(r.Rates) }

// Alternate runs the contenders in turn, each r.Count times after a first run that does not count.
// Every other round goes backwards, so that no contender always follows the same one. Results are
// in the order of the contenders.
func Alternate(ctx context.Context, r Runs, contenders ...*Contender) ([]Result, error) {
	recorders := make([]recorder, len(contenders))
	for _, c := range contenders {
		for _, s := range c.Servers {
			s.ResetPeak()
		}
	}
	for round := range r.Count + 1 {
		for i := range contenders {
			if round%2 == 1 {
				i = len(contenders) - 1 - i
			}
			if err := recorders[i].run(ctx, r.Length, contenders[i]); err != nil {
				return nil, fmt.Errorf("%s, %d connections: %w", contenders[i].Name, contenders[i].Connections, err)
			}
		}
	}
	results := make([]Result, len(contenders))
	for i, c := range contenders {
		results[i] = recorders[i].result(c)
	}
	return results, nil
}

// A recorder has the runs of one contender.
type recorder struct {
	runs []*load.Tally
	cpus []time.Duration
}

func (r *recorder) run(ctx context.Context, length time.Duration, c *Contender) error {
	before := cpu(c)
	limited, cancel := context.WithTimeout(ctx, length)
	t, err := c.Run(limited)
	cancel()
	if ctx.Err() != nil { // a run cut short means nothing
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if len(t.Latencies) == 0 {
		return errors.New("a run ended before the first response: make runs longer")
	}
	r.runs, r.cpus = append(r.runs, t), append(r.cpus, cpu(c)-before)
	return nil
}

func cpu(c *Contender) (total time.Duration) {
	for _, s := range c.Servers {
		total += s.CPU()
	}
	return total
}

// result sums up all runs but the first.
func (r *recorder) result(c *Contender) Result {
	sum := Result{Name: c.Name, Connections: c.Connections}
	var all load.Tally
	var spent time.Duration
	for i, run := range r.runs[1:] {
		slices.Sort(run.Latencies)
		sum.Rates = append(sum.Rates, run.Rate())
		sum.CPUs = append(sum.CPUs, float64(r.cpus[i+1])/float64(len(run.Latencies)))
		sum.Medians = append(sum.Medians, Percentile(run.Latencies, 50))
		sum.Tails = append(sum.Tails, Percentile(run.Latencies, 99))
		spent += r.cpus[i+1]
		all.Merge(run)
	}
	slices.Sort(all.Latencies)
	sum.P50, sum.P90, sum.P99 = Percentile(all.Latencies, 50), Percentile(all.Latencies, 90), Percentile(all.Latencies, 99)
	sum.Max = all.Latencies[len(all.Latencies)-1]
	sum.CPU = spent / time.Duration(len(all.Latencies))
	if len(all.FirstBytes) > 0 {
		slices.Sort(all.FirstBytes)
		sum.FirstByte = Percentile(all.FirstBytes, 50)
	}
	for _, s := range c.Servers {
		resident, peak := s.Memory()
		sum.Resident, sum.Peak, sum.Idle = sum.Resident+resident, sum.Peak+peak, sum.Idle+s.Idle
	}
	return sum
}

// A Spread is a median with its range.
type Spread struct{ Median, Min, Max float64 }

func (s Spread) String() string { return fmt.Sprintf("%.2fx (%.2f to %.2f)", s.Median, s.Min, s.Max) }

// SpreadOf returns the median and the range of a list, which is not empty.
func SpreadOf(list []float64) Spread {
	return Spread{Median(list), slices.Min(list), slices.Max(list)}
}

// Ratio compares two lists run by run: it is the spread of the ratios a[i]/b[i].
func Ratio[T float64 | time.Duration](a, b []T) Spread {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, float64(a[i])/float64(b[i]))
	}
	return SpreadOf(ratios)
}

// Median returns the middle of a list, which is not empty: of an even number, the mean of the two
// in the middle.
func Median[T float64 | time.Duration](list []T) T {
	sorted := slices.Sorted(slices.Values(list))
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

// Percentile returns the least value of a sorted list that p percent of it do not exceed (the
// nearest rank). The list is not empty.
func Percentile(sorted []time.Duration, p float64) time.Duration {
	rank := int(math.Ceil(p / 100 * float64(len(sorted))))
	return sorted[max(rank, 1)-1]
}
