package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// docs are the project's documents as pages, in English.
type docs struct {
	pages     map[string]*document // by their paths below /docs/, such as guides/shoes
	contract  *document
	Guides    []*document       // without their index, guides/README
	Reference []*document       // of the pages on operations, their index alone
	pictures  map[string][]byte // by their paths below /docs/
	index     []byte            // the sections of all documents, as JSON, to be searched
}

// A document is a Markdown file as HTML.
type document struct {
	Path, Title string
	body        []byte // HTML
}

// A section is a search result: a heading with the text below it.
type section struct {
	Path    string `json:"path"` // below the log's path, with the heading's anchor
	Title   string `json:"title"`
	Heading string `json:"heading"`
	Text    string `json:"text"`
}

// readDocs renders openapi.yaml and the documents in the folder docs of a file system. The HTML is safe,
// because HTML inside Markdown is dropped.
func readDocs(files fs.FS, contract []byte) (*docs, error) {
	d := &docs{pages: map[string]*document{}, pictures: map[string][]byte{}}
	names, err := fs.Glob(files, "docs/*.md")
	if err != nil {
		return nil, err
	}
	guides, err := fs.Glob(files, "docs/guides/*.md")
	if err != nil {
		return nil, err
	}
	operations, err := fs.Glob(files, "docs/operations/*.md")
	if err != nil {
		return nil, err
	}
	var sections []section
	if d.contract, sections, err = readContract(contract); err != nil {
		return nil, fmt.Errorf("openapi.yaml: %w", err)
	}
	for _, name := range slices.Concat(guides, names, operations) {
		source, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		place := strings.TrimSuffix(strings.TrimPrefix(name, "docs/"), ".md")
		page, found, err := readDocument(place, source)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		d.pages[place] = page
		sections = append(sections, found...)
		switch {
		case path.Dir(place) == ".", place == "operations/README":
			d.Reference = append(d.Reference, page)
		case path.Dir(place) == "guides" && place != "guides/README":
			d.Guides = append(d.Guides, page)
		}
	}
	licence, err := fs.ReadFile(files, "internal/picture/OFL.txt")
	if err != nil {
		return nil, err
	}
	fonts, _, err := readDocument("fonts", fmt.Appendf(nil, "# The fonts of the cards\n\n```text\n%s```\n", licence))
	if err != nil {
		return nil, err
	}
	d.pages[fonts.Path] = fonts // their licence goes where the service goes
	d.Reference = append(d.Reference, fonts)
	pictures, err := fs.Glob(files, "docs/*.svg")
	if err != nil {
		return nil, err
	}
	for _, name := range pictures {
		if d.pictures[strings.TrimPrefix(name, "docs/")], err = fs.ReadFile(files, name); err != nil {
			return nil, err
		}
	}
	d.index, err = json.Marshal(sections)
	return d, err
}

// An attribute aligns table cells, because the policy of pages forbids inline styles.
var markdown = goldmark.New(
	goldmark.WithExtensions(extension.Linkify, extension.Strikethrough, extension.TaskList,
		extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute))),
	goldmark.WithParserOptions(parser.WithAutoHeadingID()),
)

// alert matches GitHub's mark of a note or a warning.
var alert = regexp.MustCompile(`(?m)^> \[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\]$`)

// readDocument renders the document with the path place below /docs/.
func readDocument(place string, source []byte) (*document, []section, error) {
	source = alert.ReplaceAllFunc(source, func(mark []byte) []byte {
		kind := alert.FindSubmatch(mark)[1]
		return fmt.Appendf(nil, "> **%c%s**\n>", kind[0], bytes.ToLower(kind[1:]))
	})
	tree := markdown.Parser().Parse(text.NewReader(source))
	if err := link(tree, place); err != nil {
		return nil, nil, err
	}
	page := &document{Path: place, Title: place}
	var sections []section
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch node := node.(type) {
		case *ast.Heading:
			heading := string(node.Lines().Value(source))
			if node.Level == 1 {
				page.Title = heading
			}
			id, _ := node.AttributeString("id")
			sections = append(sections, section{Path: fmt.Sprintf("%s#%s", path.Join("/docs", place), id), Title: page.Title, Heading: heading})
		default:
			if node.Type() == ast.TypeBlock && len(sections) > 0 && node.Lines() != nil {
				last := &sections[len(sections)-1]
				last.Text = strings.TrimSpace(last.Text + " " + string(node.Lines().Value(source)))
			}
		}
		return ast.WalkContinue, nil
	})
	if err != nil {
		return nil, nil, err
	}
	var body bytes.Buffer
	if err := markdown.Renderer().Render(&body, source, tree); err != nil {
		return nil, nil, err
	}
	page.body = body.Bytes() // safe: goldmark leaves HTML out
	return page, sections, nil
}

// link turns a document's links to other documents into links to their pages. A link to any other file of
// the project becomes text.
func link(tree ast.Node, place string) error {
	var links []*ast.Link
	err := ast.Walk(tree, func(node ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, found := node.(*ast.Link); found && entering {
			links = append(links, link)
		}
		return ast.WalkContinue, nil
	})
	for _, link := range links {
		if to := target(place, string(link.Destination)); to != "" {
			link.Destination = []byte(to)
			continue
		}
		for child := link.FirstChild(); child != nil; child = link.FirstChild() {
			link.Parent().InsertBefore(link.Parent(), link, child)
		}
		link.Parent().RemoveChild(link.Parent(), link)
	}
	return err
}

// target returns the page for a link in a document, or "" for other files. Pages have the paths of their
// files without .md.
func target(place, link string) string {
	name, anchor, _ := strings.Cut(link, "#")
	to := path.Join("docs", path.Dir(place), name)
	switch {
	case name == "" || strings.Contains(name, "://") || to == "openapi.yaml":
		return link
	case strings.HasSuffix(name, ".md") && strings.HasPrefix(to, "docs/"):
		return strings.TrimSuffix(strings.TrimSuffix(name, ".md")+"#"+anchor, "#")
	}
	return ""
}

// serveDocument answers with a document or a picture in one.
func (p *Pages) serveDocument(w http.ResponseWriter, r *http.Request) {
	name := chi.URLParam(r, "*")
	if page, found := p.docs().pages[name]; found {
		p.serve(w, r, view{script: "docs", title: page.Title, policy: policy, document: page})
		return
	}
	picture, found := p.docs().pictures[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", "image/svg+xml")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
	h.Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(picture) // a caller who has left needs no picture
}

// serveIndex answers with the sections of all documents.
func (p *Pages) serveIndex(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(p.docs().index) // a caller who has left needs no index
}
