package main_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// TestRetryAfterFaultHasOneResult kills the server, or fails its disk, at steps of a commit, and repeats
// the requests (F3). Each has exactly one result, whether or not its record was durable. Draws from one
// shoe are among them: each card is dealt once.
func TestRetryAfterFaultHasOneResult(t *testing.T) {
	t.Parallel()
	persisted, lost, answered, drawn, total := 0, 0, 0, 0, 0
	for _, fault := range []string{
		"pwrite64:signal=KILL:when=%d", "fsync:signal=KILL:when=%d", "pwrite64:error=EIO:when=%d", "fsync:error=EIO:when=%d",
	} {
		ns := []int{1, 9}
		if everyFault {
			ns = sequence(1, 60, 1)
		}
		for _, n := range ns {
			data, _, wal := newStore(t)
			s := launch{data: data}.start(t)
			shoe := s.newShoe(`{"deck": "standard52"}`).ID
			s.stop()
			under, _ := strace(t, fmt.Sprintf(fault, n), wal)
			label := fmt.Sprintf("%.8s-%d", strings.ReplaceAll(fault, ":", "-"), n)
			list, draws := newKeyed(label, 6), newDraws(shoe, label, 26)
			s = launch{data: data, wrapper: under}.startOrExit(t)
			if s.addr != "" {
				sendAll(slices.Concat(list, draws), (*keyed).sendAgain, s)
			}
			s.kill()
			s = launch{data: data}.start(t)
			for _, draw := range draws {
				if draw.first != nil {
					drawn++
				}
			}
			total += len(draws)
			for _, k := range list {
				switch there := len(s.records(k.reference)); {
				case k.first != nil:
					answered++
				case there > 0:
					persisted++
				default:
					lost++
				}
			}
			for range 2 {
				assert.Equal(t, len(list), sendAll(list, (*keyed).send, s), fmt.Sprintf(fault, n))
				assert.Equal(t, len(draws), sendAll(draws, (*keyed).sendAgain, s), fmt.Sprintf(fault, n))
				s.stop()
				s = launch{data: data}.start(t)
			}
			for _, k := range list {
				assert.Equal(t, 1, len(s.records(k.reference)), fmt.Sprintf(fault, n))
			}
			dealtOnce(t, draws, 52)
			s.stop()
		}
	}
	t.Logf("%d answered before the fault; of the others %d were in the log and %d were not; %d of %d draws", answered, persisted, lost, drawn, total)
	assert.NotEqual(t, 0, answered, "no fault happened after an answer, or none before a record was durable")
	assert.NotEqual(t, 0, lost, "no fault happened after an answer, or none before a record was durable")
	assert.True(t, drawn > 0 && drawn < total, "no fault happened between two draws")
}

// TestRetryThroughOtherReplicaHasOneResult sends each request to two replicas concurrently, while
// their connections to the database are cut, and then to a replica that has just started.
func TestRetryThroughOtherReplicaHasOneResult(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	replicas := []*server{db.replica().start(t), db.replica().start(t)}
	list := newKeyed("replica", 25)
	for i, k := range list {
		if i%5 == 0 {
			db.cutConnections(t)
		}
		var wait sync.WaitGroup
		twins := [2]keyed{*k, *k}
		outcomes := [2]error{}
		for r := range replicas {
			wait.Go(func() { outcomes[r] = twins[r].send(replicas[r]) })
		}
		wait.Wait()
		if i == len(list)/2 {
			replicas[0].kill()
			replicas[0] = db.replica().start(t)
		}
		for r := range twins {
			if outcomes[r] == nil && k.first != nil && !bytes.Equal(k.first, twins[r].first) {
				t.Errorf("one key was answered\n%s and\n%s", k.first, twins[r].first)
			}
			if outcomes[r] == nil {
				k.first = twins[r].first
			}
		}
	}
	for _, s := range append(replicas, db.replica().start(t)) {
		assert.Equal(t, len(list), sendAll(list, (*keyed).send, s))
		for _, k := range list {
			there := len(s.records(k.reference))
			assert.Equalf(t, 1, there, "%d records of the key %s", there, k.key)
		}
	}
}

// A commitment is an answer about a commitment.
type commitment struct {
	Deadline time.Time `json:"deadline"`
	ID       string    `json:"commitment_id"`
	Hash     string    `json:"commitment"`
	Status   string    `json:"status"`
	AuditID  string    `json:"audit_id"`
}

func (s *server) commit(body string) (c commitment) {
	s.t.Helper()
	s.read(s.post("/commitments", body), &c)
	return c
}

func (s *server) commitment(id string) (c commitment) {
	s.t.Helper()
	s.read(s.get("/commitments/"+id), &c)
	return c
}

// useCommitment requests the committed shuffle.
func (s *server) useCommitment(id string) *answer {
	s.t.Helper()
	return s.post("/shuffle", fmt.Sprintf(`{"commitment_id": %q, "client_seed": "came late"}`, id))
}
