package failovertest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
)

// Requests in flight at each replica, and a caller's pause between requests.
const (
	callers = 4
	pause   = 10 * time.Millisecond
)

// A replica is a running server and the answers that its callers got.
type replica struct {
	name, data, url, address string
	cmd                      *exec.Cmd
	log                      bytes.Buffer
	exited                   chan struct{}
	killed                   bool

	mu       sync.Mutex
	answered []time.Time // times of answered shuffles
}

// A load makes callers shuffle at replicas and read their checkpoints until it is stopped.
type load struct {
	t        *testing.T
	cluster  *cluster
	replicas map[string]*replica
	keys     string // folder of the keys
	stop     context.CancelFunc
	wait     sync.WaitGroup

	mu          sync.Mutex
	indexes     map[uuid.UUID]uint64 // of answered shuffles
	checkpoints map[string]bool      // fetched
	statuses    map[string]int       // of responses to shuffles
}

// startLoad starts one replica through haproxy, two with all hosts in the URL, and their callers.
func startLoad(t *testing.T, c *cluster) *load {
	t.Helper()
	l := &load{t: t, cluster: c, replicas: map[string]*replica{}, indexes: map[uuid.UUID]uint64{}, checkpoints: map[string]bool{}, statuses: map[string]int{}}
	l.keys = filepath.Join(c.folder, "keys")
	require.NoError(t, os.Mkdir(l.keys, 0o700))
	for name, url := range map[string]string{"haproxy": c.viaProxy(), "hosts": c.viaHosts(), "hosts2": c.viaHosts()} {
		r := &replica{name: name, data: filepath.Join(c.folder, "replica-"+name), url: url + "&application_name=" + name, address: fmt.Sprint("127.0.0.1:", freePort(t))}
		require.NoError(t, os.Mkdir(r.data, 0o700))
		l.replicas[name] = r
		l.start(r)
	}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = func() {
		cancel()
		l.wait.Wait()
	}
	for _, r := range l.replicas {
		c.await("the replica is ready", func() bool {
			require.Truef(t, r.running(), "a replica has ended:\n%s", r.log.String())
			_, err := get("http://" + r.address + "/readyz")
			return err == nil
		})
		for range callers {
			l.wait.Go(func() { l.call(ctx, r) })
		}
		l.wait.Go(func() { l.watch(ctx, r) })
	}
	return l
}

func (l *load) start(r *replica) {
	l.t.Helper()
	r.log.Reset()
	r.exited, r.killed = make(chan struct{}), false
	r.cmd = exec.Command(server, "-addr", r.address, "-access-log=false", "-data", r.data, "-store", r.url,
		"-key", filepath.Join(l.keys, "log.key"), "-seed-key", filepath.Join(l.keys, "seed.key"), "-origin", "failover.test/log")
	r.cmd.Dir, r.cmd.Stderr = r.data, &r.log
	require.NoError(l.t, r.cmd.Start())
	go func() {
		_ = r.cmd.Wait()
		close(r.exited)
	}()
}

// kill kills a replica's server. Nobody waits for its answers until it is restarted.
func (l *load) kill(name string) {
	r := l.replicas[name]
	_ = r.cmd.Process.Kill()
	<-r.exited
	r.killed = true
}

func (r *replica) running() bool {
	select {
	case <-r.exited:
		return false
	default:
		return true
	}
}

// awaitEnd waits until a replica ends because the log has lost records.
func (r *replica) awaitEnd(t *testing.T) {
	select {
	case <-r.exited:
	case <-time.After(waitLimit):
		t.Errorf("%s has not noticed in %s that the log has lost records", r.name, waitLimit)
	}
}

// client has a longer timeout than the server has for its database.
var client = &http.Client{Timeout: 150 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 2 * callers}}

// call shuffles until ctx is done. It repeats an unanswered request with its key.
func (l *load) call(ctx context.Context, r *replica) {
	for ctx.Err() == nil {
		key := uuid.NewString()
		for ctx.Err() == nil && !l.shuffle(ctx, r, key) {
			time.Sleep(200 * time.Millisecond)
		}
		time.Sleep(pause)
	}
}

