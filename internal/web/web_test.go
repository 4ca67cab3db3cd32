package web

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// serve returns the answer to a GET, and its body.
func serve(t *testing.T, path string, header http.Header) (*http.Response, string) {
	t.Helper()
	pages, err := New()
	require.NoError(t, err)
	routes := pages.Routes()
	routes["/"] = pages.Home
	routes["/a/{id}"] = func(w http.ResponseWriter, r *http.Request) { pages.Link(w, r, true) }
	router := chi.NewRouter()
	for pattern, answer := range routes {
		router.Get(pattern, answer)
	}
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
	maps.Copy(request.Header, header)
	recorder := httptest.NewRecorder()
	router.ServeHTTP(recorder, request)
	answer := recorder.Result()
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	require.NoError(t, err)
	return answer, string(body)
}

func TestPagesAreStrict(t *testing.T) {
	for _, path := range []string{"/", "/verify", "/fairness", "/explore", "/docs", "/a/x", "/docs/api/shuffle", "/docs/guides/shoes"} {
		answer, body := serve(t, path, nil)
		csp := answer.Header.Get("Content-Security-Policy")
		assert.Truef(t, answer.StatusCode == http.StatusOK && strings.HasPrefix(csp, "default-src 'none';") && !strings.Contains(csp, "unsafe"),
			"%s is answered %s with the policy %q", path, answer.Status, csp)
		found := regexp.MustCompile(`<style|<script[^>]*>[^<]|<[^>]+ (style|on[a-z]+)=|(src|<link[^>]*href)="?http`).FindString(body)
		assert.Equal(t, "", found, path)
	}
}

// A link to no record is answered 404, without the picture that it would have.
func TestLinkToNoRecord(t *testing.T) {
	pages, err := New()
	require.NoError(t, err)
	router := chi.NewRouter()
	router.Get("/a/{id}", func(w http.ResponseWriter, r *http.Request) { pages.Link(w, r, r.URL.Query().Has("found")) })
	for query, want := range map[string]int{"?found": http.StatusOK, "": http.StatusNotFound} {
		w := httptest.NewRecorder()
		router.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/a/01890a5d-ac96-774b-bcce-b302099a8057"+query, nil))
		assert.Equal(t, want, w.Code)
		assert.Equal(t, query != "", strings.Contains(w.Body.String(), "og:image"))
	}
}

func TestPagesSpeakTheReadersLanguage(t *testing.T) {
	for _, c := range []struct{ accept, cookie, want string }{
		{"", "", "en"},
		{"fr, en;q=0.5", "", "en"},
		{"zh-CN,zh;q=0.9,en;q=0.8", "", "zh"},
		{"zh-TW", "", "zh"},
		{"en", "zh", "zh"},
		{"zh", "en", "en"},
		{"zh", "<script>", "zh"},
		{strings.Repeat("a-", 10_000), "", "en"},
	} {
		answer, body := serve(t, "/", http.Header{"Accept-Language": {c.accept}, "Cookie": {"language=" + c.cookie}})
		if got := answer.Header.Get("Content-Language"); got != c.want || !strings.Contains(body, `<html lang="`+c.want+`"`) {
			t.Errorf("for %.40q with the choice %q the page is in %q, want %q", c.accept, c.cookie, got, c.want)
		}
	}
}

func TestTheContractHasTitlesInTheReadersLanguage(t *testing.T) {
	for path, want := range map[string][]string{
		"/docs/api/shuffle": {"<title>洗一副牌、一个列表或一段数字", `<h2><span lang="zh">请求正文</span></h2>`, ">必填<"},
		"/docs":             {"<title>接口", ">预先承诺一次洗牌<", `lang="zh">标题与按钮为中文`},
	} {
		_, chinese := serve(t, path, http.Header{"Accept-Language": {"zh"}})
		_, english := serve(t, path, nil)
		for _, text := range want {
			assert.Contains(t, chinese, text, path)
			assert.NotContains(t, english, text, path)
		}
	}
	_, guide := serve(t, "/docs/guides/shoes", http.Header{"Accept-Language": {"zh"}})
	assert.NotContains(t, guide, "标题与按钮为中文")
}

func TestTextsAreComplete(t *testing.T) {
	var texts map[string]map[string]string
	require.NoError(t, read("text.json", &texts))
	names := slices.Sorted(maps.Keys(texts["en"]))
	assert.Equal(t, names, slices.Sorted(maps.Keys(texts["zh"])), "the texts in Chinese")
	placeholder := regexp.MustCompile(`\{\d\}`)
	for _, name := range names {
		en, zh := placeholder.FindAllString(texts["en"][name], -1), placeholder.FindAllString(texts["zh"][name], -1)
		slices.Sort(en)
		slices.Sort(zh)
		assert.Equalf(t, slices.Compact(zh), slices.Compact(en), "%s has the placeholders %v and %v", name, en, zh)
	}
}

