package main_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A keyed is a request that carries a key, and what it was answered first; nil if nobody knows.
type keyed struct {
	path, body, key, reference string
	first                      []byte
}

// newKeyed returns requests with keys and references of their own, every other one a commitment.
func newKeyed(label string, n int) (list []*keyed) {
	for i := range n {
		name := fmt.Sprintf("%s-%d", label, i)
		list = append(list, &keyed{
			path: []string{"/shuffle", "/commitments"}[i%2], body: fmt.Sprintf(`{"size": 20, "reference": %q}`, name), key: "key-" + name, reference: name,
		})
	}
	return list
}

// ask sends the request. An answer of 200 has to be the first one again.
func (k *keyed) ask(s *server) error {
	a, err := s.ask(http.MethodPost, k.path, k.body, "Idempotency-Key", k.key)
	switch {
	case err != nil:
		return err
	case a.status != http.StatusOK:
		return fmt.Errorf("answered %v", a)
	case k.first != nil && !bytes.Equal(a.body, k.first):
		s.t.Errorf("%s with the key %s was answered\n%s and then\n%s", k.path, k.key, k.first, a.body)
	}
	k.first = a.body
	return nil
}

// askAll sends requests at the same time, and returns how many have an answer.
func askAll(s *server, list []*keyed) (answered int) {
	var wait sync.WaitGroup
	outcomes := make([]error, len(list))
	for i, k := range list {
		wait.Go(func() { outcomes[i] = k.ask(s) })
	}
	wait.Wait()
	for _, err := range outcomes {
		if err == nil {
			answered++
		}
	}
	return answered
}

// records returns how many records a reference has.
func (s *server) records(reference string) int {
	s.t.Helper()
	var list struct{ Audits []json.RawMessage }
	s.read(s.get("/audits?reference="+reference), &list)
	return len(list.Audits)
}

// TestRetryAfterAFaultIsAnsweredOnce has the server killed, or its disk fail, at each step of making a record durable, and
// then repeats the requests (F3). Whether the record was there already or not, each has one result, and it stays.
func TestRetryAfterAFaultIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	persisted, lost, answered := 0, 0, 0
	for _, fault := range []string{
		"pwrite64:signal=KILL:when=%d", "fsync:signal=KILL:when=%d", "pwrite64:error=EIO:when=%d", "fsync:error=EIO:when=%d",
	} {
		ns := []int{1, 3, 5, 8}
		if everyFault {
			ns = steps(1, 60, 1)
		}
		for _, n := range ns {
			data, _, wal := prepared(t)
			under, _ := strace(t, fmt.Sprintf(fault, n), wal)
			list := newKeyed(fmt.Sprintf("%.8s-%d", strings.ReplaceAll(fault, ":", "-"), n), 6)
			s := launch{data: data, under: under}.try(t)
			if s.addr != "" {
				answered += askAll(s, list)
			}
			s.kill()
			s = launch{data: data}.start(t)
			for _, k := range list {
				switch there := s.records(k.reference); {
				case k.first != nil:
				case there > 0:
					persisted++
				default:
					lost++
				}
			}
			for range 2 {
				if done := askAll(s, list); done != len(list) {
					t.Errorf("%s: %d of %d retries are answered", fmt.Sprintf(fault, n), done, len(list))
				}
				s.stop()
				s = launch{data: data}.start(t)
			}
			for _, k := range list {
				if there := s.records(k.reference); there != 1 {
					t.Errorf("%s: %d records of one key", fmt.Sprintf(fault, n), there)
				}
			}
			s.stop()
		}
	}
	t.Logf("%d answered before the fault; of the others %d were in the log and %d were not", answered, persisted, lost)
	if answered == 0 || lost == 0 {
		t.Error("no fault came after an answer, or none before a record")
	}
}