// shuffle sends one request and reports whether it got a shuffle.
func (l *load) shuffle(ctx context.Context, r *replica, key string) bool {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+r.address+"/shuffle", strings.NewReader(`{"size":5}`))
	if err != nil {
		l.t.Error(err)
		return true
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	answer, err := client.Do(request)
	if err != nil {
		l.count("none")
		return false
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	l.count(answer.Status)
	if err != nil || answer.StatusCode != http.StatusOK {
		return false
	}
	var shuffle struct {
		ID    uuid.UUID `json:"audit_id"`
		Index uint64    `json:"log_index"`
	}
	if err := json.Unmarshal(body, &shuffle); err != nil || shuffle.ID == uuid.Nil {
		l.t.Errorf("an answer: %v: %s", err, body)
		return true
	}
	r.mu.Lock()
	r.answered = append(r.answered, time.Now())
	r.mu.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	index, again := l.indexes[shuffle.ID]
	assert.Truef(l.t, !again || index == shuffle.Index, "shuffle %s was answered with the indexes %d and %d", shuffle.ID, index, shuffle.Index)
	l.indexes[shuffle.ID] = shuffle.Index
	return true
}

func (l *load) count(status string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.statuses[status]++
}

// watch fetches checkpoints until ctx is done.
func (l *load) watch(ctx context.Context, r *replica) {
	for ctx.Err() == nil {
		if text, err := get("http://" + r.address + "/log/checkpoint"); err == nil {
			l.mu.Lock()
			l.checkpoints[string(text)] = true
			l.mu.Unlock()
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (l *load) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.indexes)
}

func (r *replica) answers() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.answered)
}

// awaitAnswers waits until every running replica has answered n more shuffles.
func (l *load) awaitAnswers(n int) {
	l.t.Helper()
	for _, r := range l.replicas {
		if r.killed {
			continue
		}
		want := r.answers() + n
		l.cluster.await("shuffles are answered by way of "+r.name, func() bool {
			require.Truef(l.t, r.running(), "the replica that connects by way of %s has ended:\n%s", r.name, r.log.String())
			return r.answers() >= want
		})
	}
}

// outage returns the replica's longest time without an answer since a time.
func (r *replica) outage(since time.Time) (longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	last := since
	for _, at := range r.answered {
		if at.After(since) {
			longest, last = max(longest, at.Sub(last)), at
		}
	}
	return longest
}

// check compares the database with every answer and fetched checkpoint. It returns the number of
// answered shuffles that are missing or moved, and of checkpoints that the log contradicts.
func (l *load) check() (lost, contradicted int) {
	l.t.Helper()
	l.mu.Lock()
	indexes, checkpoints, statuses := maps.Clone(l.indexes), maps.Clone(l.checkpoints), maps.Clone(l.statuses)
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("postgres://postgres@127.0.0.1:%d/riffle?sslmode=disable", l.cluster.primary().pg))
	require.NoError(l.t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, "SELECT idx, id, record FROM entries ORDER BY idx")
	require.NoError(l.t, err)
	var tree ledger.Tree
	roots := []tlog.Hash{}
	stored := map[uuid.UUID]uint64{}
	var index int64
	var id [16]byte
	var record []byte
	_, err = pgx.ForEachRow(rows, []any{&index, &id, &record}, func() error {
		roots = append(roots, tree.Root())
		stored[id] = uint64(index)
		tree.Add(tlog.RecordHash(record), nil)
		return nil
	})
	require.NoError(l.t, err)
	roots = append(roots, tree.Root())
	for id, index := range indexes {
		if at, ok := stored[id]; !ok || at != index {
			lost++
		}
	}
	verifier := l.verifier()
	for text := range checkpoints {
		c, err := proof.OpenCheckpoint([]byte(text), verifier)
		switch {
		case err != nil:
			l.t.Errorf("a checkpoint: %v", err)
		case c.Size >= uint64(len(roots)) || c.Root != roots[c.Size]:
			contradicted++
		}
	}
	l.t.Logf("%d shuffles answered, %d lost; %d records; %d checkpoints fetched, %d contradicted; answers by status: %v",
		len(indexes), lost, len(stored), len(checkpoints), contradicted, statuses)
	return lost, contradicted
}

// checkLog stops the replicas and runs riffle log check with each checkpoint file.
func (l *load) checkLog() {
	l.t.Helper()
	for _, r := range l.replicas {
		_ = r.cmd.Process.Signal(syscall.SIGTERM)
	}
	for _, r := range l.replicas {
		<-r.exited
		check := exec.Command(riffle, "log", "check", "--data", r.data, "--store", fmt.Sprintf("postgres://riffle@127.0.0.1:%d/riffle?sslmode=disable", l.cluster.primary().pg),
			"--key", filepath.Join(l.keys, "log.key"), "--seed-key", filepath.Join(l.keys, "seed.key"))
		out, err := check.CombinedOutput()
		assert.NoErrorf(l.t, err, "riffle log check with the second copy of %s:\n%s", r.name, out)
	}
}

func (l *load) verifier() note.Verifier {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.keys, "log.key"))
	require.NoError(l.t, err)
	key, err := ledger.ParseKey(string(text))
	require.NoError(l.t, err)
	return key.Verifier
}
