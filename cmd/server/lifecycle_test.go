package main_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// TestStopAnswersWhatItAccepted stops the server in the middle of a load. What was answered is in the log, and what is
// in the log was answered: nobody is left with a shuffle that was recorded and not told.
func TestStopAnswersWhatItAccepted(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{syscall.SIGTERM, os.Interrupt} {
		t.Run(fmt.Sprint(signal), func(t *testing.T) {
			s := launch{}.start(t)
			done := make(chan *load)
			go func() { done <- s.press(16, 1<<30, small) }()
			until(t, "some shuffles are answered", func() bool { return s.metric("riffle_items_shuffled_total", "") >= 20*200 })
			s.signal(signal)
			if code := s.wait(); code != 0 {
				t.Errorf("the server ended with %d:\n%s", code, s.log)
			}
			if _, err := os.Stat(filepath.Join(s.data, "riffle.db-wal")); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("the write-ahead log was not copied back: %v", err)
			}
			l := <-done
			for _, err := range l.broken {
				if errors.Is(err, errCutOff) {
					t.Error(err)
				}
			}
			if len(l.refused) > 0 {
				t.Errorf("accepted requests were refused: %s", counts(l.refused))
			}
			if held := (launch{data: s.data}).start(t).holds("fault", l.dealt); held != len(l.dealt) {
				t.Errorf("%d shuffles were answered, and the log holds %d", len(l.dealt), held)
			}
			t.Logf("%d answers", len(l.dealt))
		})
	}
}

