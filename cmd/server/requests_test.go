package main_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/access"
	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// An answer is a response that was read to its end.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a *answer) String() string { return fmt.Sprintf("%d %.500s", a.status, a.body) }

// ask sends a request and reads the answer to its end. The headers are pairs of name and value, with
// Host among them. A body is sent as JSON unless a header says otherwise.
func (s *server) ask(method, path, body string, headers ...string) (*answer, error) {
	request, err := http.NewRequest(method, s.url(path), strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	request.Host = request.Header.Get("Host")
	var conn httptrace.GotConnInfo
	trace := &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) { conn = got }}
	response, err := s.client.Do(request.WithContext(httptrace.WithClientTrace(request.Context(), trace)))
	if err != nil {
		return nil, fmt.Errorf("%w (connection reused: %t, idle for %v)", err, conn.Reused, conn.IdleTime)
	}
	text, err := io.ReadAll(response.Body)
	if err := errors.Join(err, response.Body.Close()); err != nil {
		return nil, fmt.Errorf("%w: status %d, then: %w", errCutOff, response.StatusCode, err)
	}
	return &answer{response.StatusCode, response.Header, text}, nil
}

// errCutOff is the error for an answer that began but is incomplete.
var errCutOff = errors.New("the answer was cut off")

// must is ask for a request that must be answered.
func (s *server) must(method, path, body string, headers ...string) *answer {
	s.t.Helper()
	a, err := s.ask(method, path, body, headers...)
	require.NoErrorf(s.t, err, "%s %s %.200s: %v\n%s", method, path, body, err, s.log)
	return a
}

// get sends a GET request, which must be answered.
func (s *server) get(path string, headers ...string) *answer {
	s.t.Helper()
	return s.must(http.MethodGet, path, "", headers...)
}

// post sends a POST request, which must be answered.
func (s *server) post(path, body string, headers ...string) *answer {
	s.t.Helper()
	return s.must(http.MethodPost, path, body, headers...)
}

// with returns the headers of a caller that has a token, or none if it is empty.
func with(token access.Token, headers ...string) []string {
	if token == "" {
		return headers
	}
	return append(headers, "Authorization", "Bearer "+string(token))
}

// read decodes an answer into v. It must have status 200.
func (s *server) read(a *answer, v any) {
	s.t.Helper()
	require.Truef(s.t, a.status == http.StatusOK, "answered %v, want 200", a)
	require.NoErrorf(s.t, json.Unmarshal(a.body, v), "answered %v", a)
}

// problem checks that an answer is a problem document (RFC 9457) with the status, as the service
// writes them, and returns its detail.
func (a *answer) problem(t *testing.T, status int) string {
	t.Helper()
	var p struct {
		Type, Title, Detail string
		Status              int
	}
	switch err := json.Unmarshal(a.body, &p); {
	case a.status != status:
		t.Errorf("answered %v, want %d", a, status)
	case err != nil || a.header.Get("Content-Type") != "application/problem+json":
		t.Errorf("answered %v as %s, want a problem document", a, a.header.Get("Content-Type"))
	case p.Status != a.status || p.Detail == "" || p.Type == "" || p.Title == "":
		t.Errorf("answered %v, a problem document with status %d and detail %q", a, p.Status, p.Detail)
	case (status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests) && a.header.Get("Retry-After") == "":
		t.Errorf("answered %v without Retry-After", a)
	}
	return p.Detail
}

// textMember returns a string member of a JSON answer.
func textMember(t *testing.T, a *answer, name string) string {
	t.Helper()
	var members map[string]json.RawMessage
	require.NoErrorf(t, json.Unmarshal(a.body, &members), "answered %v", a)
	var text string
	require.NoErrorf(t, json.Unmarshal(members[name], &text), "answered %v", a)
	return text
}

// dial opens a TCP connection to the server.
func (s *server) dial(t *testing.T) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close() })
	require.NoError(t, c.SetReadDeadline(time.Now().Add(waitLimit)))
	return c
}

// sendRaw sends bytes on a new connection and returns the answers until the server closes it. A
// server that keeps it open fails the test.
func (s *server) sendRaw(t *testing.T, text string) []*answer {
	t.Helper()
	c := s.dial(t)
	go func() { _, _ = io.WriteString(c, text) }() // fails if the server closes early
	return readAnswers(t, c)
}

