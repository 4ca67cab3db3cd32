package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5/middleware"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/httpserver"
	"riffle/internal/ledger"
)

// tilePath is where the tiles are.
const tilePath = "/log/tile/"

// checkpoint answers GET /log/checkpoint.
func (a *API) checkpoint(x *exchange) error {
	x.cache("max-age=1")
	text := a.Log.Witnessed()
	if text == nil {
		text = a.Log.Checkpoint(x.r.Context())
	}
	return x.send(typeText, text)
}

// logKey answers GET /log/key.
func (a *API) logKey(x *exchange) error {
	x.cache("max-age=86400")
	return x.send(typeText, []byte(a.Log.Verifier()+"\n"))
}

// tile answers GET /log/tile/*. Tiles are immutable, partial ones, too.
func (a *API) tile(x *exchange) error {
	// Clients that fill in templates escape the slashes, so use the unescaped path.
	t, ok := parseTile(strings.TrimPrefix(x.r.URL.Path, tilePath))
	if !ok {
		return problemNoTile()
	}
	var data []byte
	var err error
	entries := t.L < 0
	if entries {
		data, err = a.Log.Entries(x.r.Context(), uint64(t.N), t.W)
	} else {
		data, err = a.Log.Tile(x.r.Context(), t.L, uint64(t.N), t.W)
	}
	if errors.Is(err, ledger.ErrNotFound) {
		return problemNoTile()
	} else if err != nil {
		return err
	}
	x.cache("max-age=31536000, immutable")
	if !entries {
		return x.send(typeTile, data) // hashes do not compress
	}
	if err := x.lease.Grow(int64(len(data))); err != nil {
		return err
	}
	return sendCompressed(x, typeTile, data)
}

// sendCompressed sends data, compressed if the client accepts that and there is memory for it.
func sendCompressed(x *exchange, kind []string, data []byte) error {
	h := x.Header()
	h["Content-Type"] = kind
	h.Add("Vary", "Accept-Encoding") // also if uncompressed, or a cache would serve that to everybody
	var send http.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { httpserver.Send(w, http.StatusOK, data) })
	if x.lease.Grow(compressorBytes) == nil {
		send = compressed.Handler(send)
	}
	send.ServeHTTP(x, x.r)
	return nil
}

// compressed compresses bundles of records to a fifth, and pictures to a tenth.
var compressed = middleware.NewCompressor(5, typeTile[0], typePicture[0], "text/html")

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
