package api

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/go-chi/chi/v5/middleware"

	"riffle/internal/ledger"
)

// tilePath is where the tiles are.
const tilePath = "/log/tile/"

// fullTile is how many hashes, or records, a full tile has.
const fullTile = 256

// checkpoint answers GET /log/checkpoint.
func (a *API) checkpoint(w http.ResponseWriter, r *http.Request) error {
	if err := noParameters(r); err != nil {
		return err
	}
	return writeText(w, "public, max-age=1", a.Log.Checkpoint(r.Context()))
}

// logKey answers GET /log/key.
func (a *API) logKey(w http.ResponseWriter, r *http.Request) error {
	if err := noParameters(r); err != nil {
		return err
	}
	return writeText(w, "public, max-age=86400", []byte(a.Log.Verifier()+"\n"))
}

func writeText(w http.ResponseWriter, caching string, text []byte) error {
	h := w.Header()
	h.Set("Content-Type", "text/plain; charset=utf-8")
	h.Set("Cache-Control", caching)
	return writeBody(w, http.StatusOK, text)
}

// tile answers GET /log/tile/*. Tiles never change: a partial one stays what it was when the tree has grown past it.
func (a *API) tile(w http.ResponseWriter, r *http.Request) error {
	// The path is taken unescaped: clients that fill in templates escape the slashes.
	t, ok := parseTile(strings.TrimPrefix(r.URL.Path, tilePath))
	if !ok {
		return problemNoTile()
	}
	if err := noParameters(r); err != nil {
		return err
	}
	var data []byte
	var err error
	if t.entries {
		data, err = a.Log.Entries(r.Context(), t.index, t.width)
	} else {
		data, err = a.Log.Tile(r.Context(), t.level, t.index, t.width)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoTile()
	} else if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", tileType)
	h.Set("Cache-Control", "public, max-age=31536000, immutable")
	if !t.entries {
		return writeBody(w, http.StatusOK, data) // hashes, which do not get shorter
	}
	h.Set("Vary", "Accept-Encoding") // also where it is not compressed, or a cache would take that for the only form
	compressed.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		err = writeBody(w, http.StatusOK, data)
	})).ServeHTTP(w, r)
	return err
}

// tileType is the media type of tiles.
const tileType = "application/octet-stream"

// compressed has bundles of records go out in a fifth of their size to clients that take them so.
var compressed = middleware.NewCompressor(5, tileType)

func problemNoTile() *problem {
	return newProblem(http.StatusNotFound, "The published log has no such tile. GET /log/checkpoint tells its size, and C2SP's tlog-tiles how tiles are named.")
}

// A tileName names a part of the log as C2SP's tlog-tiles does: hashes of a level, or the records themselves.
type tileName struct {
	entries bool
	level   int // 0 for entries
	index   uint64
	width   int
}

// parseTile reads the name of a tile in its one form: it has to be what [tileName.String] writes, so that a cache holds
// every tile once.
func parseTile(text string) (t tileName, ok bool) {
	rest, entries := strings.CutPrefix(text, "entries/")
	if !entries {
		var level string
		level, rest, _ = strings.Cut(text, "/")
		n, err := strconv.ParseUint(level, 10, 6) // 0 to 63
		if err != nil {
			return t, false
		}
		t.level = int(n)
	}
	groups, width, partial := strings.Cut(rest, ".p/")
	index, err := strconv.ParseUint(strings.NewReplacer("x", "", "/", "").Replace(groups), 10, 64)
	if err != nil {
		return t, false
	}
	t.entries, t.index, t.width = entries, index, fullTile
	if partial {
		n, err := strconv.ParseUint(width, 10, 8) // 0 to 255
		if err != nil || n == 0 {
			return t, false
		}
		t.width = int(n)
	}
	return t, t.String() == text
}

func (t tileName) String() string {
	groups := fmt.Sprintf("%03d", t.index%1000)
	for n := t.index / 1000; n > 0; n /= 1000 {
		groups = fmt.Sprintf("x%03d/%s", n%1000, groups)
	}
	kind := "entries"
	if !t.entries {
		kind = strconv.Itoa(t.level)
	}
	if t.width < fullTile {
		return fmt.Sprintf("%s/%s.p/%d", kind, groups, t.width)
	}
	return kind + "/" + groups
}