// readAnswers reads answers until the server closes the connection.
func readAnswers(t *testing.T, c net.Conn) (answers []*answer) {
	t.Helper()
	in := bufio.NewReader(c)
	for {
		response, err := http.ReadResponse(in, nil)
		var timeout net.Error
		if errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("the server keeps the connection open after %v", answers)
		} else if err != nil {
			return answers
		}
		text, err := io.ReadAll(response.Body)
		require.NoErrorf(t, err, "%v: status %d, then", errCutOff, response.StatusCode)
		answers = append(answers, &answer{response.StatusCode, response.Header, text})
	}
}

// A shuffled is the answer to a shuffle of a size, and its record as served right afterwards.
type shuffled struct {
	AuditID    string   `json:"audit_id"`
	LogIndex   uint64   `json:"log_index"`
	Items      []uint64 `json:"items"`
	Commitment string   `json:"commitment"`
	Seed       string   `json:"seed"`
	record     []byte   // nil if the server was gone by then
}

// shuffle asks for a shuffle, which must succeed.
func (s *server) shuffle(body string) shuffled {
	s.t.Helper()
	var d shuffled
	s.read(s.post("/shuffle", body), &d)
	return d
}

// A loadResult sums up the answers to many requests.
type loadResult struct {
	mu       sync.Mutex
	answered []shuffled
	rejected map[int]int // answers other than 200, by status
	failed   []error     // requests without a complete answer
}

// load has clients ask for shuffles concurrently, each the given number of times or until a request
// fails.
func (s *server) load(clients, times int, body string) *loadResult {
	l := &loadResult{rejected: map[int]int{}}
	var group sync.WaitGroup
	for range clients {
		group.Go(func() {
			for range times {
				a, err := s.ask(http.MethodPost, "/shuffle", body)
				if !l.add(s, a, err) {
					return
				}
			}
		})
	}
	group.Wait()
	return l
}

// A steadyLoad has clients ask for shuffles until stop is called. Any rejection but 503, and any
// request without an answer, fails the test.
type steadyLoad struct {
	end     chan struct{}
	loading sync.WaitGroup

	mu       sync.Mutex
	answered []shuffled
	rejected int
}

// loadSteadily begins a load of servers of one log.
func loadSteadily(t *testing.T, clients int, servers ...*server) *steadyLoad {
	l := &steadyLoad{end: make(chan struct{})}
	for _, s := range servers {
		l.loading.Go(func() {
			for {
				select {
				case <-l.end:
					return
				case <-time.After(50 * time.Millisecond): // rejections would come by the thousand
				}
				got := s.load(clients, 5, smallShuffle)
				l.mu.Lock()
				l.answered = append(l.answered, got.answered...)
				for status, n := range got.rejected {
					l.rejected += n
					assert.Equalf(t, http.StatusServiceUnavailable, status, "%d requests", n)
				}
				l.mu.Unlock()
				for _, err := range got.failed {
					t.Errorf("a request was not answered: %v; the log beside answers:\n%s", err, answeredLine.ReplaceAllString(s.log.String(), ""))
				}
			}
		})
	}
	return l
}

// answeredLine matches a line of the log for a request that was answered.
var answeredLine = regexp.MustCompile(`(?m)^.*"msg":"request".*"status":(200|503).*\n`)

// stop ends the load and waits for its requests.
func (l *steadyLoad) stop() {
	close(l.end)
	l.loading.Wait()
}

// proceed waits until each of the servers has answered many shuffles more.
func proceed(t *testing.T, servers ...*server) {
	t.Helper()
	shuffled := func(s *server) float64 { return s.metric("riffle_items_shuffled_total", "") }
	wanted := make([]float64, len(servers))
	for i, s := range servers {
		wanted[i] = shuffled(s) + 20*20
	}
	for i, s := range servers {
		until(t, "shuffles are answered", func() bool { return shuffled(s) > wanted[i] })
	}
}

// add adds an answer, and the record of a shuffle, and reports whether the answer was complete.
func (l *loadResult) add(s *server, a *answer, err error) bool {
	var d shuffled
	switch {
	case err != nil:
	case a.status == http.StatusOK:
		if err = json.Unmarshal(a.body, &d); err != nil {
			err = fmt.Errorf("%w: %w", errCutOff, err)
			break
		}
		var shown struct{ Record json.RawMessage }
		if a, err := s.ask(http.MethodGet, "/audits/"+d.AuditID, ""); err == nil && json.Unmarshal(a.body, &shown) == nil {
			d.record = shown.Record
		}
	default:
		a.problem(s.t, a.status)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.failed = append(l.failed, err)
	case a.status == http.StatusOK:
		l.answered = append(l.answered, d)
	default:
		l.rejected[a.status]++
	}
	return err == nil
}