// TestRetryThroughAnotherReplicaIsAnsweredOnce sends each request to two replicas at once, while their connections to the
// database are cut, and then to one that has just started.
func TestRetryThroughAnotherReplicaIsAnsweredOnce(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	replicas := []*server{db.replica().start(t), db.replica().start(t)}
	list := newKeyed("replica", 60)
	for i, k := range list {
		if i%5 == 0 {
			if err := db.Exec(t.Context(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'riffle_%'"); err != nil {
				t.Error(err)
			}
		}
		var wait sync.WaitGroup
		twins := [2]keyed{*k, *k}
		outcomes := [2]error{}
		for r := range replicas {
			wait.Go(func() { outcomes[r] = twins[r].ask(replicas[r]) })
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
		if done := askAll(s, list); done != len(list) {
			t.Errorf("%d of %d retries are answered", done, len(list))
		}
		for _, k := range list {
			if there := s.records(k.reference); there != 1 {
				t.Errorf("%d records of the key %s", there, k.key)
			}
		}
	}
}

// A commitment is what the service answers of one.
type commitment struct {
	ID      string `json:"commitment_id"`
	Hash    string `json:"commitment"`
	Status  string `json:"status"`
	AuditID string `json:"audit_id"`
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

// use asks for the shuffle of a commitment.
func (s *server) use(id string) *answer {
	s.t.Helper()
	return s.post("/shuffle", fmt.Sprintf(`{"commitment_id": %q, "client_seed": "came late"}`, id))
}

// TestCommitmentSurvivesTheServer uses one after the server was killed, and has one run out while no server runs.
func TestCommitmentSurvivesTheServer(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	c := s.commit(small)
	s.kill()
	s = launch{data: s.data}.start(t)
	if got := s.commitment(c.ID); got.Status != "open" || got.Hash != c.Hash {
		t.Errorf("after a restart the commitment is %+v, and was %+v", got, c)
	}
	if n := s.metric("riffle_commitments", `status="open"`); n != 1 {
		t.Errorf("%v commitments are open after a restart, want 1", n)
	}
	var d dealt
	s.read(s.use(c.ID), &d)
	if d.Commitment != c.Hash {
		t.Errorf("the shuffle %+v is not of the commitment %+v", d, c)
	}
	s.kill()
	s = launch{data: s.data}.start(t)
	if got := s.commitment(c.ID); got.Status != "used" || got.AuditID != d.AuditID {
		t.Errorf("after another restart the commitment is %+v", got)
	}
	s.use(c.ID).problem(t, http.StatusConflict)
	s.stop()

	s = launch{data: s.data, args: []string{"-deadline", "1s"}}.start(t)
	short := s.commit(small)
	s.kill()
	time.Sleep(time.Second)
	s = launch{data: s.data}.start(t)
	s.use(short.ID).problem(t, http.StatusConflict)
	until(t, "the commitment is void", func() bool { return s.commitment(short.ID).Status == "void" })
	s.use(short.ID).problem(t, http.StatusConflict)
	if late, void := s.metric("riffle_commitments_total", `event="late"`), s.metric("riffle_commitments_total", `event="void"`); late != 2 || void != 1 {
		t.Errorf("%v uses came late and %v commitments are void, want 2 and 1", late, void)
	}
	if n := s.records("fault"); n != 4 {
		t.Errorf("the reference has %d records, want two commitments, a shuffle and a void", n)
	}
}

// TestCommitmentWorksThroughAnyReplica makes commitments through one and uses them through two at once. Both also want to
// say that others are void, which the log says once.
func TestCommitmentWorksThroughAnyReplica(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	replicas := []*server{db.replica("-deadline", "3s").start(t), db.replica("-deadline", "3s").start(t)}
	for i := range 20 {
		c := replicas[i%2].commit(`{"deck": "standard52", "reference": "through-any"}`)
		var wait sync.WaitGroup
		var answers [2]*answer
		for r, s := range replicas {
			wait.Go(func() {
				answers[r], _ = s.ask(http.MethodPost, "/shuffle", `{"commitment_id": "`+c.ID+`", "client_seed": "late"}`)
			})
		}
		wait.Wait()
		if answers[0] == nil || answers[1] == nil || answers[0].status+answers[1].status != http.StatusOK+http.StatusConflict {
			t.Fatalf("two uses of one commitment were answered %v and %v", answers[0], answers[1])
		}
	}
	var left []commitment
	for i := range 20 {
		left = append(left, replicas[i%2].commit(`{"deck": "standard52", "reference": "left"}`))
	}
	for i, c := range left {
		until(t, "the commitment is void", func() bool { return replicas[(i+1)%2].commitment(c.ID).Status == "void" })
	}
	if n := replicas[0].records("left"); n != 40 {
		t.Errorf("%d records of 20 commitments that are void, want 40", n)
	}
	if n := replicas[1].records("through-any"); n != 40 {
		t.Errorf("%d records of 20 commitments that were used, want 40", n)
	}
	voided := replicas[0].metric("riffle_commitments_total", `event="void"`) + replicas[1].metric("riffle_commitments_total", `event="void"`)
	if voided != 20 {
		t.Errorf("the replicas say that they made %v commitments void, want 20", voided)
	}
}

// TestSeedKeyIsNeeded starts the server without the key of the seeds, with another one, and with the key in the
// environment.
func TestSeedKeyIsNeeded(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	d := s.deal(small)
	s.stop()
	file := filepath.Join(s.data, "seed.key")
	key, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refused := func(words string, l launch) {
		t.Helper()
		l.data = s.data
		if r := l.try(t); r.addr != "" || r.code() != 1 || !strings.Contains(r.log.String(), words) {
			t.Errorf("the server started, or did not say %q:\n%s", words, r.log)
		}
	}
	refused("put it back from a backup", launch{})
	refused("are encrypted under the key", launch{env: []string{"RIFFLE_SEED_KEY=" + strings.Repeat("00", 32)}})
	refused("64 hex digits", launch{env: []string{"RIFFLE_SEED_KEY=00"}})
	moved := filepath.Join(t.TempDir(), "moved.key")
	if err := os.WriteFile(moved, key, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("set twice", launch{args: []string{"-seed-key", moved}, env: []string{"RIFFLE_SEED_KEY=" + string(bytes.TrimSpace(key))}})
	for _, l := range []launch{
		{env: []string{"RIFFLE_SEED_KEY=" + string(bytes.TrimSpace(key))}}, {args: []string{"-seed-key", moved}}, {env: []string{"RIFFLE_SEED_KEY_FILE=" + moved}},
	} {
		l.data = s.data
		again := l.start(t)
		if a := again.post("/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`"}`); a.status != http.StatusOK {
			t.Errorf("with the key the seed is answered %v", a)
		}
		again.stop()
	}
	db := newDatabase(t)
	db.replica().start(t)
	other := db.replica()
	other.env = append(other.env, "RIFFLE_SEED_KEY="+strings.Repeat("00", 32))
	if r := other.try(t); r.addr != "" || !strings.Contains(r.log.String(), "are encrypted under the key") {
		t.Errorf("a replica with another key started, or did not say why not:\n%s", r.log)
	}
}
