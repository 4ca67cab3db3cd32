package main_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/time/rate"

	"riffle/internal/ledger/postgres/postgrestest"
)

var soak = flag.Duration("soak", 0, "put each engine under load of every route for this long, with a kill each minute")

// rounds are requests that a caller repeats: every operation of the contract. {name} is the last
// value of that member in an answer. Plain shuffles are most of it.
var rounds = strings.Repeat(`POST /shuffle {"deck":"standard52","reference":"soak"}
`, 20) + `POST /commitments {"size":20,"reference":"soak"}
GET /commitments/{commitment_id}
POST /shuffle {"commitment_id":"{commitment_id}","client_seed":"late"}
POST /shuffle {"deck":"standard52","reference":"soak"}
POST /audits/{audit_id}/reveal {"seed":"{seed}"}
GET /audits/{audit_id}
GET /audits/{audit_id}/proof
GET /audits/{audit_id}/picture.png
GET /audits?reference=soak&limit=10
GET /commitments?status=open&limit=10
GET /decks
GET /decks/standard52
GET /decks/standard52/cards
GET /cards/standard52
GET /cards/standard52/AS.svg
GET /api/deck/new/draw/?count=2
POST /shoes {"deck":"standard52"}
GET /shoes/{shoe_id}
POST /shoes/{shoe_id}/draw {"count":5,"to":"hand"}
GET /shoes/{shoe_id}/piles
GET /shoes/{shoe_id}/piles/hand
GET /shoes/{shoe_id}/cards/{position}/proof
POST /shoes/{shoe_id}/piles/hand/shuffle {}
POST /shoes/{shoe_id}/piles/hand/draw {"count":1}
GET /shoes/{shoe_id}/dealt
POST /shoes/{shoe_id}/piles/hand/add {"cards":[{card}]}
POST /shoes/{shoe_id}/piles/hand/return {"cards":"all"}
POST /shoes/{shoe_id}/draw {"count":3}
POST /shoes/{shoe_id}/return {"cards":"all"}
POST /shoes/{shoe_id}/reshuffle {"cards":"all"}
POST /shoes/{shoe_id}/close {}
GET /shoes/{shoe_id}/proof
POST /shoes {"deck":"standard52"}
DELETE /shoes/{shoe_id}
GET /log/checkpoint
GET /log/tile/0/000.p/1
GET /log/key
GET /
GET /healthz
GET /readyz
GET /metrics
GET /openapi.yaml
`

// TestSoak measures how many requests of all routes each engine answers a second, and then sends
// 60% of that. The server is killed each minute. Before each kill the test notes memory,
// descriptors, goroutines and files.
func TestSoak(t *testing.T) {
	if *soak == 0 {
		t.Skip("it takes an hour: make soak")
	}
	for name, l := range map[string]launch{"SQLite": {}, "PostgreSQL": newDatabase(t).replica()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			port, err := postgrestest.FreePort()
			require.NoError(t, err)
			l.data, l.args = t.TempDir(), append(l.args, "-deckofcards", "-access-log=false", "-addr", fmt.Sprint("127.0.0.1:", port))
			f := &soaked{server: l.start(t), limit: rate.NewLimiter(rate.Inf, 1), answered: map[string]bool{}}
			f.run(l)
		})
	}
}

// A soaked is a server that is killed and started at one address, and what its callers got.
type soaked struct {
	*server
	limit *rate.Limiter

	mu       sync.Mutex
	requests int
	times    []time.Duration // of POST /shuffle, since the last kill
	answered map[string]bool // ids of its records
}

// callers is the number of concurrent callers of one engine.
const callers = 8

