// Growth fills a log and measures, tenth by tenth, whether its cost stays what it was: appending, looking records up,
// proving them, the size on disk, and the start of a server on it.
//
//	go run ./bench/growth -records 10000000
//
// Records are those of GET /decks/standard52 with a reference, made by the dealer and kept by the ledger, without HTTP.
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"

	"riffle/bench/contest"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

func main() { contest.Main("growth", run) }

// steps is how many measurements there are on the way.
const steps = 10

func run(ctx context.Context) (err error) {
	records := flag.Int("records", 1_000_000, "how many records the log gets")
	callers := flag.Int("callers", 256, "how many ask for shuffles at a time")
	flag.Parse()
	folder, err := contest.Folder()
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	fmt.Printf("%s; SQLite, %d callers; times are medians\n\n", contest.Machine(), *callers)
	fmt.Printf("%12s %10s %12s %12s %12s %12s\n", "records", "appends/s", "by id", "by reference", "proof", "bytes/record")
	if err := fill(ctx, folder, *records, *callers); err != nil {
		return err
	}
	took, err := start(ctx, folder)
	if err != nil {
		return err
	}
	size, err := bytesIn(folder)
	if err != nil {
		return err
	}
	fmt.Printf("\nafter a stop: %.1f bytes a record; a server is ready after %s\n", float64(size)/float64(*records), took.Round(time.Millisecond))
	return nil
}

// fill fills a log in the folder, and closes it.
func fill(ctx context.Context, folder string, records, callers int) (err error) {
	store, err := sqlite.Open(ctx, filepath.Join(folder, "riffle.db"))
	if err != nil {
		return err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: folder})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	decks, err := deck.Builtin()
	if err != nil {
		return err
	}
	f := &filler{dealer: dealer.New(log, decks, dealer.Options{Random: rand.Reader, Limits: dealer.Limits{Items: 1 << 20, Results: 1 << 20}}), log: log}
	for step := range steps {
		from, to := step*records/steps, (step+1)*records/steps
		began := time.Now()
		if err := f.deal(ctx, from, to, callers); err != nil {
			return err
		}
		rate := float64(to-from) / time.Since(began).Seconds()
		times, err := f.look(ctx)
		if err != nil {
			return err
		}
		size, err := bytesIn(folder)
		if err != nil {
			return err
		}
		fmt.Printf("%12d %10.0f %12s %12s %12s %12.1f\n", to, rate, times[0], times[1], times[2], float64(size)/float64(to))
	}
	return nil
}

// A filler makes records, and remembers some of them.
type filler struct {
	dealer *dealer.Dealer
	log    *ledger.Log

	mu      sync.Mutex
	samples []sample
}

type sample struct {
	id        uuid.UUID
	reference string
}

// sampled is how many records of each step are looked up later.
const sampled = 200

// deal makes the records from one number to another.
func (f *filler) deal(ctx context.Context, from, to, callers int) error {
	next := atomic.Int64{}
	next.Store(int64(from))
	outcomes := make(chan error)
	for range callers {
		go func() { outcomes <- f.dealSome(ctx, &next, to, (to-from+sampled-1)/sampled) }()
	}
	var errs []error
	for range callers {
		errs = append(errs, <-outcomes)
	}
	return errors.Join(errs...)
}

func (f *filler) dealSome(ctx context.Context, next *atomic.Int64, to, sampleEvery int) error {
	for ctx.Err() == nil {
		n := int(next.Add(1)) - 1
		if n >= to {
			return nil
		}
		const attempts = 4 // of the same game, and so under one reference
		reference := "table 12, game " + strconv.Itoa(n/attempts)
		plan, err := f.dealer.Plan(context.Background(), &dealer.Request{Deck: "standard52", Reference: reference})
		if err != nil {
			return err
		}
		result, err := f.dealer.Deal(context.Background(), plan)
		if err != nil {
			return err
		}
		if n%sampleEvery == 0 {
			f.mu.Lock()
			f.samples = append(f.samples, sample{result.AuditID, reference})
			f.mu.Unlock()
		}
	}
	return ctx.Err()
}

// look looks all samples up, from the first record on to the last: by id, by reference, and with a proof.
func (f *filler) look(ctx context.Context) (medians [3]time.Duration, err error) {
	for committed, published := f.log.Sizes(); published < committed; committed, published = f.log.Sizes() {
		time.Sleep(time.Millisecond) // proofs are those of what is published
	}
	for i, look := range []func(sample) error{
		func(s sample) error { _, err := f.dealer.Audit(ctx, s.id); return err },
		func(s sample) error { _, err := f.dealer.Audits(ctx, s.reference, 0, 100); return err },
		func(s sample) error { _, err := f.dealer.Prove(ctx, s.id); return err },
	} {
		var times []time.Duration
		for _, s := range f.samples {
			began := time.Now()
			if err := look(s); err != nil {
				return medians, err
			}
			times = append(times, time.Since(began))
		}
		slices.Sort(times)
		medians[i] = times[len(times)/2].Round(time.Microsecond)
	}
	return medians, nil
}

// bytesIn returns the size of all files in a folder.
func bytesIn(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}

// start starts a server on the folder and returns how long it takes to say that it is ready.
func start(ctx context.Context, folder string) (took time.Duration, err error) {
	tools, err := os.MkdirTemp("", "riffle-growth-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tools)) }()
	binary := filepath.Join(tools, "server")
	if err := contest.BuildServer(ctx, binary); err != nil {
		return 0, err
	}
	addr, err := contest.FreeAddress()
	if err != nil {
		return 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	server := exec.CommandContext(ctx, binary, "-addr", addr, "-data", folder)
	server.Stderr = os.Stderr
	server.Cancel = func() error { return server.Process.Signal(os.Interrupt) }
	began := time.Now()
	if err := server.Start(); err != nil {
		cancel()
		return 0, err
	}
	defer func() { cancel(); _ = server.Wait() }()
	for ; ; time.Sleep(time.Millisecond) {
		response, err := http.Get("http://" + addr + "/readyz")
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return time.Since(began), nil
			}
		}
		if ctx.Err() != nil {
			return 0, ctx.Err()
		}
	}
}
