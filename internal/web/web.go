// Package web serves the pages: they show shuffles, and check them in the reader's browser.
//
// [Pages] is all of it. The service fills a frame with a title, a menu and the names of the page's script
// and style, in the reader's language. The script requests the rest from the API. go generate makes scripts
// and styles from web/; they are embedded. Pages load nothing from other hosts and never treat a caller's
// text as HTML.
package web

import (
	"bytes"
	"cmp"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"
	"golang.org/x/text/language"

	"riffle/internal/httpserver"
)

//go:generate node ../../web/build.mjs

//go:embed static page.html text.json
var files embed.FS

const (
	// policy lets pages load files of the service only. A page may also draw images.
	policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; worker-src 'self'; " +
		"base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types riffle-workers"

	// labPolicy also lets the laboratory frame the document that runs a function of somebody's own.
	labPolicy = policy + "; frame-src 'self'"

	// ownPolicy applies to this document and to the worker that it starts. Its origin is opaque, so it
	// has no storage, and it can request nothing. It runs the script with a digest, which compiles the
	// function.
	ownPolicy = "default-src 'none'; script-src '%s' 'unsafe-eval'; worker-src blob:; base-uri 'none'; form-action 'none'; " +
		"frame-ancestors 'self'; sandbox allow-scripts"
)

// A page is a path and the script that draws it.
type page struct{ Path, Script, policy string }

var pages = []page{
	{"/", "table", policy},
	{"/verify", "verify", policy},
	{"/fairness", "fairness", labPolicy},
	{"/explore", "explore", policy},
	{"/docs", "docs", policy},
}

// languages are the languages of the pages, the default first.
var languages = []language.Tag{language.English, language.Chinese}

var matcher = language.NewMatcher(languages)

// Pages are all pages.
type Pages struct {
	names  map[string]string            // of the files in static, by their entries
	kept   []string                     // the files of the page that works without a network
	texts  map[string]map[string]string // by language and name
	frame  *template.Template
	turn   sync.Mutex // of the request that fills the frame: a thousand together would take 100 MiB
	assets map[string]asset
	docs   func() *docs // decodes them at the first call

	zipping sync.Mutex
	zipped  map[string][]byte // documents by language and path; guarded by zipping
}

// A view holds the data of a page's template.
type view struct {
	script, policy, path string    // of a document, its path below /docs/
	status               int       // 0 for 200
	document             *document // shown before the script runs; may be nil
	picture              string    // the address that messengers show a link with; empty for none
}

// isContract reports whether a document is the list of operations or one of them.
func (v view) isContract() bool {
	return v.document != nil && (v.path == "" || strings.HasPrefix(v.path, "api/"))
}

// New returns the pages.
func New() (*Pages, error) {
	p := &Pages{zipped: map[string][]byte{}}
	err := errors.Join(read("static/names.json", &p.names), read("static/verify.json", &p.kept), read("text.json", &p.texts))
	if err != nil {
		return nil, err
	}
	if p.frame, err = template.ParseFS(files, "page.html"); err != nil {
		return nil, err
	}
	p.docs = sync.OnceValue(newDocs)
	p.assets, err = readAssets(p.names["lab/worker"], p.names["verify-worker"])
	return p, err
}

// read decodes an embedded JSON file.
func read(name string, value any) error {
	text, err := files.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, value); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Routes returns all pages except the first, [Pages.Link] and [Pages.Missing], and their files.
func (p *Pages) Routes() map[string]http.HandlerFunc {
	routes := map[string]http.HandlerFunc{
		"/docs": p.serveDocument, "/docs/*": p.serveDocument, "/static/{file}": p.serveAsset,
		"/docs/": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "/docs")
			w.WriteHeader(http.StatusPermanentRedirect)
		},
		"/verify-worker.js": p.serveWorker, // a service worker is for the paths beside its own
	}
	for _, page := range pages[1:4] {
		routes[page.Path] = func(w http.ResponseWriter, r *http.Request) {
			p.serve(w, r, view{script: page.Script, policy: page.policy})
		}
	}
	return routes
}

