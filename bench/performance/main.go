// Performance measures the service beside what it is compared with, all of it in one go on one machine, and writes
// docs/performance.md and docs/performance.svg: what it measured, on what, and which goals are met.
//
//	go run ./bench/performance
//
// With -profile it makes the profile that the service is built by, and measures nothing.
//
// Beside the service, on SQLite and on PostgreSQL, run a chi handler that echoes (the ceiling of whatever stands behind that
// router), one that writes a fixed body, and the usual one: encoding/json, math/rand/v2, no record. Each is a process of its
// own, and so is the load. Runs alternate, so that a machine that slows down slows all; the figures that count are medians,
// and of two rates the median of their ratios, run by run.
//
// This file says what is measured and in what order; each part has a file of its own.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"riffle/bench/contest"
)

func main() { contest.Main("performance", run) }

// settings are how things are measured.
type settings struct {
	runs        int
	length      time.Duration
	connections []int
	benchtime   string // of a kernel in a run, as go test takes it
	folder      string // for everything that is written on the way
}

// counted is the number of connections that the goals are about. It is among the connections of every setting.
const counted = 64

func run(ctx context.Context) error {
	s := settings{connections: []int{1, 16, counted, 256}, benchtime: "300ms"}
	flag.IntVar(&s.runs, "runs", 5, "runs of each, after one that is not counted")
	flag.DurationVar(&s.length, "length", time.Second, "length of a run")
	quick := flag.Bool("quick", false, "one run of 100ms of each, at 1 and 64 connections: whether it works, in a minute; the figures mean little")
	out := flag.String("out", "docs", "`folder` for performance.md and performance.svg")
	pgo := flag.Bool("profile", false, "make "+profilePath+", the profile that the service is built by, and measure nothing")
	serve := flag.String("serve", "", "be the handler of this `name`, and measure nothing")
	addr := flag.String("addr", "", "`address` of that handler")
	flag.Parse()
	if *serve != "" {
		return serveHandler(ctx, *serve, *addr)
	}
	if *quick {
		s.runs, s.length, s.connections, s.benchtime = 1, 100*time.Millisecond, []int{1, counted}, "20ms"
	}
	if s.runs < 1 || s.length <= 0 {
		return errors.New("-runs and -length have to be above 0")
	}
	if *pgo {
		return withFolder(&s, func() error { return makeProfile(ctx, &s) })
	}
	if err := writable(*out); err != nil { // which is better known before the measurements than after
		return err
	}
	return withFolder(&s, func() error {
		began := time.Now()
		f, err := measure(ctx, &s)
		if err != nil {
			return err
		}
		f.Quick, f.Took = *quick, time.Since(began)
		return write(*out, f)
	})
}

// withFolder does what writes to the folder, and removes it.
func withFolder(s *settings, do func() error) (err error) {
	if s.folder, err = contest.Folder(); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.folder)) }()
	return do()
}

func writable(folder string) error {
	info, err := os.Stat(folder)
	if err == nil && !info.IsDir() {
		err = fmt.Errorf("%s is not a folder", folder)
	}
	return err
}

// write writes the page and the picture, and prints how the goals fare.
func write(folder string, f *figures) error {
	if err := os.WriteFile(filepath.Join(folder, "performance.md"), page(f), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, "performance.svg"), picture(f), 0o644); err != nil {
		return err
	}
	for _, g := range f.goals() {
		fmt.Printf("%-12s %s: %s, for %s\n", g.outcome, g.what, g.got, g.want)
	}
	return nil
}

// measure measures everything.
func measure(ctx context.Context, s *settings) (*figures, error) {
	f := &figures{Runs: s.runs, Length: s.length}
	var err error
	if f.Machine, err = newMachine(ctx, s.folder); err != nil {
		return nil, err
	}
	binary := filepath.Join(s.folder, "server")
	if err := contest.BuildServer(ctx, binary); err != nil {
		return nil, err
	}
	info, err := os.Stat(binary)
	if err != nil {
		return nil, err
	}
	f.Binary = info.Size()
	if f.Starts, err = starts(ctx, binary, s.folder, 2*s.runs+1); err != nil {
		return nil, err
	}
	if err := served(ctx, s, f, binary); err != nil {
		return nil, err
	}
	say("kernels")
	f.Kernels, f.Machine.Batched, err = kernels(ctx, s)
	return f, err
}

// say tells whoever waits what is being measured.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "performance: "+format+"\n", args...)
}
