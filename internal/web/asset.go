package web

import (
	"bytes"
	"compress/gzip"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"sync"
)

// An asset is a file that pages refer to. Its name has a hash of its bytes, so it never changes. All
// requests share the bytes, so that slow readers hold none of their own.
type asset struct {
	kind   string
	plain  []byte
	zipped func() []byte // compressed when it is asked for first
}

// kinds are the media types of assets.
var kinds = map[string]string{".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}

// readAssets returns the embedded assets by name.
func readAssets() (map[string]asset, error) {
	found := map[string]asset{}
	return found, fs.WalkDir(files, "static", func(name string, entry fs.DirEntry, err error) error {
		kind := kinds[path.Ext(name)]
		if err != nil || kind == "" {
			return err
		}
		plain, err := files.ReadFile(name)
		found[entry.Name()] = asset{kind, plain, sync.OnceValue(func() []byte { return compress(plain) })}
		return err
	})
}

func compress(plain []byte) []byte {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(plain) // neither fails: a buffer takes everything
	_ = w.Close()
	return zipped.Bytes()
}

// serveAsset answers with a file, to be kept as caching says.
func (p *Pages) serveAsset(w http.ResponseWriter, r *http.Request, name, caching string) {
	file, found := p.assets[name]
	if !found {
		http.NotFound(w, r)
		return
	}
	h := w.Header()
	h.Set("Content-Type", file.kind)
	h.Set("Content-Security-Policy", policy)
	if name == p.names["lab/own"] {
		h.Set("Content-Security-Policy", ownPolicy)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", caching)
	h.Set("Vary", "Accept-Encoding")
	body := file.plain
	if strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		h.Set("Content-Encoding", "gzip")
		body = file.zipped()
	}
	_, _ = w.Write(body) // a caller who has left needs no file
}
