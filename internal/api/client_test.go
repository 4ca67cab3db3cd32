package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// request returns a request without a body.
func request(t testing.TB, method, target string) *http.Request {
	return httptest.NewRequestWithContext(t.Context(), method, target, nil)
}

func get(t testing.TB, target string) *http.Request { return request(t, http.MethodGet, target) }

// post returns a POST request with a JSON body.
func post(t testing.TB, target, body string) *http.Request {
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func del(t testing.TB, target string) *http.Request { return request(t, http.MethodDelete, target) }

// keyed sets the Idempotency-Key of a request, without quoting it.
func keyed(r *http.Request, key string) *http.Request {
	r.Header.Set("Idempotency-Key", key)
	return r
}

// ifMatch sets the entity tag that a shoe has to have.
func ifMatch(r *http.Request, tag string) *http.Request {
	r.Header.Set("If-Match", tag)
	return r
}

// A requestFunc returns the same request each time, for retries: a request can be sent only once.
type requestFunc func(testing.TB) *http.Request

func postFunc(target, body string) requestFunc {
	return func(t testing.TB) *http.Request { return post(t, target, body) }
}

func getFunc(target string) requestFunc {
	return func(t testing.TB) *http.Request { return get(t, target) }
}

// do sends a request to the service, without a network.
func (s *service) do(r *http.Request) *http.Response {
	if r.Header.Get("X-Request-Id") == "" { // or answers would differ
		r.Header.Set("X-Request-Id", "test")
	}
	w := httptest.NewRecorder()
	if s.panics {
		s.ServeHTTP(&panickingWriter{ResponseRecorder: w}, r)
	} else {
		s.ServeHTTP(w, r)
	}
	return w.Result()
}

// send sends a request to the service and reads the response.
func (s *service) send(t testing.TB, r *http.Request) response {
	t.Helper()
	answer := s.do(r)
	return response{answer.StatusCode, answer.Header, string(readBody(t, answer))}
}

// sendCanceled sends a request whose client has left, and checks that the handler aborts the
// connection.
func (s *service) sendCanceled(t testing.TB, r *http.Request) {
	t.Helper()
	ctx, cancel := context.WithCancel(r.Context())
	cancel()
	defer func() {
		if p := recover(); p != http.ErrAbortHandler { //nolint:errorlint // net/http compares it with ==
			t.Errorf("the handler panicked with %v, want http.ErrAbortHandler", p)
		}
	}()
	s.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
}

// ask sends a request, which must succeed, and decodes the answer.
func ask[T any](t testing.TB, s *service, r *http.Request) (answer T) {
	t.Helper()
	got := s.send(t, r)
	err := json.Unmarshal([]byte(got.body), &answer)
	require.Truef(t, err == nil && got.status == http.StatusOK, "%s %s: %d %.500s (%v)", r.Method, r.RequestURI, got.status, got.body, err)
	return answer
}

// readBody returns the whole body of a response.
func readBody(t testing.TB, r *http.Response) []byte {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	require.NoError(t, errors.Join(err, r.Body.Close()))
	return body
}

// A response is a response with its body read, so that two can be compared.
type response struct {
	status int
	header http.Header
	body   string
}

// problem parses a problem document, and returns the pointer of its first error and its audit id.
func (r response) problem(t testing.TB) (pointer, audit string) {
	t.Helper()
	var p struct {
		AuditID string `json:"audit_id"`
		Errors  []struct{ Pointer string }
	}
	require.NoErrorf(t, json.Unmarshal([]byte(r.body), &p), "not a problem document: %s", r.body)
	require.Equalf(t, "application/problem+json", r.header.Get("Content-Type"), "not a problem document: %s", r.body)
	if len(p.Errors) > 0 {
		pointer = p.Errors[0].Pointer
	}
	return pointer, p.AuditID
}

// A shuffleResult is what tests need of the answer to a shuffle.
type shuffleResult struct {
	LogIndex uint64 `json:"log_index"`
	AuditID  string `json:"audit_id"`
	Seed     string `json:"seed"`
}

func mustShuffle(t testing.TB, s *service, request string) shuffleResult {
	t.Helper()
	return ask[shuffleResult](t, s, post(t, "/shuffle", request))
}

// A commitmentResult is what tests need of the answer to POST /commitments.
type commitmentResult struct {
	CommitmentID string    `json:"commitment_id"`
	LogIndex     uint64    `json:"log_index"`
	Commitment   string    `json:"commitment"`
	Deadline     time.Time `json:"deadline"`
}

func mustCommit(t testing.TB, s *service, request string) commitmentResult {
	t.Helper()
	return ask[commitmentResult](t, s, post(t, "/commitments", request))
}

// commitmentID returns the id in an answer to POST /commitments.
func commitmentID(t testing.TB, body string) string {
	t.Helper()
	var made commitmentResult
	err := json.Unmarshal([]byte(body), &made)
	require.Truef(t, err == nil && made.CommitmentID != "", "%v: %s", err, body)
	return made.CommitmentID
}

// useCommitment returns a request for the shuffle of a commitment. The members are added to its
// body.
func useCommitment(t testing.TB, c commitmentResult, members string) *http.Request {
	return post(t, "/shuffle", `{"commitment_id":"`+c.CommitmentID+`","client_seed":"x"`+members+`}`)
}

// A commitmentState is the answer to GET /commitments/{id}.
type commitmentState struct {
	commitmentResult
	Statement string
	Status    string
	AuditID   string `json:"audit_id"` // empty for null
}

func getCommitment(t testing.TB, s *service, id string) commitmentState {
	t.Helper()
	return ask[commitmentState](t, s, get(t, "/commitments/"+id))
}

// A shownAudit is the answer to GET /audits/{id}.
type shownAudit struct {
	Record json.RawMessage
	Seed   *string
}

func getAudit(t testing.TB, s *service, id string) shownAudit {
	t.Helper()
	return ask[shownAudit](t, s, get(t, "/audits/"+id))
}

// A shoeResult is what tests need of an answer that sealed an order: POST /shoes or a reshuffle.
type shoeResult struct {
	ShoeID     string `json:"shoe_id"`
	AuditID    string `json:"audit_id"`
	LogIndex   uint64 `json:"log_index"`
	Commitment string `json:"commitment"`
	Root       string `json:"root"`
	Size       uint64 `json:"size"`
}

// path returns the path of the shoe.
func (s shoeResult) path() string { return "/shoes/" + s.ShoeID }

func mustCreateShoe(t testing.TB, s *service, request string) shoeResult {
	t.Helper()
	return ask[shoeResult](t, s, post(t, "/shoes", request))
}

// A shoeCard is a card in an answer, with its proof if that was requested.
type shoeCard struct {
	Card     uint64
	Code     string
	Instance int
	Item     json.RawMessage
	Position uint64
	SealedBy string `json:"sealed_by"`
	Salt     string
	Path     []string
}

// A shoeState has members of answers about a shoe. Each answer has some of them.
type shoeState struct {
	shoeResult
	ChangedBy string `json:"changed_by"`
	Version   uint64
	Status    string
	Expires   *time.Time
	Cut       *uint64
	AtCut     *bool `json:"cut_reached"`
	Cards     []shoeCard
}

// cardNumbers returns the numbers of the cards in the answer.
func (a shoeState) cardNumbers() (numbers []uint64) {
	for _, c := range a.Cards {
		numbers = append(numbers, c.Card)
	}
	return numbers
}

// mustShoe sends a request about a shoe, which must succeed, and checks the headers of the answer.
func (s *service) mustShoe(t testing.TB, r *http.Request) (a shoeState) {
	t.Helper()
	got := s.send(t, r)
	err := json.Unmarshal([]byte(got.body), &a)
	require.Truef(t, err == nil && got.status == http.StatusOK, "%s %s: %d %.500s (%v)", r.Method, r.RequestURI, got.status, got.body, err)
	if tag := got.header.Get("Etag"); tag != fmt.Sprintf(`"%d"`, a.Version) || got.header.Get("Cache-Control") != "no-store" {
		t.Errorf("%s %s: version %d has the ETag %s", r.Method, r.RequestURI, a.Version, tag)
	}
	return a
}

// checkMetrics checks that the metrics have each of the lines, and returns them all.
func (s *service) checkMetrics(t testing.TB, lines ...string) string {
	t.Helper()
	got := s.send(t, get(t, "/metrics"))
	for _, line := range lines {
		assert.Containsf(t, got.body, "\n"+line+"\n", "the metrics do not have %s: %d", line, got.status)
	}
	return got.body
}

// noShoe is the path of a shoe that does not exist.
const noShoe = "/shoes/7d0a3c53-5f0e-4c52-9d6b-1f7c5f3a9b10"
