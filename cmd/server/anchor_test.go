package main_test

import (
	"crypto/sha256"
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
)

// A resource is a web server of one object with ETags, which can fail.
type resource struct {
	mu     sync.Mutex
	object []byte
	fault  http.HandlerFunc // in place of the object; nil for none
}

func (b *resource) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body) // or the server does not see that a client leaves
	b.mu.Lock()
	fault := b.fault
	b.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tag := fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(b.object)))
	switch {
	case r.Method == http.MethodPut:
		if b.object == nil && r.Header.Get("If-None-Match") != "*" || b.object != nil && r.Header.Get("If-Match") != tag {
			w.WriteHeader(http.StatusPreconditionFailed)
			return
		}
		b.object = body
	case b.object == nil:
		w.WriteHeader(http.StatusNotFound)
	default:
		w.Header().Set("ETag", tag)
		_, _ = w.Write(b.object)
	}
}

func (b *resource) set(fault http.HandlerFunc) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.fault = fault
}

// TestAnswersToTheServiceAreShort has an anchor and a collector of traces answer with a megabyte
// of header fields.
func TestAnswersToTheServiceAreShort(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Long", strings.Repeat("x", 1<<20))
	}))
	t.Cleanup(web.Close)
	const refused = "server response headers exceeded 65536 bytes"
	launch{args: []string{"--anchor", web.URL}}.refused(t, refused)
	s := launch{env: traced(web.URL, "OTEL_TRACES_SAMPLER=always_on")}.start(t)
	s.shuffle(smallShuffle)
	until(t, "the collector is refused", func() bool { return strings.Contains(s.log.String(), refused) })
}

// TestOldFolderIsNoticed puts an old copy of the whole data folder back. Each kind of anchor notices it.
func TestOldFolderIsNoticed(t *testing.T) {
	t.Parallel()
	web := httptest.NewServer(&resource{})
	t.Cleanup(web.Close)
	for kind, location := range map[string]string{"file": filepath.Join(t.TempDir(), "anchor"), "http": web.URL + "/anchor"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			l := launch{args: []string{"--anchor", location}, data: filepath.Join(t.TempDir(), "data")}
			s := l.start(t)
			s.shuffle(smallShuffle)
			s.stop()
			s = l.start(t)
			s.shuffle(smallShuffle)
			s.stop()
			old := filepath.Join(t.TempDir(), "old")
			require.NoError(t, os.CopyFS(old, os.DirFS(l.data)))
			s = l.start(t)
			s.shuffle(smallShuffle)
			s.stop()
			require.NoError(t, os.RemoveAll(l.data))
			require.NoError(t, os.CopyFS(l.data, os.DirFS(old)))
			l.refused(t, "the store has 2 records, and the anchor ", " is a signed checkpoint of 3: the store lost records, or comes from an older backup")
		})
	}
}

// TestLostAnchor loses each kind of anchor of a log that has records, in two ways.
func TestLostAnchor(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file, objects := filepath.Join(folder, "anchor"), &resource{}
	web := httptest.NewServer(objects)
	t.Cleanup(web.Close)
	for location, lose := range map[string][2]func(){ // to nothing, and to nothing of 0 bytes
		file:    {func() { _ = os.Remove(file) }, func() { _ = os.Truncate(file, 0) }},
		web.URL: {func() { objects.object = nil }, func() { objects.object = []byte{} }},
	} {
		l := launch{args: []string{"--anchor", location}, data: filepath.Join(t.TempDir(), "data")}
		s := l.start(t)
		s.shuffle(smallShuffle)
		s.stop()
		lose[1]()
		l.refused(t, "it is there and empty, so its checkpoint was lost", "start again once one answers")
		lose[0]()
		l.refused(t, "the log has records, and no anchor exists", "only if it is new, start once with --anchor-create")
		again := l
		again.args = append(again.args, "--anchor-create")
		s = again.start(t)
		s.shuffle(smallShuffle)
		s.stop()
		l.start(t).stop()
	}
}

// TestForkEndsTheLog starts an old copy beside the running service, with one anchor that the copy does
// not have at its start. The first of them that sees the records of the other ends.
func TestForkEndsTheLog(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "anchor")
	s := launch{}.start(t)
	s.shuffle(smallShuffle)
	s.stop()
	fork := filepath.Join(t.TempDir(), "fork")
	require.NoError(t, os.CopyFS(fork, os.DirFS(s.data)))
	first := launch{data: s.data, args: []string{"--anchor", place, "--anchor-create"}}.start(t)
	second := launch{data: fork, args: []string{"--anchor", place, "--anchor-create"}}.start(t)
	first.shuffle(smallShuffle)
	second.shuffle(smallShuffle)
	select {
	case <-first.exited:
		s = first
	case <-second.exited:
		s = second
	case <-time.After(waitLimit):
		t.Fatal("both serve")
	}
	assert.Equal(t, 1, s.code())
	assert.Contains(t, s.log.String(), "are of two histories: records were changed, or the log was forked")
}

// TestFailingAnchor has an anchor fail in several ways. The start needs one that answers. A running
// service goes on, and says so once.
func TestFailingAnchor(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]http.HandlerFunc{
		"500":     func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"no ETag": func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") },
		"slow":    func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &resource{}
			web := httptest.NewServer(b)
			t.Cleanup(web.Close)
			file := filepath.Join(t.TempDir(), "anchor")
			one, two := launch{args: []string{"--anchor", web.URL}}, launch{args: []string{"--anchor", web.URL + "," + file, "--anchor-create"}}
			s := one.start(t)
			b.set(fault)
			s.shuffle(smallShuffle)
			until(t, "the failure is logged", func() bool {
				_, ok := s.logged("WARN", "the anchor cannot be compared or advanced; it is tried again")
				return ok
			})
			s.shuffle(smallShuffle)
			s.stop()
			one.refused(t, "cannot be read", "start again once one answers, or without --anchor")
			s = two.start(t)
			_, ok := s.logged("WARN", "an anchor is not compared with the store")
			assert.True(t, ok)
			s.shuffle(smallShuffle)
			s.stop()
		})
	}
}

// TestAnchorThatKeepsNothing has a web server accept every checkpoint and keep none, and then keep
// them.
func TestAnchorThatKeepsNothing(t *testing.T) {
	t.Parallel()
	b := &resource{}
	web := httptest.NewServer(b)
	t.Cleanup(web.Close)
	b.set(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusNotFound)
		}
	})
	s := launch{args: []string{"--anchor", web.URL}}.start(t)
	s.shuffle(smallShuffle)
	until(t, "it is noticed", func() bool {
		return strings.Contains(s.log.String(), "it accepted a newer checkpoint and did not keep it")
	})
	b.set(nil)
	until(t, "it is up to date", func() bool { _, ok := s.logged("INFO", "the anchor is up to date again"); return ok })
}
