// Throughput measures POST /shuffle of 52 strings, durable, beside a chi handler that echoes the same body: the ceiling
// of what any service behind this router can do. Both are processes of their own on this machine, as is the load; runs
// alternate, so that a machine that slows down slows both; the figure that counts is the ratio of the medians.
//
//	go run ./bench/throughput
package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-chi/chi/v5"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "throughput:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	runs := flag.Int("runs", 5, "runs of each, after one that is not counted")
	length := flag.Duration("length", 3*time.Second, "length of a run")
	connections := flag.Int("connections", 64, "connections that ask")
	echo := flag.String("echo", "", "be the echo handler at this address, and measure nothing")
	binary := flag.String("server", "", "a built server; built from ./cmd/server if empty")
	flag.Parse()
	if *echo != "" {
		return serveEcho(ctx, *echo)
	}
	folder, err := os.MkdirTemp(".", "bench-data-") // beside the sources, for /tmp may be memory
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	ctx, cancel := context.WithCancel(ctx)
	contenders, err := start(ctx, folder, *binary)
	defer func() {
		cancel()
		for _, c := range contenders {
			_ = c.process.Wait()
		}
	}()
	if err != nil {
		return err
	}
	for range *runs + 1 {
		for _, c := range contenders {
			rate, err := load(ctx, c.addr, c.path, *connections, *length)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			c.rates = append(c.rates, rate)
		}
	}
	report(contenders, *connections, *length)
	return nil
}

// A contender is a process that is measured.
type contender struct {
	name, addr, path string
	process          *exec.Cmd
	rates            []float64 // requests a second, run by run
}

// start starts the echo handler and the server, to run until the context ends. It returns those that it has started.
func start(ctx context.Context, folder, binary string) (started []*contender, err error) {
	if binary == "" {
		binary = filepath.Join(folder, "server")
		build := exec.CommandContext(ctx, "go", "build", "-o", binary, "./cmd/server")
		build.Env = append(os.Environ(), "CGO_ENABLED=0")
		if out, err := build.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("building the server: %w\n%s", err, out)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	for _, c := range []*contender{
		{name: "echo", path: "/echo", process: exec.CommandContext(ctx, self, "-echo")},
		{name: "riffle, SQLite", path: "/shuffle", process: exec.CommandContext(ctx, binary, "-data", filepath.Join(folder, "data"), "-addr")},
	} {
		if c.addr, err = freeAddress(); err != nil {
			return started, err
		}
		c.process.Args = append(c.process.Args, c.addr)
		if err := c.process.Start(); err != nil {
			return started, err
		}
		started = append(started, c)
		if err := awaitAddress(ctx, c.addr); err != nil {
			return started, err
		}
	}
	return started, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

func awaitAddress(ctx context.Context, addr string) error {
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

func serveEcho(ctx context.Context, addr string) error {
	r := chi.NewRouter()
	r.Post("/echo", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(body)
	})
	server := &http.Server{Addr: addr, Handler: r, ReadHeaderTimeout: time.Minute}
	defer context.AfterFunc(ctx, func() { _ = server.Close() })()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

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

// load asks over and over on each connection until the time is up and returns the answers a second. Every answer has to
// be a 200.
func load(ctx context.Context, addr, path string, connections int, length time.Duration) (float64, error) {
	text := body()
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, addr, len(text), text)
	ctx, cancel := context.WithTimeout(ctx, length)
	defer cancel()
	type outcome struct {
		answers int
		err     error
	}
	outcomes := make(chan outcome)
	began := time.Now()
	for range connections {
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
	return float64(answers) / time.Since(began).Seconds(), errors.Join(errs...)
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

// report prints the medians, without the first run, and the median of the ratios to the first contender, run by run:
// runs that follow each other find the machine at about the same speed.
func report(contenders []*contender, connections int, length time.Duration) {
	fmt.Printf("%s %s/%s, %d CPUs; POST of 52 strings, %d connections, %d runs of %s each, alternating\n",
		runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), connections, len(contenders[0].rates)-1, length)
	for _, c := range contenders {
		rates := c.rates[1:]
		var ratios []float64
		for i, rate := range rates {
			ratios = append(ratios, rate/contenders[0].rates[1+i])
		}
		fmt.Printf("%-16s %8.0f/s (%.0f to %.0f)   %.2fx (%.2f to %.2f)\n",
			c.name, median(rates), slices.Min(rates), slices.Max(rates), median(ratios), slices.Min(ratios), slices.Max(ratios))
	}
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}
