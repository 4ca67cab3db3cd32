package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// longList is a list of JSON strings of all lengths, most of them short.
func longList(items int) string {
	random := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	for i := range items {
		length := random.IntN(30)
		if i%10_000 == 0 {
			length = 100_000
		}
		fmt.Fprintf(&b, `,"%d%s"`, i, strings.Repeat("x", length))
	}
	return "[" + b.String()[1:] + "]"
}

// TestLongListIsTheShuffleThatWasAskedForOnce asks for the same order in the two ways that are answered in different ways: as one
// list, which is written while it is shuffled, and as the only one of several.
func TestLongListIsTheShuffleThatWasAskedForOnce(t *testing.T) {
	list := longList(70_001)
	now := func() time.Time { return time.Unix(1_800_000_000, 0) }
	answers := func(more string) []byte {
		s := start(t, setup{random: rand.NewChaCha8([32]byte{7}), now: now})
		r := s.answer(post(t, "/shuffle", `{"items":`+list+more+`}`))
		if r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s", more, r.StatusCode, read(t, r))
		}
		return read(t, r)
	}
	for _, more := range []string{
		``, `,"algorithm":"sattolo"`, `,"algorithm":"durstenfeld"`, `,"algorithm":"inside-out"`, `,"algorithm":"strike-out"`,
		`,"draw":32768`, `,"draw":70000`, `,"draw":40000,"algorithm":"sattolo"`, `,"draw":40000,"algorithm":"durstenfeld"`,
	} {
		var one struct {
			AuditID string `json:"audit_id"`
			Items   json.RawMessage
		}
		var several struct {
			AuditID  string `json:"audit_id"`
			Shuffles []json.RawMessage
		}
		if err := json.Unmarshal(answers(more), &one); err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		if err := json.Unmarshal(answers(more+`,"repeat":1`), &several); err != nil {
			t.Fatalf("%s: %v", more, err)
		}
		if one.AuditID != several.AuditID || len(several.Shuffles) != 1 || !bytes.Equal(one.Items, several.Shuffles[0]) {
			t.Errorf("%s: lists of %d and %d bytes differ", more, len(one.Items), len(several.Shuffles[0]))
		}
	}
}

// A leaver is a caller who is gone once some of the answer has been written.
type leaver struct {
	header http.Header
	left   int // how many bytes it takes
}

func (l *leaver) Header() http.Header { return l.header }
func (l *leaver) WriteHeader(int)     {}
func (l *leaver) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, context.Canceled
	}
	return len(p), nil
}

// TestCallersWhoLeaveLongListsLeaveNothingBehind has callers leave while their list is being shuffled, and others take the room
// that it stood in at once. The race detector would see two of them in it.
func TestCallersWhoLeaveLongListsLeaveNothingBehind(t *testing.T) {
	s := start(t, setup{})
	body := `{"items":[` + strings.Repeat("1,", 300_000) + `1]}`
	var callers sync.WaitGroup
	for caller := range 3 {
		callers.Go(func() {
			for range 8 {
				s.abort(t, &leaver{header: http.Header{}, left: caller << 10}, post(t, "/shuffle", body))
			}
		})
	}
	callers.Wait()
	r := s.answer(post(t, "/shuffle", body))
	if r.StatusCode != http.StatusOK || !json.Valid(read(t, r)) {
		t.Errorf("afterwards: %d", r.StatusCode)
	}
}
