package main_test

import (
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// A smallWitness is a witness by https://c2sp.org/tlog-witness, for one log at a time.
type smallWitness struct {
	name, key string
	signer    note.Signer
	url       string

	mu    sync.Mutex
	log   note.Verifier
	last  proof.Checkpoint
	note  []byte
	fault http.HandlerFunc // in place of the witness; nil for none
}

// newWitness starts a witness that knows no log yet.
func newWitness(t *testing.T, name string) *smallWitness {
	t.Helper()
	secret, public, err := note.GenerateKey(rand.Reader, name+".example")
	require.NoError(t, err)
	w := &smallWitness{name: name}
	w.signer, err = cosignature.NewSignerForCosignatureV1(secret)
	require.NoError(t, err)
	w.key, err = cosignature.VKeyToCosignatureV1(public)
	require.NoError(t, err)
	web := httptest.NewServer(w)
	t.Cleanup(web.Close)
	w.url = web.URL
	return w
}

// set changes the fault.
func (w *smallWitness) set(fault http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// knows has witnesses accept a log.
func knows(t *testing.T, key string, witnesses ...*smallWitness) {
	t.Helper()
	verifier, err := note.NewVerifier(strings.TrimSpace(key))
	require.NoError(t, err)
	for _, w := range witnesses {
		w.mu.Lock()
		w.log = verifier
		w.mu.Unlock()
	}
}

func (w *smallWitness) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault != nil {
		fault(answer, r)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method == http.MethodGet {
		_, _ = answer.Write(w.note)
		return
	}
	status, text := w.add(string(body))
	answer.WriteHeader(status)
	_, _ = io.WriteString(answer, text)
}

// add answers POST /add-checkpoint.
func (w *smallWitness) add(body string) (status int, text string) {
	head, checkpoint, _ := strings.Cut(body, "\n\n")
	lines := strings.Split(head, "\n")
	var old uint64
	if _, err := fmt.Sscanf(lines[0], "old %d", &old); err != nil || w.log == nil {
		return http.StatusNotFound, "unknown log"
	}
	c, err := proof.OpenCheckpoint([]byte(checkpoint), w.log)
	if err != nil {
		return http.StatusForbidden, err.Error()
	}
	var hashes tlog.TreeProof
	for _, line := range lines[1:] {
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != tlog.HashSize {
			return http.StatusBadRequest, "not a hash"
		}
		hashes = append(hashes, tlog.Hash(raw))
	}
	switch {
	case old > c.Size:
		return http.StatusBadRequest, "the old size is larger"
	case old != w.last.Size:
		return http.StatusConflict, fmt.Sprintf("%d\n", w.last.Size)
	case old == c.Size && old > 0 && c.Root != w.last.Root:
		err = errors.New("the same size has another root")
	case old > 0:
		err = tlog.CheckTree(hashes, int64(c.Size), c.Root, int64(old), w.last.Root)
	}
	if err != nil {
		return http.StatusUnprocessableEntity, err.Error()
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, w.signer)
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	_, line, _ := strings.Cut(string(signed), "\n\n")
	w.last, w.note = c, []byte(checkpoint+line)
	return http.StatusOK, line
}

// writePolicy writes a policy in which two of the witnesses suffice.
func writePolicy(t *testing.T, witnesses ...*smallWitness) (path string) {
	t.Helper()
	text, names := "", ""
	for _, w := range witnesses {
		text += fmt.Sprintf("witness %s %s %s\n", w.name, w.key, w.url)
		names += " " + w.name
	}
	text += "group most 2" + names + "\nquorum most\n"
	path = filepath.Join(t.TempDir(), "policy")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// cosigners returns the names of the witnesses that have cosigned a checkpoint.
func cosigners(t *testing.T, policy string, checkpoint []byte) (names []string) {
	t.Helper()
	text, err := os.ReadFile(policy)
	require.NoError(t, err)
	parsed, err := proof.ParsePolicy(text)
	require.NoError(t, err)
	all, _, err := parsed.Cosignatures(proof.Unverified(checkpoint))
	require.NoError(t, err)
	for _, c := range all {
		assert.WithinDuration(t, time.Now(), c.Time, time.Minute)
		names = append(names, c.Witness)
	}
	return names
}

// TestWitnesses has a log witnessed by three, and two suffice: with all, with one dead, with one
// that hangs, with one that lost its state, with one alone, and after a restart.
func TestWitnesses(t *testing.T) {
	t.Parallel()
	one, two, three := newWitness(t, "one"), newWitness(t, "two"), newWitness(t, "three")
	policy := writePolicy(t, one, two, three)
	l := launch{data: filepath.Join(t.TempDir(), "data"), args: []string{"--witness-policy", policy}}
	s := l.start(t)
	s.get("/audits/"+s.shuffle(smallShuffle).AuditID+"/proof?witnessed=true").problem(t, http.StatusServiceUnavailable)
	knows(t, string(s.get("/log/key").body), one, two, three)
	witnessed := func(want ...string) {
		t.Helper()
		d := s.shuffle(smallShuffle)
		until(t, "the proof is witnessed", func() bool {
			return s.get("/audits/"+d.AuditID+"/proof?witnessed=true").status == http.StatusOK
		})
		got := cosigners(t, policy, s.get("/log/checkpoint").body)
		assert.Equal(t, want, got)
	}
	witnessed("one", "two", "three")
	two.set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	witnessed("one", "three")
	three.set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	two.set(nil)
	until(t, "two is asked again", func() bool {
		s.shuffle(smallShuffle)
		return len(cosigners(t, policy, s.get("/log/checkpoint").body)) == 2
	})
	s.stop()
	s = l.start(t)
	three.set(nil)
	one.mu.Lock()
	one.last, one.note = proof.Checkpoint{}, nil
	one.mu.Unlock()
	witnessed("one", "two", "three")
	s.stop()
}

// TestWitnessesOfReplicas has two replicas of a log witnessed by the same two witnesses.
func TestWitnessesOfReplicas(t *testing.T) {
	t.Parallel()
	one, two := newWitness(t, "one"), newWitness(t, "two")
	l := newDatabase(t).replica("--witness-policy", writePolicy(t, one, two))
	replicas := []*server{l.start(t), l.start(t)}
	knows(t, string(replicas[0].get("/log/key").body), one, two)
	for i := range 6 {
		d := replicas[i%2].shuffle(smallShuffle)
		until(t, "both prove it", func() bool {
			path := "/audits/" + d.AuditID + "/proof?witnessed=true"
			return replicas[0].get(path).status == http.StatusOK && replicas[1].get(path).status == http.StatusOK
		})
	}
	for _, s := range replicas {
		assert.NotContains(t, s.log.String(), "another history")
	}
}

// TestWitnessesOfALogThatEnded has a log end, and its last records witnessed, also after a restart.
// The witnesses do not know the log that follows it.
func TestWitnessesOfALogThatEnded(t *testing.T) {
	t.Parallel()
	one, two := newWitness(t, "one"), newWitness(t, "two")
	l := launch{data: filepath.Join(t.TempDir(), "data"), args: []string{"--rotate", "100", "--witness-policy", writePolicy(t, one, two)}}
	s := l.start(t)
	key := string(s.get("/log/key").body)
	knows(t, key, one, two)
	answered := s.load(4, 25, smallShuffle).answered
	until(t, "the next log has begun", func() bool { return string(s.get("/log/key").body) != key })
	for range 2 {
		for _, d := range answered {
			until(t, "it is witnessed", func() bool { return s.get("/audits/"+d.AuditID+"/proof?witnessed=true").status == http.StatusOK })
		}
		s.stop()
		s = l.start(t)
	}
}

// TestWitnessOfAnotherHistory puts an older copy of a log back and lets it grow. The witnesses
// refuse it for good, and both notes are kept.
func TestWitnessOfAnotherHistory(t *testing.T) {
	t.Parallel()
	one, two := newWitness(t, "one"), newWitness(t, "two")
	l := launch{data: filepath.Join(t.TempDir(), "data"), args: []string{"--witness-policy", writePolicy(t, one, two)}}
	s := l.start(t)
	knows(t, string(s.get("/log/key").body), one, two)
	s.shuffle(smallShuffle)
	s.stop()
	older := filepath.Join(t.TempDir(), "older")
	require.NoError(t, os.CopyFS(older, os.DirFS(l.data)))
	s = l.start(t)
	for range 3 {
		s.shuffle(smallShuffle)
	}
	last := s.shuffle(smallShuffle)
	until(t, "all is witnessed", func() bool {
		return s.get("/audits/"+last.AuditID+"/proof?witnessed=true").status == http.StatusOK
	})
	s.kill()
	s = launch{data: older, args: l.args}.start(t)
	s.shuffle(smallShuffle)
	until(t, "the witnesses are ahead", func() bool { return strings.Contains(s.log.String(), "it has cosigned a newer checkpoint of this log") })
	for range 9 {
		s.shuffle(smallShuffle)
	}
	until(t, "the other history is noticed", func() bool {
		_, found := s.logged("ERROR", "a witness has cosigned another history of this log: somebody has forked it, or an older copy of its store goes on")
		return found
	})
	notes, err := os.ReadFile(filepath.Join(older, "other-history-one.txt"))
	require.NoError(t, err)
	assert.Equal(t, 2, strings.Count(string(notes), "\n— riffle/"), "both are signed by the log: %s", notes)
	s.get("/audits/"+s.shuffle(smallShuffle).AuditID+"/proof?witnessed=true").problem(t, http.StatusServiceUnavailable)
	assert.Contains(t, string(s.get("/metrics").body), `riffle_witness_answers_total{log="main",result="other-history",witness="one"}`)
}
