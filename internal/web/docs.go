package web

import (
	"io"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
)

// docs are the project's documents as pages, in English. web/docs.mjs makes them.
type docs struct {
	Chinese    map[string]string    // titles and the like of the contract, each all of an element
	chinese    *strings.Replacer    // of those elements
	Pages      map[string]*document // by their paths below /docs/, such as guides/shoes; "" for the operations
	Operations []entry
	Guides     []entry                                // without their index, guides/README
	Reference  []entry                                // of the pages on operations, their index alone
	Files      map[string]struct{ Type, Text string } // pictures, and search.json with the sections of all documents
}

// newDocs decodes the documents.
func newDocs() *docs {
	d := new(docs)
	if err := read("static/docs.json", d); err != nil {
		panic(err) // the file is embedded, and was read by the tests
	}
	var pairs []string
	for english, chinese := range d.Chinese {
		pairs = append(pairs, ">"+english+"</", `><span lang="zh">`+chinese+"</span></")
	}
	d.chinese = strings.NewReplacer(pairs...)
	return d
}

// A document is a Markdown file, or an operation of the contract, as HTML.
type document struct {
	Title, Language, Body string
}

// An entry is a document in the menu.
type entry struct{ Path, Title string }

// serveDocument answers with a document or a file that one loads.
func (p *Pages) serveDocument(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "*")
	if page, found := p.docs().Pages[name]; found {
		p.serve(w, r, view{script: "docs", policy: policy, path: name, document: page})
		return
	}
	file, found := p.docs().Files[name]
	if !found {
		p.Missing(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.Type)
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	writeParts(w, file.Text)
}

// writeParts writes a text in parts: io.WriteString would copy all of it for every slow caller. One
// who has left needs none.
func writeParts(w io.Writer, text string) {
	_, _ = io.Copy(w, struct{ io.Reader }{strings.NewReader(text)})
}