// A listedRecord is a record in the log.
type listedRecord struct {
	AuditID  string          `json:"audit_id"`
	LogIndex uint64          `json:"log_index"`
	Record   json.RawMessage `json:"record"`
	Revealed bool            `json:"revealed"`
}

// records returns all records of a reference.
func (s *server) records(reference string) []listedRecord {
	s.t.Helper()
	var all []listedRecord
	for from := uint64(0); ; {
		var page struct {
			Audits []listedRecord
			Next   *uint64
		}
		s.read(s.get(fmt.Sprintf("/audits?reference=%s&limit=1000&from=%d", reference, from)), &page)
		all = append(all, page.Audits...)
		if page.Next == nil {
			return all
		}
		from = *page.Next
	}
}

// A keyed is a request with an idempotency key, and its first answer; nil until one arrives.
type keyed struct {
	path, body, key, reference string
	first                      []byte
}

// newKeyed returns n requests, each with its own key and reference. Every other one is a
// commitment.
func newKeyed(label string, n int) (list []*keyed) {
	for i := range n {
		name := fmt.Sprintf("%s-%d", label, i)
		list = append(list, &keyed{
			path: []string{"/shuffle", "/commitments"}[i%2], body: fmt.Sprintf(`{"size": 20, "reference": %q}`, name), key: "key-" + name, reference: name,
		})
	}
	return list
}

// errRetryAfter is the error for an answer with Retry-After.
var errRetryAfter = errors.New("to be sent again")

// send sends the request. An answer of 200 must equal the first one.
func (k *keyed) send(s *server) error {
	a, err := s.ask(http.MethodPost, k.path, k.body, "Idempotency-Key", k.key)
	switch {
	case err != nil:
		return err
	case a.header.Get("Retry-After") != "":
		return fmt.Errorf("%w: answered %v", errRetryAfter, a)
	case a.status != http.StatusOK:
		return fmt.Errorf("answered %v", a)
	case k.first != nil && !bytes.Equal(a.body, k.first):
		s.t.Errorf("%s with the key %s was answered\n%s and then\n%s", k.path, k.key, k.first, a.body)
	}
	k.first = a.body
	return nil
}

// sendAgain sends the request until the answer has no Retry-After.
func (k *keyed) sendAgain(s *server) (err error) {
	until(s.t, k.path+" is answered without Retry-After", func() bool {
		err = k.send(s)
		return !errors.Is(err, errRetryAfter)
	})
	return err
}

// sendAll sends requests concurrently, to the servers in turn, and returns the number of answers 200.
func sendAll(list []*keyed, send func(*keyed, *server) error, servers ...*server) (answered int) {
	var group sync.WaitGroup
	errs := make([]error, len(list))
	for i, k := range list {
		group.Go(func() { errs[i] = send(k, servers[i%len(servers)]) })
	}
	group.Wait()
	for _, err := range errs {
		if err == nil {
			answered++
		}
	}
	return answered
}

// fullyChecked is the number of answers that checkLog verifies in full.
const fullyChecked = 100

// checkLog checks that the log has no gap and holds every answered shuffle with its served record. It
// replays and proves the last of them. All records of the log must have the reference. It returns
// their number.
func (s *server) checkLog(reference string, answered []shuffled) int {
	s.t.Helper()
	all := s.records(reference)
	for i, r := range all {
		require.Truef(s.t, r.LogIndex == uint64(i), "record number %d of the log has the index %d: the log has a gap or a duplicate", i, r.LogIndex)
	}
	for i, d := range answered {
		if d.LogIndex >= uint64(len(all)) || all[d.LogIndex].AuditID != d.AuditID {
			s.t.Errorf("%s was answered with index %d and is missing from a log of %d", d.AuditID, d.LogIndex, len(all))
			continue
		}
		record := all[d.LogIndex].Record
		assert.Truef(s.t, d.record == nil || bytes.Equal(record, d.record), "the record of %s was %s and is %s", d.AuditID, d.record, record)
		if i < len(answered)-fullyChecked {
			continue
		}
		// The seed in the answer and the record in the log now must yield the order in the answer.
		seed := make([]byte, len(d.Seed)/2)
		_, err := fmt.Sscanf(d.Seed, "%x", &seed)
		assert.NoErrorf(s.t, err, "the seed %q", d.Seed)
		v := audit.Verify(record, seed, 1<<20)
		assert.Truef(s.t, v.OK && slices.Equal(v.Orders[0], d.Items) && v.Record.Commitment.String() == d.Commitment,
			"record %s with the seed and order of its answer: %+v", record, v.Steps)
		s.checkProof(d, record)
	}
	return len(all)
}

