package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"syscall"
	"time"

	"github.com/google/pprof/profile"

	"riffle/bench/contest"
)

// The service is built by a profile of itself (https://go.dev/doc/pgo): the compiler then inlines what is called most, and calls
// directly what is mostly one thing behind an interface. The profile is kept, so that every build is the same build.

// profilePath is where go build looks for it.
const profilePath = "cmd/server/default.pgo"

// profiled is a file that has the service write a profile until SIGUSR1. It is added for this one build.
//
//go:embed testdata/profiled.go.txt
var profiled []byte

// A share is how long a request is asked for, of all.
type share struct {
	request *request
	parts   int
}

// makeProfile loads a service with what is measured here and writes the profile of it.
func makeProfile(ctx context.Context, s *settings) (err error) {
	binary, written := filepath.Join(s.folder, "profiled"), filepath.Join(s.folder, "cpu.prof")
	if err := buildProfiled(ctx, s.folder, binary); err != nil {
		return err
	}
	if err := os.Setenv("RIFFLE_CPU_PROFILE", written); err != nil {
		return err
	}
	f := &field{}
	ctx, f.cancel = context.WithCancel(ctx)
	defer func() { err = errors.Join(err, f.stop()) }()
	server, err := f.launch(ctx, binary, "-log-level", "error", "-data", filepath.Join(s.folder, "profile"))
	if err != nil {
		return err
	}
	for _, p := range []share{{shuffleOf52, 4}, {deckOf52, 4}, {repeatOf1000, 1}, {shuffleOf10k, 1}} {
		say("%s %s for a profile", p.request.method, p.request.path)
		ctx, cancel := context.WithTimeout(ctx, time.Duration(p.parts)*4*s.length)
		_, err := closedLoop(ctx, server.addr, p.request, counted)
		cancel()
		if err != nil {
			return err
		}
	}
	if err := server.process.Process.Signal(syscall.SIGUSR1); err != nil {
		return err
	}
	if err := server.process.Wait(); err != nil {
		return fmt.Errorf("the profiled service: %w", err)
	}
	f.started = nil // it has been waited for
	return keepProfile(written, profilePath)
}

// buildProfiled builds the service with the file that has it write a profile, and without an earlier profile.
func buildProfiled(ctx context.Context, folder, binary string) error {
	source, err := filepath.Abs(filepath.Join(folder, "profiled.go"))
	if err != nil {
		return err
	}
	target, err := filepath.Abs("cmd/server/profiled.go")
	if err != nil {
		return err
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{target: source}})
	if err != nil {
		return err
	}
	list := filepath.Join(folder, "overlay.json")
	if err := errors.Join(os.WriteFile(source, profiled, 0o644), os.WriteFile(list, overlay, 0o644)); err != nil {
		return err
	}
	return contest.BuildServer(ctx, binary, "-pgo=off", "-overlay", list)
}

// leftOut are functions that the compiler is not to hear of. Told how often it is called, it makes sha256.New too long to be inlined
// where it is called seldom, which in Sum256 keeps it from seeing that nothing outlives the call: each would allocate its state and its sum.
var leftOut = regexp.MustCompile(`^crypto/(internal/fips140/)?sha256\.(Sum256|New)$`)

// keepProfile copies a profile, less where and when it was made and what is left out.
func keepProfile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	p, err := profile.Parse(in)
	if err != nil {
		return err
	}
	p.FilterSamplesByName(nil, nil, leftOut, nil)
	p.TimeNanos = 0
	for _, m := range p.Mapping {
		m.File, m.BuildID = "", ""
	}
	for _, f := range p.Function {
		f.Filename = ""
	}
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	return errors.Join(p.Compact().Write(out), out.Close())
}