// TestStopAnswersALongRequest stops the server while it sends a long answer to a slow caller.
func TestStopAnswersALongRequest(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	response, err := s.client.Post("http://"+s.addr+"/shuffle", "application/json", strings.NewReader(`{"size": 1000000, "repeat": 5}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	s.signal(syscall.SIGTERM)
	until(t, "no new connection is accepted", func() bool {
		_, err := s.ask(http.MethodGet, "/healthz", "")
		return errors.Is(err, syscall.ECONNREFUSED)
	})
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil || !bytes.HasSuffix(text.Bytes(), []byte("\"}\n")) {
		t.Errorf("after %d bytes: %v", text.Len(), err)
	}
	if code := s.wait(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
}

// TestDrainSaysNotReadyAndAnswers has the server wait for load balancers before it stops.
func TestDrainSaysNotReadyAndAnswers(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-drain", "1s"}}.start(t)
	answered := []dealt{s.deal(small)}
	s.signal(syscall.SIGTERM)
	for {
		a, err := s.ask(http.MethodGet, "/readyz", "")
		if err != nil {
			t.Fatalf("the server stopped without saying that it is not ready: %v", err)
		}
		if a.status != http.StatusOK {
			a.problem(t, http.StatusServiceUnavailable)
			break
		}
	}
	if a := s.get("/healthz"); a.status != http.StatusOK {
		t.Errorf("while it drains /healthz answers %v", a)
	}
	answered = append(answered, s.deal(small))
	if code := s.wait(); code != 0 {
		t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
	launch{data: s.data}.start(t).holds("fault", answered)
}

// TestGraceEnds has a caller that never takes its answer. The server ends all the same, and says that it was not well.
func TestGraceEnds(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-grace", "100ms"}}.start(t)
	response, err := s.client.Post("http://"+s.addr+"/shuffle", "application/json", strings.NewReader(`{"size": 1000000, "repeat": 10}`))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	s.signal(syscall.SIGTERM)
	if code := s.wait(); code != 1 || !strings.Contains(s.log.String(), "still in flight after 100ms") {
		t.Errorf("the server ended with %d:\n%s", code, s.log)
	}
	if _, err := new(bytes.Buffer).ReadFrom(response.Body); err == nil {
		t.Error("the answer that was cut off looks whole")
	}
}

func TestFurtherSignalEndsAtOnce(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-drain", "1h"}}.start(t)
	answered := s.press(4, 5, small).dealt
	s.signal(syscall.SIGTERM)
	until(t, "the server says that it is stopping", func() bool { return s.get("/readyz").status == http.StatusServiceUnavailable })
	until(t, "a further signal ends the server", func() bool {
		_ = s.cmd.Process.Signal(syscall.SIGTERM) // which may have ended just now
		select {
		case <-s.ended:
			return true
		default:
			return false
		}
	})
	if s.code() == 0 {
		t.Errorf("the server ended well in the middle of stopping:\n%s", s.log)
	}
	s = launch{data: s.data}.start(t)
	s.holds("fault", answered)
}

// TestEverythingIsThereAfterRestart compares what is served before and after.
func TestEverythingIsThereAfterRestart(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	answered := s.press(4, 5, small).dealt
	revealed := answered[3]
	if a := s.post("/audits/"+revealed.AuditID+"/reveal", `{"seed": "`+revealed.Seed+`"}`); a.status != http.StatusOK {
		t.Fatal(a)
	}
	paths := []string{"/audits?reference=fault"}
	for _, d := range answered {
		paths = append(paths, "/audits/"+d.AuditID, "/audits/"+d.AuditID+"/verify")
	}
	before := map[string][]byte{}
	for _, p := range paths {
		before[p] = s.get(p).body
	}
	s.stop()
	s = launch{data: s.data}.start(t)
	for _, p := range paths {
		if a := s.get(p); a.status != http.StatusOK || !bytes.Equal(a.body, before[p]) {
			t.Errorf("%s was %s and is %v", p, before[p], a)
		}
	}
	s.holds("fault", answered)
}

// TestSeedsStaySecret looks for seeds wherever somebody else than their caller could read.
func TestSeedsStaySecret(t *testing.T) {
	t.Parallel()
	s := launch{args: []string{"-log-level", "debug", "-queue", "8"}}.start(t)
	answered := s.press(32, 8, small).dealt
	for _, body := range []string{`{"deck": "standard52", "reference": "fault"}`, `{"deck": "undercover", "reference": "fault"}`, `{"items": [1, 2, 3, 4], "client_seed": "c", "reference": "fault"}`} {
		var d dealt
		a := s.post("/shuffle", body)
		if a.status != http.StatusOK {
			t.Fatal(a)
		}
		d.AuditID, d.Seed = member(t, a, "audit_id"), member(t, a, "seed")
		answered = append(answered, d)
	}
	public := answered[len(answered)-1]
	if a := s.post("/audits/"+public.AuditID+"/reveal", `{"seed": "`+public.Seed+`"}`); a.status != http.StatusOK {
		t.Fatal(a)
	}
	answered = answered[:len(answered)-1]

	// What a stranger can ask, and what goes wrong with seeds in hand.
	seen := map[string][]byte{}
	look := func(method, path, body string, headers ...string) {
		t.Helper()
		a, err := s.ask(method, path, body, headers...)
		if err != nil {
			t.Fatal(err)
		}
		seen[method+" "+path+" "+body] = append(fmt.Appendln(nil, a.header), a.body...)
	}
	for i, d := range answered {
		other := answered[(i+1)%len(answered)]
		look(http.MethodGet, "/audits/"+d.AuditID, "")
		look(http.MethodGet, "/audits/"+d.AuditID+"/verify", "")
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+other.Seed+`"}`)
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`0"}`)
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`", "seed": 1}`)
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed)
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `"`+d.Seed+`"`)
		look(http.MethodPost, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`"}`, "Content-Type", "text/plain")
		look(http.MethodGet, "/audits/"+d.Seed, "")
		look(http.MethodPost, "/nothing/here", `{"seed": "`+d.Seed+`"}`)
		look(http.MethodDelete, "/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`"}`)
		look(http.MethodPost, "/shuffle", `{"size": 5, "algorithm": "`+d.Seed[:8]+`"}`)
	}
	look(http.MethodGet, "/audits?reference=fault&limit=1000", "")
	look(http.MethodGet, "/metrics", "")
	look(http.MethodGet, "/readyz", "")
	s.stop()
	seen["standard error"] = []byte(s.log.String())
	for _, d := range answered {
		seed, err := hex.DecodeString(d.Seed)
		if err != nil {
			t.Fatal(err)
		}
		forms := [][]byte{[]byte(d.Seed), []byte(strings.ToUpper(d.Seed)), seed, []byte(base64.RawStdEncoding.EncodeToString(seed)), []byte(base64.RawURLEncoding.EncodeToString(seed))}
		for where, text := range seen {
			if slices.ContainsFunc(forms, func(form []byte) bool { return bytes.Contains(text, form) }) {
				t.Errorf("the seed of %s stands in the answer to %s:\n%s", d.AuditID, where, text)
			}
		}
	}
	// The data folder holds seeds, so nobody but its owner may look into it.
	for _, name := range []string{"", "riffle.db", "riffle.db.lock"} {
		info, err := os.Stat(filepath.Join(s.data, name))
		if err != nil {
			t.Fatal(err)
		}
		if name == "" && info.Mode().Perm() != 0o700 {
			t.Errorf("the data folder has the mode %v", info.Mode())
		}
	}
	t.Logf("%d seeds in none of %d places", len(answered), len(seen))
}