// checkProof checks that an answered shuffle has a proof that verifies offline.
func (s *server) checkProof(d shuffled, record []byte) {
	s.t.Helper()
	answer := s.get("/audits/" + d.AuditID + "/proof")
	file, err := prooffile.Parse(answer.body)
	require.NoErrorf(s.t, err, "answered %v: %v", answer, err)
	verifier, err := prooffile.Verifier(file.LogKey)
	require.NoError(s.t, err)
	checkpoint, err := file.Inclusion.Check(file.Record, verifier)
	assert.Truef(s.t, err == nil && bytes.Equal(file.Record, record) && file.Inclusion.Index == d.LogIndex && checkpoint.Size > d.LogIndex,
		"the proof of record %d, %s: %v, %+v, %+v", d.LogIndex, record, err, file, checkpoint)
}

// checkShedding sends more requests to a server whose commits hang than its queue can hold. It checks
// that the others are answered 503 while the commit still hangs, that memory stays level, and that the
// server recovers after resume.
func (s *server) checkShedding(queue, callers int, resume func()) {
	s.t.Helper()
	ready := func() bool { return s.get("/readyz").status == http.StatusOK }
	require.True(s.t, ready(), "the server is not ready before the first commit")
	// One shuffle starts the first commit. All others arrive while it hangs.
	first, others := make(chan *loadResult), make(chan *loadResult)
	go func() { first <- s.load(1, 1, smallShuffle) }()
	until(s.t, "a commit hangs", func() bool { return !ready() })
	before := s.memory("VmRSS")
	go func() { others <- s.load(callers, 1, smallShuffle) }()
	until(s.t, "all but the queue are shed", func() bool { return s.metric("riffle_http_shed_total", "") >= float64(callers-queue) })
	depth := s.metric("riffle_queue_depth", "")
	assert.Truef(s.t, depth <= float64(queue), "the queue holds %v, more than its capacity of %d", depth, queue)
	during := s.memory("VmRSS")
	resume()
	one, many := <-first, <-others
	answered := slices.Concat(one.answered, many.answered)
	shed := many.rejected[http.StatusServiceUnavailable]
	assert.Truef(s.t, shed == callers-queue && len(answered) == queue+1, "of %d requests %d were answered and %d shed", callers+1, len(answered), shed)
	assert.Truef(s.t, during <= before+64, "memory grew from %d to %d MiB", before, during)
	until(s.t, "the server is ready", ready)
	s.checkLog("fault", answered)
	s.checkOutage("queue")
}

// checkOutage waits until the only outage for a reason is over, and checks that the server has
// logged two lines about it, the second one with the number of requests.
func (s *server) checkOutage(reason string) {
	s.t.Helper()
	logged := func(level string) (list []string) {
		for _, m := range s.messages(level) {
			if m["reason"] == reason {
				list = append(list, fmt.Sprint(m["msg"], " ", m["rejected"]))
			}
		}
		return list
	}
	until(s.t, "the outage is over", func() bool { return len(logged("INFO")) > 0 })
	assert.Equal(s.t, []string{"outage <nil>"}, logged("WARN"))
	rejected := s.metric("riffle_rejected_requests_total", fmt.Sprintf("reason=%q", reason))
	assert.Equal(s.t, []string{fmt.Sprint("outage over ", rejected)}, logged("INFO"))
}

// metric returns the sum of a metric over all label sets that contain the text.
func (s *server) metric(name, labels string) float64 {
	s.t.Helper()
	sum := 0.0
	lines := bufio.NewScanner(bytes.NewReader(s.get("/metrics").body))
	for lines.Scan() {
		rest, ok := strings.CutPrefix(lines.Text(), name)
		if !ok || rest == "" || rest[0] != '{' && rest[0] != ' ' || !strings.Contains(rest, labels) {
			continue
		}
		value, err := strconv.ParseFloat(rest[strings.LastIndexByte(rest, ' ')+1:], 64)
		require.NoError(s.t, err)
		sum += value
	}
	return sum
}
