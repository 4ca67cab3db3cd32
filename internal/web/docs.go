package web

import (
	"bytes"
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
	assets     map[string]asset                       // of Files
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
	d.assets = map[string]asset{}
	for name, file := range d.Files {
		d.assets[name] = newAsset(file.Type, "default-src 'none'; style-src 'unsafe-inline'", []byte(file.Text))
	}
	d.Files = nil
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
	if file, found := p.docs().assets[name]; found {
		file.serve(w, r, "no-cache")
	} else {
		p.Missing(w, r)
	}
}

// zippedDocument returns a document's page in a language, compressed. The first request for it
// compresses it, one at a time, since each takes a megabyte for that.
func (p *Pages) zippedDocument(tag string, v view) []byte {
	p.zipping.Lock()
	defer p.zipping.Unlock()
	key := tag + " " + v.path
	if p.zipped[key] == nil {
		var plain bytes.Buffer
		p.write(&plain, tag, v)
		p.zipped[key] = compress(plain.Bytes())
	}
	return p.zipped[key]
}

// writeParts writes a text in parts: io.WriteString would copy all of it for every slow caller. One
// who has left needs none.
func writeParts(w io.Writer, text string) {
	_, _ = io.Copy(w, struct{ io.Reader }{strings.NewReader(text)})
}
