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

	"riffle/bench/load"
	"riffle/bench/service"
)

// The service is built by a profile of itself (https://go.dev/doc/pgo): the compiler then inlines
// what is called most, and calls directly what is mostly one type behind an interface. The profile
// is in the repository, so that every build is the same.

// profilePath is where go build looks for the profile.
const profilePath = "cmd/server/default.pgo"

// profiled is a source file that makes the service write a profile until SIGUSR1. It is added for
// this one build.
//
//go:embed testdata/profiled.go.txt
var profiled []byte

// profileCommand makes the profile that the service is built by.
type profileCommand struct {
	Length time.Duration `default:"40s" help:"How long the service is profiled, roughly."`
	Quick  bool          `short:"q" help:"Profile it for 1s: shows that it works; the profile means little."`
	Out    string        `default:"cmd/server/default.pgo" help:"The profile to write."`
}

// Run puts the load of the other scenarios on a profiled service and writes its profile.
func (cmd *profileCommand) Run(ctx context.Context) error {
	if cmd.Quick {
		cmd.Length = time.Second
	}
	return service.WithEnv(ctx, func(env *service.Env) error {
		binary, written := env.Path("profiled"), env.Path("cpu.prof")
		if err := buildProfiled(ctx, env.Folder, binary); err != nil {
			return err
		}
		if err := os.Setenv("RIFFLE_CPU_PROFILE", written); err != nil {
			return err
		}
		server, err := env.StartServer(binary, "data")
		if err != nil {
			return err
		}
		for _, part := range []struct {
			request load.Request
			tenths  float64
		}{{shuffleOf52, 4}, {deckOf52, 4}, {repeatOf1000, 1}, {shuffleOf10k, 1}} {
			progress("%s %s for the profile", part.request.Method, part.request.Path)
			limited, cancel := context.WithTimeout(ctx, time.Duration(part.tenths/10*float64(cmd.Length)))
			_, err := load.Closed(limited, load.Target{Addrs: []string{server.Addr}, Connections: counted, Exchange: load.Repeat(part.request)})
			cancel()
			if err := errors.Join(err, ctx.Err()); err != nil {
				return err
			}
		}
		if err := server.Finish(syscall.SIGUSR1); err != nil {
			return fmt.Errorf("the profiled service: %w", err)
		}
		return publishProfile(written, cmd.Out)
	})
}

// buildProfiled builds the service with the file that makes it write a profile, and without an
// earlier profile.
func buildProfiled(ctx context.Context, folder, binary string) error {
	source := filepath.Join(folder, "profiled.go")
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
	return service.Build(ctx, ".", binary, "-pgo=off", "-overlay", list)
}

// excluded are functions that the profile leaves out. If the compiler knows how often sha256.New is
// called, it inlines so much into it that New itself is too long to be inlined into callers that
// are called seldom, such as Sum256, whose state and sum then escape to the heap.
var excluded = regexp.MustCompile(`^crypto/(internal/fips140/)?sha256\.(Sum256|New)$`)

// publishProfile copies a profile without where and when it was made and without excluded
// functions.
func publishProfile(from, to string) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	p, err := profile.Parse(in)
	if err != nil {
		return err
	}
	p.FilterSamplesByName(nil, nil, excluded, nil)
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
