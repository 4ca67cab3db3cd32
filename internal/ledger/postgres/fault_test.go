package postgres

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
)

func TestReplicasShareOneLog(t *testing.T) {
	url, key := newDatabase(t), newKeyFile(t)
	var logs []*ledger.Log
	for range 4 {
		logs = append(logs, replica(t, url, key))
	}
	a := newAccount(t)
	stop := a.load(8, logs...)
	a.await(1000)
	stop()
	a.check(url, logs...)
}

func TestSessionsEndUnderLoad(t *testing.T) {
	url, key := newDatabase(t), newKeyFile(t)
	logs := []*ledger.Log{replica(t, url, key), replica(t, url, key)}
	a := newAccount(t)
	stop := a.load(8, logs...)
	for range 30 {
		a.await(1 + rand.IntN(40))
		time.Sleep(time.Duration(rand.IntN(2000)) * time.Microsecond) // so that it is at any point of a batch
		endSessions(t, url)
	}
	a.await(10)
	stop()
	a.check(url, logs...)
}

func TestServerCrashesUnderLoad(t *testing.T) {
	url, key := newDatabase(t), newKeyFile(t)
	logs := []*ledger.Log{replica(t, url, key), replica(t, url, key)}
	a := newAccount(t)
	stop := a.load(8, logs...)
	for range 3 {
		a.await(20 + rand.IntN(40))
		if err := cluster.Stop(postgrestest.Immediate); err != nil {
			t.Fatal(err)
		}
		if err := cluster.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	a.await(10)
	stop()
	a.check(url, logs...)
}

// endOfRequest is the length of the message that ends a request. The one before it has the server execute the batch.
const endOfRequest = 5

// A cut is a place at which a connection is lost.
type cut int

const (
	nowhere cut = iota
	beforeBatch
	withinBatch // shortly before its end, and the server is not told that the client has gone
	beforeAnswer
)

// A proxy stands between a store and the server.
type proxy struct {
	t        *testing.T
	listener net.Listener
	mu       sync.Mutex
	cut      cut    // what the next batch meets that has the mark in it
	mark     []byte // in what is sent
	cuts     int    // how many it has met
	held     []net.Conn
}

func newProxy(t *testing.T) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, listener: l}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", cluster.Address())
			if err != nil {
				_ = client.Close()
				continue
			}
			marked := make(chan struct{})
			wait.Go(func() { p.requests(client, server, marked) })
			wait.Go(func() { p.answers(client, server, marked) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		p.release()
		wait.Wait()
	})
	return p
}

func (p *proxy) url(t *testing.T, location string) string {
	return postgrestest.URLAt(p.listener.Addr().String(), database(t, location))
}

func (p *proxy) arm(at cut, mark string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cut, p.mark = at, []byte(mark)
}

// meet returns where to cut for what was sent. It does so once.
func (p *proxy) meet(data []byte) cut {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := p.cut
	if at == nowhere || !bytes.Contains(data, p.mark) {
		return nowhere
	}
	p.cut = nowhere
	p.cuts++
	return at
}

// release lets go of connections that the server has not been told of.
func (p *proxy) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.held {
		_ = c.Close()
	}
	p.held = nil
}

