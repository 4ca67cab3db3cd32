package web

import (
	"encoding/json"
	"io"
	"net/http"

	"github.com/go-chi/chi/v5"
)

// docs are the project's documents as pages, in English. web/docs.mjs makes them.
type docs struct {
	Pages     map[string]*document // by their paths below /docs/, such as guides/shoes
	Contract  *document
	Guides    []entry           // without their index, guides/README
	Reference []entry           // of the pages on operations, their index alone
	Pictures  map[string]string // by their paths below /docs/
	Index     json.RawMessage   // the sections of all documents, to be searched
}

// A document is a Markdown file as HTML.
type document struct {
	Title, Body string
}

// An entry is a document in the menu.
type entry struct{ Path, Title string }

// serveDocument answers with a document or a picture in one.
func (p *Pages) serveDocument(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "*")
	if page, found := p.docs().Pages[name]; found {
		p.serve(w, r, view{script: "docs", policy: policy, path: name, document: page})
		return
	}
	picture, found := p.docs().Pictures[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, picture) // a caller who has left needs no picture
}

// serveIndex answers with the sections of all documents.
func (p *Pages) serveIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(p.docs().Index) // a caller who has left needs no index
}
