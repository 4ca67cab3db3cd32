package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/budget"
	"riffle/internal/ledger"
)

// tilePath is where the tiles are.
const tilePath = "/log/tile/"

// checkpoint answers GET /log/checkpoint.
func (a *logAPI) checkpoint(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	if err := noParameters(r); err != nil {
		return err
	}
	return writeText(w, lease, "max-age=1", a.Log.Checkpoint(r.Context()))
}

// logKey answers GET /log/key.
func (a *logAPI) logKey(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	if err := noParameters(r); err != nil {
		return err
	}
	return writeText(w, lease, "max-age=86400", []byte(a.Log.Verifier()+"\n"))
}

func writeText(w http.ResponseWriter, lease *budget.Lease, lifetime string, text []byte) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	Cache(w, lifetime)
	return writeBody(w, lease, text)
}

// tile answers GET /log/tile/*. Tiles are immutable, partial ones, too.
func (a *logAPI) tile(w http.ResponseWriter, r *http.Request, lease *budget.Lease) error {
	// Clients that fill in templates escape the slashes, so use the unescaped path.
	t, ok := parseTile(strings.TrimPrefix(r.URL.Path, tilePath))
	if !ok {
		return problemNoTile()
	}
	if err := noParameters(r); err != nil {
		return err
	}
	var data []byte
	var err error
	entries := t.L < 0
	if entries {
		data, err = a.Log.Entries(r.Context(), uint64(t.N), t.W)
	} else {
		data, err = a.Log.Tile(r.Context(), t.L, uint64(t.N), t.W)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoTile()
	} else if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", tileType)
	Cache(w, "max-age=31536000, immutable")
	if !entries {
		return writeBody(w, lease, data) // hashes do not compress
	}
	if err := lease.Grow(int64(len(data)) + compressorBytes); err != nil {
		return err
	}
	h.Add("Vary", "Accept-Encoding") // also if uncompressed, or a cache would serve that to everybody
	compressed.Handler(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		sendBody(w, http.StatusOK, data)
	})).ServeHTTP(w, r)
	return nil
}

// tileType is the media type of tiles.
const tileType = "application/octet-stream"

// compressed compresses bundles of records to a fifth for clients that accept it.
var compressed = middleware.NewCompressor(5, tileType)

// compressorBytes is the memory of a compressor.
const compressorBytes = 1 << 20

func problemNoTile() *problem {
	return notFound("The published log has no such tile. GET /log/checkpoint tells its size, and C2SP's tlog-tiles how tiles are named.")
}

// parseTile reads the canonical name of a tile, so that a cache holds each tile once. Names are as in Go's
// checksum database, except that there is no height (always 8), and "entries" in place of "data" for
// records, at level -1.
func parseTile(name string) (t tlog.Tile, ok bool) {
	if path, entries := strings.CutPrefix(name, "entries/"); entries {
		name = "data/" + path
	} else if strings.HasPrefix(name, "data/") {
		return t, false
	}
	t, err := tlog.ParseTilePath("tile/8/" + name)
	return t, err == nil
}
