package postgres

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// rounds is the number of faults in a test, which RIFFLE_NIGHTLY increases.
func rounds(usual, nightly int) int {
	if os.Getenv("RIFFLE_NIGHTLY") != "" {
		return nightly
	}
	return usual
}

// syncLength is the length of the protocol's Sync message, which ends a request. The message before
// it executes the batch.
const syncLength = 5

// A cut is the point in a request at which the proxy cuts the connection.
type cut int

const (
	nowhere cut = iota
	beforeBatch
	withinBatch // shortly before its end; the connection to the server stays open for halfOpen
	beforeResponse
)

// A proxy cuts connections between a store and a server, and counts cancel requests.
type proxy struct {
	listener net.Listener
	cancels  atomic.Int64 // connections that asked the server to cancel a statement

	mu   sync.Mutex
	cut  cut // of the next request that contains mark
	mark []byte
	cuts int // number of cuts
}

// halfOpen is the time until a server notices that the client is gone, as it does by keepalives. The
// transaction may have locked the head's row meanwhile.
const halfOpen = time.Second

func newProxy(t *testing.T, to *postgrestest.Cluster) *proxy {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	p := &proxy{listener: l}
	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to.Address())
			if err != nil {
				_ = client.Close()
				continue
			}
			marked := make(chan struct{})
			wait.Go(func() { p.forwardRequests(client, server, marked) })
			wait.Go(func() { p.forwardResponses(client, server, marked) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
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

// nextCut returns where to cut the request, and disarms the proxy.
func (p *proxy) nextCut(data []byte) cut {
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

func (p *proxy) forwardRequests(client, server net.Conn, marked chan struct{}) {
	defer func() { _ = client.Close() }()
	buffer := make([]byte, 1<<20)
	for first := true; ; first = false {
		n, err := client.Read(buffer)
		if err != nil {
			_ = server.Close()
			return
		}
		const cancelRequest = 80877102 // follows the first message's length
		if first && n >= 8 && binary.BigEndian.Uint32(buffer[4:]) == cancelRequest {
			p.cancels.Add(1)
		}
		switch p.nextCut(buffer[:n]) {
		case beforeBatch:
			_ = server.Close()
			return
		case withinBatch:
			_, _ = server.Write(buffer[:n-syncLength-1])
			time.AfterFunc(halfOpen, func() { _ = server.Close() })
			return
		case beforeResponse:
			close(marked)
		case nowhere:
		}
		if _, err := server.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func (p *proxy) forwardResponses(client, server net.Conn, marked chan struct{}) {
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

func TestConnectionLostDuringCommit(t *testing.T) {
	for name, at := range map[string]cut{"before the batch": beforeBatch, "within the batch": withinBatch, "before the response": beforeResponse} {
		for _, others := range []int{0, 4} {
			t.Run(fmt.Sprintf("%s, %d others", name, others), func(t *testing.T) {
				t.Parallel()
				url, key, p := newDatabase(t), newKeyFile(t), newProxy(t, cluster)
				l, other := openLog(t, p.url(t, url), key), openLog(t, url, key)
				w := newWorkload(t)
				rounds := rounds(3, 10)
				for round := range rounds {
					label := fmt.Sprint("cut ", round)
					p.arm(at, fmt.Sprintf("%q", label))
					var wait sync.WaitGroup
					for i, e := range ledgertest.Entries(label, 3) {
						if i == 1 {
							e.Claims = []ledger.Claim{{Name: label}}
						}
						wait.Go(func() { w.append(l, e) })
					}
					for caller := range others {
						wait.Go(func() {
							for _, e := range ledgertest.Entries(fmt.Sprint("other ", caller, round), 10) {
								w.append(other, e)
							}
						})
					}
					wait.Wait()
				}
				assert.Equal(t, rounds, p.cuts, "the connection was cut")
				w.check(url, l, other)
			})
		}
	}
}

// The server ends the session of a client that stalls while its transaction has locked the head's
// row.
func TestStalledTransactionIsEnded(t *testing.T) {
	t.Parallel()
	url, key := newDatabase(t), newKeyFile(t)
	l := openLog(t, url, key)
	w := newWorkload(t)
	w.append(l, ledgertest.Entries("before", 1)[0])
	config, err := parseURL(withParameter(url, "idle_in_transaction_session_timeout=300ms"), true)
	require.NoError(t, err)
	stalled, err := pgx.ConnectConfig(t.Context(), config.ConnConfig)
	require.NoError(t, err)
	defer func() { _ = stalled.Close(t.Context()) }()
	_, err = stalled.Exec(t.Context(), "BEGIN; UPDATE head SET size = size")
	require.NoError(t, err)
	w.append(l, ledgertest.Entries("while it has the lock", 1)[0])
	_, err = stalled.Exec(t.Context(), "COMMIT")
	var e *pgconn.PgError
	assert.Truef(t, errors.As(err, &e), "the stalled client: %v, want SQLSTATE", err)
	assert.Equalf(t, idleInTransaction, e.Code, "the stalled client: %v, want SQLSTATE", err)
	w.check(url, l)
}

func TestFullDiskRecovers(t *testing.T) {
	t.Parallel()
	url, key := newDatabase(t), newKeyFile(t)
	disk := cluster.SmallDisk(t, database(t, url), 20<<20)
	l := openLog(t, url, key)
	w := newWorkload(t)
	w.append(l, ledgertest.Entries("before", 1)[0])
	ballast := filepath.Join(disk, "ballast")
	require.NoError(t, os.WriteFile(ballast, make([]byte, 4<<20), 0o600))
	rejected := 0
	for i := 0; rejected < 3; i++ {
		entry := ledgertest.Entries(fmt.Sprint("filling ", i), 1)[0]
		entry.Record = randomBytes(60_000)
		index, err := l.Append(entry)
		switch {
		case err == nil:
			w.indexes[entry.ID.String()] = index
		case errors.Is(err, ledger.ErrNoSpace) && !errors.Is(err, ledger.ErrBroken):
			rejected++
		default:
			t.Fatal(err)
		}
		require.NotEqual(t, 1000, i, "the disk did not fill up")
	}
	_, err := l.ByClaim(t.Context(), "none")
	assert.ErrorIs(t, err, ledger.ErrNotFound, "reading from a full disk")
	require.NoError(t, os.Remove(ballast))
	for _, e := range ledgertest.Entries("after", 10) {
		w.append(l, e)
	}
	w.check(url, l)
}

func randomBytes(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(rand.Uint32())
	}
	return b
}
