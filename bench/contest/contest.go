// Package contest measures contenders side by side. Their runs alternate, so that a machine that slows down slows all; the
// figures that count are the medians of the ratios, run by run.
package contest

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"slices"
	"time"
)

// A Contender is what is measured.
type Contender struct {
	Name  string
	Run   func(context.Context) (Outcome, error) // until the context ends
	rates []float64                              // a second, run by run; the first run is not counted
}

// An Outcome is how much a contender did in a run, and in what time.
type Outcome struct {
	Done int
	Took time.Duration
}

// Hold has every contender run so many times, and once before that does not count.
func Hold(ctx context.Context, runs int, length time.Duration, contenders ...*Contender) error {
	for range runs + 1 {
		for _, c := range contenders {
			limited, cancel := context.WithTimeout(ctx, length)
			o, err := c.Run(limited)
			cancel()
			if ctx.Err() != nil { // a run that was cut short means nothing
				return ctx.Err()
			}
			if err != nil {
				return fmt.Errorf("%s: %w", c.Name, err)
			}
			c.rates = append(c.rates, float64(o.Done)/o.Took.Seconds())
		}
	}
	for _, c := range contenders {
		c.rates = c.rates[1:]
	}
	return nil
}

// Rate returns the median of the runs, and the slowest and the fastest, as counts a second.
func (c *Contender) Rate() (median, least, most float64) {
	return Median(c.rates), slices.Min(c.rates), slices.Max(c.rates)
}

// Rates returns the counts a second, run by run.
func (c *Contender) Rates() []float64 { return slices.Clone(c.rates) }

// Compare prints the ratio of two rates.
func Compare(what string, a, b *Contender) {
	median, least, most := Ratio(a.rates, b.rates)
	fmt.Printf("%-50s %8.2fx (%.2f to %.2f)\n", what, median, least, most)
}

// Ratio returns the median, the least and the greatest of the ratios of a to b, run by run.
func Ratio[T float64 | time.Duration](a, b []T) (median, least, most float64) {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, float64(a[i])/float64(b[i]))
	}
	return Median(ratios), slices.Min(ratios), slices.Max(ratios)
}

// Median returns the middle one of a list, and the upper one of the two in the middle.
func Median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// Machine says what is measured on.
func Machine() string {
	return fmt.Sprintf("%s %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}

// Main runs a program until it ends or is interrupted.
func Main(name string, run func(context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}

// Folder makes a folder for what is measured to write to, beside the sources, for the system's own may be memory.
func Folder() (string, error) { return os.MkdirTemp(".", "bench-data-") }

// BuildServer builds the service as it is released, unless more flags of go build say otherwise.
func BuildServer(ctx context.Context, path string, more ...string) error {
	args := append([]string{"build", "-trimpath", "-ldflags", "-s -w", "-o", path}, more...)
	build := exec.CommandContext(ctx, "go", append(args, "./cmd/server")...)
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building the server: %w\n%s", err, out)
	}
	return nil
}

// FreeAddress returns an address that nobody listens at.
func FreeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// AwaitAddress waits until somebody listens at an address.
func AwaitAddress(ctx context.Context, addr string) error {
	for deadline := time.Now().Add(10 * time.Second); ; {
		c, err := net.Dial("tcp", addr)
		if err == nil {
			return c.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}
