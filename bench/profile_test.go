package bench

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"time"

	"github.com/google/pprof/profile"
)

// recordProfile puts load on the service and writes its CPU profile, with which go build then
// compiles it (https://go.dev/doc/pgo).
func recordProfile(ctx context.Context, out string, length time.Duration) error {
	return withEnv(ctx, []string{"-pgo=off"}, func(e *env) error {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		admin := listener.Addr().String()
		if err := listener.Close(); err != nil {
			return err
		}
		server, err := e.startServer(e.server, "profile", "-admin-addr", admin)
		if err != nil {
			return err
		}
		var many []string
		for i := range 10_000 {
			many = append(many, fmt.Sprintf("%08d", i))
		}
		loaded := make(chan error, 1)
		go func() {
			for _, part := range []struct {
				load   request
				length time.Duration
			}{
				{shuffle52, length * 4 / 10},
				{deck52, length * 4 / 10},
				{request{http.MethodPost, "/shuffle", `{"deck":"standard52","repeat":1000}`}, length / 10},
				{request{http.MethodPost, "/shuffle", items(many)}, length / 10},
			} {
				if _, err := attack(ctx, part.load.targeter(server), 64, unlimited, part.length, nil); err != nil {
					loaded <- err
					return
				}
			}
			loaded <- nil
		}()
		response, err := http.Get(fmt.Sprintf("http://%s/debug/pprof/profile?seconds=%.0f", admin, length.Seconds()))
		if err != nil {
			return err
		}
		defer func() { _ = response.Body.Close() }()
		anonymous, err := anonymize(response.Body)
		if err != nil {
			return err
		}
		if err := <-loaded; err != nil {
			return err
		}
		file, err := os.Create(out)
		if err != nil {
			return err
		}
		if err := anonymous.Write(file); err != nil {
			return err
		}
		return file.Close()
	})
}

// excluded are functions that must not be in the profile. With them, the compiler makes sha256.New
// too large to inline into Sum256, which then allocates.
var excluded = regexp.MustCompile(`^crypto/(internal/fips140/)?sha256\.(Sum256|New)$`)

// anonymize removes the time and place of a profile's recording, and the excluded functions.
func anonymize(r io.Reader) (*profile.Profile, error) {
	p, err := profile.Parse(r)
	if err != nil {
		return nil, err
	}
	p.FilterSamplesByName(nil, nil, excluded, nil)
	p.TimeNanos = 0
	for _, m := range p.Mapping {
		m.File, m.BuildID = "", ""
	}
	for _, f := range p.Function {
		f.Filename = ""
	}
	return p.Compact(), nil
}
