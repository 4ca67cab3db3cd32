package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path/filepath"
	"sync/atomic"
	"time"

	vegeta "github.com/tsenart/vegeta/v12/lib"
)

// A step is what requests cost once the log has so many records.
type step struct {
	Records                int
	Rate                   float64 // appended records a second
	ByID, ByReference, Log float64 // median seconds of a lookup by id, by reference, and of a proof
	Bytes                  float64 // on disk, a record
	Resident               int64
}

const (
	steps           = 5   // rows of the table
	samplesPerStep  = 200 // records of each step that are looked up
	gamesPerRecord  = 4   // attempts under one reference
	fillConnections = 64
)

// times is a pacer that stops after so many requests.
type times uint64

func (n times) Pace(_ time.Duration, sent uint64) (time.Duration, bool) { return 0, sent >= uint64(n) }
func (times) Rate(time.Duration) float64                                { return 0 }

// growth fills a log with decks that have a reference, and measures its cost at each step. It
// returns how long a server takes to start on the full log.
func (o *options) growth(ctx context.Context, e *env) (list []step, restart time.Duration, err error) {
	server, err := e.startServer(e.server, "growth")
	if err != nil {
		return nil, 0, err
	}
	var next atomic.Int64
	var ids, references []string
	for i := range steps {
		from, to := o.records*i/steps, o.records*(i+1)/steps
		s := step{Records: to}
		filled, err := attack(ctx, paths(server, func() string {
			return "/decks/standard52?reference=" + url.QueryEscape(reference(next.Add(1)))
		}), fillConnections, times(to-from), 0, func(r *vegeta.Result) {
			if r.Seq%uint64(max(1, (to-from)/samplesPerStep)) == 0 {
				if id, err := auditID(r.Body); err == nil {
					ids, references = append(ids, id), append(references, reference(int64(from)+int64(r.Seq)))
				}
			}
		})
		if err != nil {
			return nil, 0, err
		}
		s.Rate = filled.Throughput
		for _, lookup := range []struct {
			took   *float64
			prefix string
			list   []string
			suffix string
		}{{&s.ByID, "/audits/", ids, ""}, {&s.ByReference, "/audits?reference=", references, ""}, {&s.Log, "/audits/", ids, "/proof"}} {
			at := 0
			m, err := attack(ctx, paths(server, func() string {
				at++
				return lookup.prefix + url.QueryEscape(lookup.list[at-1]) + lookup.suffix
			}), 1, times(len(lookup.list)), 0, nil)
			if err != nil {
				return nil, 0, err
			}
			*lookup.took = m.Latencies.P50.Seconds()
		}
		size, err := sizeOf(filepath.Join(e.folder, "growth"))
		if err != nil {
			return nil, 0, err
		}
		s.Bytes = float64(size) / float64(to)
		if s.Resident, _, err = server.memory(); err != nil {
			return nil, 0, err
		}
		list = append(list, s)
		progress("%d records", to)
	}
	if err := server.stop(); err != nil {
		return nil, 0, err
	}
	if server, err = e.startServer(e.server, "growth"); err != nil {
		return nil, 0, err
	}
	return list, server.ready, nil
}

// reference returns the reference of the n-th record.
func reference(n int64) string { return fmt.Sprintf("table 12, game %d", n/gamesPerRecord) }

// paths returns a targeter of GET requests whose paths come from next.
func paths(p *process, next func() string) vegeta.Targeter {
	return func(t *vegeta.Target) error {
		t.Method, t.URL = http.MethodGet, "http://"+p.addr+next()
		return nil
	}
}

// sizeOf returns the size of all files in a folder.
func sizeOf(folder string) (total int64, err error) {
	err = filepath.WalkDir(folder, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // a temporary file of the server
			return nil
		}
		if err == nil {
			total += info.Size()
		}
		return err
	})
	return total, err
}
