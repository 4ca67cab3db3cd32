package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/proof"
	"riffle/internal/witness/witnesstest"
)

// A witness is one that this test has started.
type witness struct {
	*witnesstest.Witness
	url string
}

// newWitness starts a witness that knows no log yet.
func newWitness(t *testing.T, name string) *witness {
	t.Helper()
	w, err := witnesstest.New(name)
	require.NoError(t, err)
	web := httptest.NewServer(w)
	t.Cleanup(web.Close)
	return &witness{w, web.URL}
}

// knows has witnesses accept a log.
func knows(t *testing.T, key string, witnesses ...*witness) {
	t.Helper()
	for _, w := range witnesses {
		require.NoError(t, w.Know(key))
	}
}

// writePolicy writes a policy in which two of the witnesses suffice.
func writePolicy(t *testing.T, witnesses ...*witness) (path string) {
	t.Helper()
	text, names := "", ""
	for _, w := range witnesses {
		text += fmt.Sprintf("witness %s %s %s\n", w.Name, w.Key, w.url)
		names += " " + w.Name
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
	two.Set(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	witnessed("one", "three")
	three.Set(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	two.Set(nil)
	until(t, "two is asked again", func() bool {
		s.shuffle(smallShuffle)
		return len(cosigners(t, policy, s.get("/log/checkpoint").body)) == 2
	})
	s.stop()
	s = l.start(t)
	three.Set(nil)
	one.Forget()
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
	assert.Contains(t, string(s.get("/metrics").body), `riffle_witness_answers_total{result="other-history",witness="one"}`)
}