// TestPagesAreSmall adds up the bytes sent to a browser that shows a page.
func TestPagesAreSmall(t *testing.T) {
	const most = 250_000
	link := regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"|(?:from|import\()"\./([^"]+)"`)
	for _, page := range pages {
		size, seen := 0, map[string]bool{}
		var load func(path string)
		load = func(path string) {
			if seen[path] {
				return
			}
			seen[path] = true
			answer, body := serve(t, path, http.Header{"Accept-Encoding": {"gzip"}})
			size += len(body)
			if answer.Header.Get("Content-Encoding") == "gzip" {
				body = unzip(t, body)
			}
			for _, found := range link.FindAllStringSubmatch(body, -1) {
				if found[1] != "" {
					load(found[1])
				} else {
					load("/static/" + found[2])
				}
			}
		}
		load(page.Path)
		if t.Logf("%s takes %d bytes", page.Path, size); size > most || len(seen) < 4 {
			t.Errorf("%s takes %d bytes in %d files, want at most %d", page.Path, size, len(seen), most)
		}
	}
}

// unzipped returns the body that a caller gets who accepts gzip, which must be compressed.
func unzipped(t *testing.T, path string) string {
	t.Helper()
	answer, body := serve(t, path, http.Header{"Accept-Encoding": {"gzip"}})
	require.Equal(t, "gzip", answer.Header.Get("Content-Encoding"), path)
	require.Contains(t, answer.Header.Values("Vary"), "Accept-Encoding", path)
	return unzip(t, body)
}

func unzip(t *testing.T, zipped string) string {
	t.Helper()
	r, err := gzip.NewReader(strings.NewReader(zipped))
	require.NoError(t, err)
	plain, err := io.ReadAll(r)
	require.NoError(t, err)
	return string(plain)
}

func TestAssetsAreKept(t *testing.T) {
	var names map[string]string
	require.NoError(t, read("static/names.json", &names))
	list, err := readAssets()
	require.NoError(t, err)
	for name, file := range list {
		for encoding, isZipped := range map[string]bool{"": false, "gzip": true, "gzip;q=0, *": false, "br, gzip; q=0.5": true, "gzip;q=0.0": false, "gzip, br": true} {
			answer, body := serve(t, "/static/"+name, http.Header{"Accept-Encoding": {encoding}})
			require.Equal(t, isZipped, answer.Header.Get("Content-Encoding") == "gzip", encoding)
			if isZipped {
				body = unzip(t, body)
			}
			if body != string(file.plain) || !strings.Contains(answer.Header.Get("Cache-Control"), "immutable") || answer.Header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s is answered %s with %v", name, answer.Status, answer.Header)
			}
			want := "default-src 'none'; sandbox; frame-ancestors 'none'"
			switch name {
			case names["lab/own"]:
				script := strings.TrimSuffix(strings.TrimPrefix(body, "<!doctype html><script>"), "</script>\n")
				want = fmt.Sprintf(ownPolicy, integrity([]byte(script)))
			case names["lab/worker"], names["verify-worker"]:
				want = policy
			}
			assert.Equalf(t, want, answer.Header.Get("Content-Security-Policy"), "%s has the policy", name)
		}
	}
	for _, name := range []string{"names.json", "none.js", "..%2fpage.html"} {
		answer, _ := serve(t, "/static/"+name, nil)
		assert.Equalf(t, http.StatusNotFound, answer.StatusCode, "%s is answered %s", name, answer.Status)
	}
}

// TestWorkerKnowsWhatItServes compares the digests in the service worker with the answers.
func TestWorkerKnowsWhatItServes(t *testing.T) {
	_, script := serve(t, "/verify-worker.js", nil)
	text, _, found := strings.Cut(strings.TrimPrefix(script, "const kept = "), ";\n")
	var worker struct {
		Cache, Page string
		Files       map[string]kept
	}
	err := json.Unmarshal([]byte(text), &worker)
	require.Truef(t, err == nil && found, "%v: %s", err, text)
	assert.Truef(t, strings.HasPrefix(worker.Cache, "verify sha256-") && worker.Page == "/verify", "the worker keeps %s in %q", worker.Page, worker.Cache)
	for path, file := range worker.Files {
		for _, language := range []string{"en", "zh"} {
			answer, body := serve(t, path, http.Header{"Accept-Language": {language}})
			assert.Truef(t, answer.StatusCode == http.StatusOK && slices.Contains(strings.Fields(file.Integrity), integrity([]byte(body))),
				"%s in %s is answered %s, without a digest among %s", path, language, answer.Status, file.Integrity)
			for name, value := range file.Headers {
				assert.Equalf(t, value, answer.Header.Get(name), "%s of %s", name, path)
			}
		}
	}
	// All that the page loads is kept.
	_, page := serve(t, "/verify", nil)
	for _, link := range regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(page, -1) {
		_, kept := worker.Files[link[1]]
		assert.Truef(t, kept, "%s is not kept", link[1])
	}
	answer, _ := serve(t, "/docs/", nil)
	assert.Truef(t, answer.StatusCode == http.StatusPermanentRedirect && answer.Header.Get("Location") == "/docs", "/docs/ is answered %s with %v", answer.Status, answer.Header)
}

// TestDocuments reads every page of the docs, plain and compressed; web/test/docs.test.mjs checks
// what they say.
func TestDocuments(t *testing.T) {
	var d docs
	require.NoError(t, read("static/docs.json", &d))
	assert.Greater(t, len(d.Guides), 10)
	assert.Contains(t, d.Pages["fonts"].Body, "SIL OPEN FONT LICENSE", "goes where the fonts go")
	for path, page := range d.Pages {
		answer, body := serve(t, strings.TrimSuffix("/docs/"+path, "/"), nil)
		assert.Equal(t, http.StatusOK, answer.StatusCode, path)
		assert.Contains(t, body, page.Body, path)
		assert.Equal(t, body, unzipped(t, strings.TrimSuffix("/docs/"+path, "/")), path)
		assert.Contains(t, body, "<title>"+html.EscapeString(page.Title)+" · Riffle</title>", path)
	}
	for path, file := range d.Files {
		answer, body := serve(t, "/docs/"+path, nil)
		assert.Equal(t, file.Type, answer.Header.Get("Content-Type"), path)
		assert.True(t, body == file.Text && unzipped(t, "/docs/"+path) == file.Text, path)
	}
	answer, body := serve(t, "/docs/none", nil)
	assert.Equal(t, http.StatusNotFound, answer.StatusCode, body)
}