// Link answers with the page that verifies an audit, with a picture of its deal for messengers. If
// no record has the id, the status is 404, and the page says so.
func (p *Pages) Link(w http.ResponseWriter, r *http.Request, found bool) {
	v := view{script: "verify", policy: policy}
	if id, err := uuid.Parse(chi.URLParam(r, "id")); !found {
		v.status = http.StatusNotFound
	} else if err == nil {
		v.picture = httpserver.Address(r) + "/audits/" + id.String() + "/picture.png"
	}
	p.serve(w, r, v)
}

func (p *Pages) serveAsset(w http.ResponseWriter, r *http.Request) {
	if file, found := p.assets[chi.URLParam(r, "file")]; found {
		file.serve(w, r, "public, max-age=31536000, immutable")
	} else {
		http.NotFound(w, r)
	}
}

// Home answers with the first page, at /.
func (p *Pages) Home(w http.ResponseWriter, r *http.Request) {
	p.serve(w, r, view{script: pages[0].Script, policy: pages[0].policy})
}

// Missing answers with a page that says that there is nothing at the path.
func (p *Pages) Missing(w http.ResponseWriter, r *http.Request) {
	p.serve(w, r, view{script: "missing", policy: policy, status: http.StatusNotFound})
}

// serve answers with the frame of a page.
func (p *Pages) serve(w http.ResponseWriter, r *http.Request, v view) {
	tag := p.language(r).String()
	h := w.Header()
	for name, value := range headersOf(v.policy) {
		h.Set(name, value)
	}
	h.Set("Content-Language", tag)
	h.Set("Cache-Control", "no-cache")
	h.Add("Vary", "Accept-Language, Cookie")
	if v.document != nil && zips(w, r) {
		_, _ = w.Write(p.zippedDocument(tag, v)) // an error means that the caller has left
		return
	}
	w.WriteHeader(cmp.Or(v.status, http.StatusOK))
	p.write(w, tag, v)
}

// write writes a page. An error means that the caller has left.
func (p *Pages) write(w io.Writer, tag string, v view) {
	top, bottom := p.render(tag, v)
	_, _ = w.Write(top)
	switch {
	case v.document == nil:
	case tag == "zh" && v.isContract():
		_, _ = p.docs().chinese.WriteString(w, v.document.Body)
	default:
		writeParts(w, v.document.Body)
	}
	_, _ = w.Write(bottom)
}

// headersOf returns the headers of a page in every language, with and without a network.
func headersOf(policy string) map[string]string {
	return map[string]string{
		"Content-Type": "text/html; charset=utf-8", "Content-Security-Policy": policy, "Referrer-Policy": "no-referrer",
		"X-Content-Type-Options": "nosniff",
	}
}

// render returns the parts of a page before and after its document, in a language.
func (p *Pages) render(tag string, v view) (top, bottom []byte) {
	texts := p.texts[tag]
	title := texts["title."+v.script]
	if v.document != nil {
		title = v.document.Title
		if chinese := p.docs().Chinese[title]; tag == "zh" && chinese != "" {
			title = chinese
		}
	}
	values := map[string]any{
		"Language": tag, "Texts": texts, "Page": v.script, "Pages": pages, "Names": p.names,
		"Title": title, "Document": v.document, "Path": v.path, "Docs": p.docs, "Picture": v.picture, "IsOperation": strings.HasPrefix(v.path, "api/"), "IsContract": v.isContract(),
		"Workers": fmt.Sprintf(`{"worker":%q,"own":%q}`, p.names["lab/worker"], p.names["lab/own"]),
	}
	p.turn.Lock()
	defer p.turn.Unlock()
	return p.execute("top", values), p.execute("bottom", values)
}

// execute returns a part of the frame.
func (p *Pages) execute(part string, values map[string]any) []byte {
	var text bytes.Buffer
	if err := p.frame.ExecuteTemplate(&text, part, values); err != nil {
		panic(err) // the template was tested with each page
	}
	return text.Bytes()
}

// language returns the reader's language: the one chosen on the page, or else the browser's.
func (p *Pages) language(r *http.Request) language.Tag {
	chosen := ""
	if cookie, err := r.Cookie("language"); err == nil {
		chosen = cookie.Value
	}
	_, index := language.MatchStrings(matcher, chosen, r.Header.Get("Accept-Language"))
	return languages[index]
}