func (p *proxy) requests(client, server net.Conn, marked chan struct{}) {
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 1<<20)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			_ = server.Close()
			return
		}
		switch p.meet(buffer[:n]) {
		case beforeBatch:
			_ = server.Close()
			return
		case withinBatch:
			_, _ = server.Write(buffer[:n-endOfRequest-1])
			p.mu.Lock()
			p.held = append(p.held, server)
			p.mu.Unlock()
			return
		case beforeAnswer:
			close(marked)
		case nowhere:
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) answers(client, server net.Conn, marked chan struct{}) {
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 1<<20)
	for {
		n, err := server.Read(buffer)
		if err != nil {
			return
		}
		select {
		case <-marked: // the batch is committed
			_ = server.Close()
			return
		default:
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func TestConnectionIsLostWithinACommit(t *testing.T) {
	for name, at := range map[string]cut{"before the batch": beforeBatch, "within the batch": withinBatch, "before the answer": beforeAnswer} {
		for _, others := range []int{0, 4} {
			t.Run(fmt.Sprintf("%s, %d others", name, others), func(t *testing.T) {
				url, key, p := newDatabase(t), newKeyFile(t), newProxy(t)
				l, other := replica(t, p.url(t, url), key), replica(t, url, key)
				a := newAccount(t)
				const rounds = 10
				for round := range rounds {
					label := fmt.Sprint("cut ", round)
					p.arm(at, fmt.Sprintf("%q", label))
					var wait sync.WaitGroup
					for i, e := range ledgertest.Entries(label, 3) {
						if i == 1 {
							e.Claims = []ledger.Claim{{Name: label}}
						}
						wait.Go(func() { a.append(l, e) })
					}
					for caller := range others {
						wait.Go(func() {
							for _, e := range ledgertest.Entries(fmt.Sprint("other ", caller, round), 10) {
								a.append(other, e)
							}
						})
					}
					wait.Wait()
					p.release()
				}
				if p.cuts != rounds {
					t.Errorf("the connection was cut %d times, want %d", p.cuts, rounds)
				}
				a.check(url, l, other)
			})
		}
	}
}

// TestStoppedTransactionIsEnded has a session of this program's stop with the head's lock in its hands. A batch does not,
// but a migration may.
func TestStoppedTransactionIsEnded(t *testing.T) {
	url, key := newDatabase(t), newKeyFile(t)
	l := replica(t, url, key)
	a := newAccount(t)
	a.append(l, ledgertest.Entries("before", 1)[0])
	config, err := parseURL(with(url, "idle_in_transaction_session_timeout=300ms"))
	if err != nil {
		t.Fatal(err)
	}
	stopped, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stopped.Close(t.Context()) }()
	if _, err := stopped.Exec(t.Context(), "BEGIN; UPDATE head SET size = size"); err != nil {
		t.Fatal(err)
	}
	a.append(l, ledgertest.Entries("while it has the head", 1)[0])
	_, err = stopped.Exec(t.Context(), "COMMIT")
	var e *pgconn.PgError
	if !errors.As(err, &e) || e.Code != idleInTransaction {
		t.Errorf("the stopped client: %v, want that its session was ended", err)
	}
	a.check(url, l)
}

// smallDisk mounts a disk of so many bytes for the server.
func smallDisk(t *testing.T, size int) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "riffle-disk-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(folder) })
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		postgrestest.Without(t, fmt.Errorf("mounting a small disk: %w", err))
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	owner, err := user.Lookup("postgres")
	if err != nil {
		t.Fatal(err)
	}
	uid, errUID := strconv.Atoi(owner.Uid)
	gid, errGID := strconv.Atoi(owner.Gid)
	if err := errors.Join(errUID, errGID, os.Chown(folder, uid, gid)); err != nil {
		t.Fatal(err)
	}
	return folder
}

func TestFullDiskIsRecoveredFrom(t *testing.T) {
	url, key := newDatabase(t), newKeyFile(t)
	disk := smallDisk(t, 20<<20)
	space := "space_of_" + database(t, url)
	for _, command := range []string{fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", space, disk), fmt.Sprintf("ALTER DATABASE %s SET TABLESPACE %s", database(t, url), space)} {
		if err := cluster.Exec(t.Context(), command); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, command := range []string{fmt.Sprintf("DROP DATABASE %s (FORCE)", database(t, url)), "DROP TABLESPACE " + space} {
			if err := cluster.Exec(context.Background(), command); err != nil {
				t.Error(err)
			}
		}
	})
	l := replica(t, url, key)
	a := newAccount(t)
	a.append(l, ledgertest.Entries("before", 1)[0])
	ballast := filepath.Join(disk, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 4<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	refusals := 0
	for i := 0; refusals < 3; i++ {
		entry := ledgertest.Entries(fmt.Sprint("filling ", i), 1)[0]
		entry.Record = randomBytes(60_000)
		index, err := l.Append(entry)
		switch {
		case err == nil:
			a.indexes[entry.ID.String()] = index
		case errors.Is(err, ledger.ErrNoSpace) && !errors.Is(err, ledger.ErrBroken):
			refusals++
		default:
			t.Fatal(err)
		}
		if i == 1000 {
			t.Fatal("the disk is never full")
		}
	}
	if _, err := l.ByClaim(t.Context(), "none"); !errors.Is(err, ledger.ErrNotFound) {
		t.Errorf("reading from a full disk: %v", err)
	}
	if err := os.Remove(ballast); err != nil {
		t.Fatal(err)
	}
	for _, e := range ledgertest.Entries("after", 10) {
		a.append(l, e)
	}
	a.check(url, l)
}

// randomBytes are such as cannot be compressed.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}
