package web

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// An asset is a script, style or document that pages load. Its name contains its hash, so it never
// changes. All requests share its bytes, so slow readers cost no memory.
type asset struct {
	kind   string
	policy string
	plain  []byte
	zipped func() []byte // compresses at the first call
}

// kinds are the media types of assets.
var kinds = map[string]string{
	".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8", ".html": "text/html; charset=utf-8",
}

// readAssets returns the embedded assets by name. The named workers get the policy of pages. Every other
// asset can load and run nothing if somebody opens it as a page.
func readAssets(workers ...string) (map[string]asset, error) {
	found := map[string]asset{}
	return found, fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || kind == "" {
			return err
		}
		plain, err := files.ReadFile(name)
		allowed := "default-src 'none'; sandbox; frame-ancestors 'none'"
		if script, ok := scriptOf(plain); ok {
			allowed = fmt.Sprintf(ownPolicy, integrity(script))
		} else if slices.Contains(workers, entry.Name()) {
			allowed = policy
		}
		found[entry.Name()] = newAsset(kind, allowed, plain)
		return err
	})
}

func newAsset(kind, policy string, plain []byte) asset {
	return asset{kind, policy, plain, sync.OnceValue(func() []byte { return compress(plain) })}
}

// scriptOf returns the script of a document made by web/build.mjs, which contains nothing else.
func scriptOf(document []byte) ([]byte, bool) {
	script, found := bytes.CutPrefix(document, []byte("<!doctype html><script>"))
	return bytes.TrimSuffix(script, []byte("</script>\n")), found
}

// integrity returns a file's digest as in Subresource Integrity.
func integrity(file []byte) string {
	digest := sha256.Sum256(file)
	return "sha256-" + base64.StdEncoding.EncodeToString(digest[:])
}

func compress(plain []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(plain) // a buffer does not fail
	_ = w.Close()
	return zipped.Bytes()
}

// acceptsGzip reports whether an Accept-Encoding lists gzip, and not with a quality of 0.
var acceptsGzip = regexp.MustCompile(`\bgzip *(,|$|; *q=(1|0\.0*[1-9]))`).MatchString

// serve answers with the file. caching is its Cache-Control.
func (file asset) serve(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Content-Security-Policy", file.policy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", caching)
	body := file.plain
	if zips(w, r) {
		body = file.zipped()
	}
	_, _ = w.Write(body) // an error means that the caller has left
}

// zips sets the headers of an answer that is compressed if the caller accepts it, and reports whether.
func zips(w http.ResponseWriter, r *http.Request) bool {
	w.Header().Add("Vary", "Accept-Encoding")
	accepted := acceptsGzip(r.Header.Get("Accept-Encoding"))
	if accepted {
		w.Header().Set("Content-Encoding", "gzip")
	}
	return accepted
}

// A kept file is served by the service worker without a network, if its bytes have one of the
// digests.
type kept struct {
	Headers   map[string]string `json:"headers"`
	Integrity string            `json:"integrity"`
}

// serveWorker answers with the service worker of /verify. Its first lines are the digests of the
// page and its files. The browser stores this script in a place that pages cannot write to.
func (p *Pages) serveWorker(w http.ResponseWriter, r *http.Request) {
	page := pages[slices.IndexFunc(pages, func(p page) bool { return p.Script == "verify" })]
	files := map[string]kept{}
	for _, name := range p.kept {
		files["/static/"+name] = kept{map[string]string{"Content-Type": p.assets[name].kind}, integrity(p.assets[name].plain)}
	}
	var digests []string
	for _, tag := range languages {
		top, bottom := p.render(tag.String(), view{script: page.Script, policy: page.policy})
		digests = append(digests, integrity(append(top, bottom...)))
	}
	files[page.Path] = kept{headersOf(page.policy), strings.Join(digests, " ")}
	list := encode(files)
	settings := encode(map[string]any{
		"cache": "verify " + integrity(list), "page": page.Path, "files": json.RawMessage(list),
	})
	script := p.assets[p.names["verify-worker"]]
	newAsset(script.kind, script.policy, fmt.Appendf(nil, "const kept = %s;\n%s", settings, script.plain)).serve(w, r, "no-cache")
}

// encode returns a value as JSON.
func encode(value any) []byte {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err) // it has nothing but text
	}
	return text
}
