package main_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/clients/clientstest"
	"riffle/internal/access"
)

// evaluate returns the value of an expression in the page, or of its promise.
func evaluate[T any](t *testing.T, browser *clientstest.Browser, format string, args ...any) (value T) {
	t.Helper()
	expression := fmt.Sprintf(format, args...)
	require.NoError(t, browser.Evaluate(expression, &value), expression)
	return value
}

// page is the page of another site. It has the verifier for browsers.
const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">
import {verify} from '/riffle.mjs';
// ask returns the parts of an answer that the page may read.
window.ask = async (url, {token, method, json} = {}) => {
	const headers = {...token && {Authorization: 'Bearer ' + token}, ...json && {'Content-Type': 'application/json'}};
	try {
		const answer = await fetch(url, {method, headers, body: json});
		return {status: answer.status, id: answer.headers.get('X-Request-Id') ?? '', text: await answer.text()};
	} catch (error) {
		return {error: String(error)};
	}
};
window.check = async (url, key, token) => (await verify((await ask(url, {token})).text, {key})).verdict;
</script>`

// newSite returns the origin of a new site that serves page. Its name differs from the service's, so
// browsers treat its requests to the service as cross-site.
func newSite(t *testing.T) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(page)) })
	mux.HandleFunc("/riffle.mjs", func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, "../../verifiers/riffle.mjs") })
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	return strings.Replace(site.URL, "127.0.0.1", "localhost", 1)
}

// TestPagesOfOtherOriginsInABrowser opens pages of two other sites in a real browser; the service lists
// one of them. Both fetch and check a proof, with and without a token. Only the listed site may shuffle
// and read the answer.
func TestPagesOfOtherOriginsInABrowser(t *testing.T) {
	t.Parallel()
	browser := clientstest.NewBrowser(t)
	listed, other := newSite(t), newSite(t)
	token := access.NewToken()
	l, _ := configured(t, fmt.Sprintf("cors-origins: [%q]\nkeys:\n  - {name: table, sha256: %x, may: [shuffle, read]}\nanonymous: {may: [read, metrics]}\n", listed, token.Digest()))
	s := l.start(t)
	base := "http://" + s.addr
	made := s.post("/shuffle", `{"deck":"standard52","reveal":"now"}`, "Authorization", "Bearer "+string(token))
	proof := base + "/audits/" + textMember(t, made, "audit_id") + "/proof"
	key := strings.TrimSpace(string(s.get("/log/key").body))

	type answer struct {
		Status          int
		ID, Text, Error string
	}
	ask := func(path, options string) answer {
		t.Helper()
		return evaluate[answer](t, browser, "ask(%q, %s)", base+path, options)
	}
	for _, site := range []struct {
		origin   string
		mayWrite bool
	}{{listed, true}, {other, false}} {
		browser.Open(site.origin)
		for _, as := range []access.Token{"", token} {
			verdict := evaluate[string](t, browser, "check(%q, %q, %q)", proof, key, as)
			assert.Equalf(t, "verified", verdict,
				"the proof is %q to a page of %s with the token %q", verdict, site.origin, as)
		}
		if a := ask("/audits?reference=a", fmt.Sprintf("{token: %q, method: 'HEAD'}", token)); a.Status != http.StatusOK || a.ID == "" {
			t.Errorf("HEAD with a token: %+v", a)
		}
		if a := ask("/audits/x", "{}"); a.Status != http.StatusNotFound || !strings.Contains(a.Text, "detail") {
			t.Errorf("a problem document of a read: %+v", a)
		}
		before := s.metric("riffle_log_size", "")
		a := ask("/shuffle", fmt.Sprintf("{token: %q, method: 'POST', json: '{\"size\":3}'}", token))
		wrote := s.metric("riffle_log_size", "") > before
		if read := a.Status == http.StatusOK && strings.Contains(a.Text, "audit_id"); read != site.mayWrite || wrote != site.mayWrite || read == (a.Error != "") {
			t.Errorf("a shuffle by a page of %s: %+v; a record was written: %t", site.origin, a, wrote)
		}
		// A form sends no preflight.
		if a := ask("/shuffle", "{method: 'POST'}"); (a.Status == http.StatusUnauthorized) != site.mayWrite || site.mayWrite == (a.Error != "") {
			t.Errorf("a form by a page of %s: %+v", site.origin, a)
		}
	}
	s.stop()
	// Each site sends one for the proof with a token, for HEAD and for the shuffle.
	got := strings.Count(s.log.String(), `"method":"OPTIONS"`)
	assert.Equalf(t, 6, got, "the browser sent %d preflights, want 6:\n%s", got, s.log)
}