func (f *soaked) run(l launch) {
	end := make(chan struct{})
	var group sync.WaitGroup
	for range callers {
		group.Go(func() {
			values := map[string]string{}
			for {
				for line := range strings.Lines(strings.TrimSpace(rounds)) {
					select {
					case <-end:
						return
					default:
						f.call(strings.TrimSpace(line), values)
					}
				}
			}
		})
	}
	sent := func() int { f.mu.Lock(); defer f.mu.Unlock(); return f.requests }
	const warm = 10 * time.Second
	time.Sleep(warm)
	capacity := float64(sent()) / warm.Seconds()
	f.limit.SetLimit(rate.Limit(0.6 * capacity))
	f.t.Logf("%.0f requests a second at most, 60%% of them from now on", capacity)

	var taken [][]int
	for began := time.Now(); time.Since(began) < *soak; {
		f.mu.Lock()
		f.times = nil
		f.mu.Unlock()
		time.Sleep(20 * time.Second)
		early := f.taken()
		time.Sleep(40 * time.Second)
		late := f.taken()
		for i := 1; i < 4; i++ {
			assert.LessOrEqual(f.t, late[i], early[i]+resources[i].slack, resources[i].name)
		}
		taken = append(taken, late)
		f.kill()
		again := l.start(f.t)
		f.cmd, f.exited, f.log = again.cmd, again.exited, again.log
	}
	close(end)
	group.Wait()
	f.checkTaken(taken)
	doc, err := openapi3.NewLoader().LoadFromFile("../../openapi.yaml")
	require.NoError(f.t, err)
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			pattern := "(?m)^" + method + " " + regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(regexp.QuoteMeta(path), `[^/?]+`) + `([ ?]|$)`
			assert.Regexp(f.t, strings.ReplaceAll(pattern, "tile/[^/?]+", "tile/.+"), rounds, "no request of this operation")
		}
	}
	lost := len(f.answered)
	for _, r := range f.records("soak") {
		if f.answered[r.AuditID] {
			lost--
		}
	}
	assert.Zero(f.t, lost, "records that were answered are lost")
	f.t.Logf("%d requests, %d shuffles answered, %d lost", f.requests, len(f.answered), lost)
}

// member matches a member of an answer that later requests name.
var member = regexp.MustCompile(`"(audit_id|commitment_id|shoe_id|seed|position|card)": ?"?([^",}]+)`)

// call sends a request until it is answered, and notes values of the answer.
func (f *soaked) call(line string, values map[string]string) {
	for name, value := range values {
		line = strings.ReplaceAll(line, "{"+name+"}", value)
	}
	method, rest, _ := strings.Cut(line, " ")
	path, body, _ := strings.Cut(rest, " ")
	key := uuid.NewString()
	for {
		_ = f.limit.Wait(f.t.Context()) // fails when the test ends
		began := time.Now()
		a, err := f.ask(method, path, body, "Idempotency-Key", key)
		if err != nil || a.header.Get("Retry-After") != "" {
			time.Sleep(50 * time.Millisecond) // it was killed
			continue
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		f.requests++
		if !assert.Equalf(f.t, http.StatusOK, a.status, "%s: %v", line, a) || !json.Valid(a.body) {
			return
		}
		for _, m := range member.FindAllSubmatch(a.body, -1) {
			values[string(m[1])] = string(m[2])
		}
		if path == "/shuffle" {
			f.times = append(f.times, time.Since(began))
			f.answered[values["audit_id"]] = true
		}
		return
	}
}

// resources are named as taken returns them, with how much more of each a server may take in the
// end than in the beginning. Those that do not depend on the heap are compared within each minute,
// too. The latency of POST /shuffle is only reported.
var resources = []struct {
	name  string
	slack int
}{{"MiB", 48}, {"descriptors", 16}, {"goroutines", 16}, {"files", 0}, {"µs at p50", 1 << 30}, {"µs at p99", 1 << 30}}

func (f *soaked) taken() []int {
	open, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", f.cmd.Process.Pid))
	require.NoError(f.t, err)
	files, err := filepath.Glob(f.data + "/*")
	require.NoError(f.t, err)
	f.mu.Lock()
	times := slices.Sorted(slices.Values(f.times))
	f.mu.Unlock()
	require.NotEmpty(f.t, times, "no shuffle was answered for a minute")
	return []int{
		f.memory("VmRSS"), len(open), int(f.metric("go_goroutines", "")), len(files),
		int(times[len(times)/2].Microseconds()), int(times[len(times)*99/100].Microseconds()),
	}
}

// checkTaken compares the last third of the minutes with the first.
func (f *soaked) checkTaken(taken [][]int) {
	third := max(len(taken)/3, 1)
	for i, r := range resources {
		median := func(part [][]int) int {
			var list []int
			for _, minute := range part {
				list = append(list, minute[i])
			}
			slices.Sort(list)
			return list[len(list)/2]
		}
		first, last := median(taken[:third]), median(taken[len(taken)-third:])
		f.t.Logf("%s: %d in the first third, %d in the last", r.name, first, last)
		assert.LessOrEqual(f.t, last, first+r.slack, r.name)
	}
}
