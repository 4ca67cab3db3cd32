// Package archive keeps a log that has ended as files: tiles, entry bundles and the checkpoint as in
// [C2SP tlog-tiles], which any web server can serve; bundles of encrypted sidecars beside them; and an
// SQLite index, which finds records by id, reference and claim.
//
// A [Store] writes an archive by [ledger.Copy] and reads it like any other store. A [Reader] only reads it.
//
// [C2SP tlog-tiles]: https://c2sp.org/tlog-tiles
package archive

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
)

// Files in the folder of an archive, besides tiles and bundles.
const (
	checkpointName = "checkpoint" // written last
	indexName      = "index.db"
	noSeedsName    = "no-seeds" // says that there are no sidecars
	urlName        = "url"      // has the URL of the bundles that are not in the folder
)

// Folder returns the folder for the archive of the log in a folder.
func Folder(log string) string { return filepath.Join(log, "archive") }

// Exists reports whether a folder has a whole archive.
func Exists(folder string) bool { return has(folder, checkpointName) }

func has(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, name))
	return err == nil
}

// A Reader is the [ledger.Inspector] of an archive.
type Reader struct {
	index  // its entries have neither record nor sidecar
	folder string
	url    string // of bundles that are not in the folder; empty for none
	size   uint64 // of the log
}

type index interface {
	ledger.Inspector
	Check(ctx context.Context) (findings []string, err error)
}

// OpenReader opens an archive to read it.
func OpenReader(ctx context.Context, folder string) (*Reader, error) {
	index, err := sqlite.OpenReader(ctx, filepath.Join(folder, indexName))
	if err != nil {
		return nil, err
	}
	return newReader(ctx, folder, index)
}

func newReader(ctx context.Context, folder string, index index) (*Reader, error) {
	head, err := index.Head(ctx)
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	url, _ := os.ReadFile(filepath.Join(folder, urlName)) // most archives have none
	return &Reader{index: index, folder: folder, url: strings.TrimRight(strings.TrimSpace(string(url)), "/"), size: head.Size}, nil
}

// WithoutSeeds reports whether the archive has no sidecars any more.
func (r *Reader) WithoutSeeds() bool { return has(r.folder, noSeedsName) }

// ForgetSeeds removes the sidecars of the archive in a folder for good.
func ForgetSeeds(folder string) error {
	marked := (&Store{Reader: &Reader{folder: folder}}).write(noSeedsName, nil)
	return errors.Join(marked, os.RemoveAll(filepath.Join(folder, "sidecars")))
}

// Records implements [ledger.Inspector].
func (r *Reader) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	list, err := r.Select(ctx, ledger.Range(from, n))
	for i := 0; err == nil && i < len(list); i++ {
		err = each(list[i].Index, list[i].Record, list[i].Hash)
	}
	return err
}

// Select implements [ledger.Inspector].
func (r *Reader) Select(ctx context.Context, q ledger.EntryQuery) ([]ledger.StoredEntry, error) {
	list, err := r.index.Select(ctx, q)
	return list, cmp.Or(err, r.fill(ctx, list))
}

// ByIDs implements [ledger.Inspector].
func (r *Reader) ByIDs(ctx context.Context, ids []uuid.UUID) ([]ledger.StoredEntry, error) {
	list, err := r.index.ByIDs(ctx, ids)
	slices.SortFunc(list, func(a, b ledger.StoredEntry) int { return cmp.Compare(a.Index, b.Index) }) // each bundle is read once
	return list, cmp.Or(err, r.fill(ctx, list))
}

// fill adds records and sidecars to entries of the index.
func (r *Reader) fill(ctx context.Context, list []ledger.StoredEntry) error {
	var b bundle
	for i := range list {
		e := &list[i]
		if n := e.Index / bundleSize; b.records == nil || b.number != n {
			var err error
			if b, err = r.read(ctx, n); err != nil {
				return err
			}
		}
		place := e.Index % bundleSize
		e.Record, e.Forgotten = b.records[place], b.sidecars == nil
		if !e.Forgotten && len(b.sidecars[place]) > 0 {
			e.Sidecar = b.sidecars[place]
		}
	}
	return nil
}

// bundleSize is the number of entries in a full bundle.
const bundleSize = 256

// A bundle has the records and sidecars of some entries in log order.
type bundle struct {
	number            uint64
	records, sidecars [][]byte // sidecars is nil if they were forgotten
}

// The bytes of the length before each record and each sidecar.
const (
	recordLength  = 2 // as in C2SP tlog-tiles
	sidecarLength = 4
)

func (r *Reader) read(ctx context.Context, number uint64) (b bundle, err error) {
	width := min(bundleSize, r.size-number*bundleSize)
	b.number = number
	if b.records, err = r.readList(ctx, entriesPath(number, width), recordLength, width); err != nil || r.WithoutSeeds() {
		return b, err
	}
	if b.sidecars, err = r.readList(ctx, sidecarsPath(number, width), sidecarLength, width); err != nil && r.WithoutSeeds() {
		err = nil // since a moment ago
	}
	return b, err
}

// readList reads a file that has n texts, each after its length in so many bytes.
func (r *Reader) readList(ctx context.Context, name string, length int, n uint64) (list [][]byte, err error) {
	text, err := r.readFile(ctx, name)
	if err != nil {
		return nil, err
	}
	for len(text) >= length {
		var head [8]byte
		copy(head[8-length:], text)
		size := binary.BigEndian.Uint64(head[:])
		if text = text[length:]; uint64(len(text)) < size {
			break
		}
		list, text = append(list, text[:size:size]), text[size:]
	}
	if uint64(len(list)) != n || len(text) > 0 {
		return nil, fmt.Errorf("%w: %s of the archive does not have %d whole entries", ledger.ErrCorrupt, name, n)
	}
	return list, nil
}

// appendText appends a text after its length in so many bytes.
func appendText(b, text []byte, length int) []byte {
	size := binary.BigEndian.AppendUint64(nil, uint64(len(text)))
	return append(append(b, size[8-length:]...), text...)
}

const (
	httpTimeout = 10 * time.Second
	maxFile     = 1 << 28 // bytes of a bundle
)

// readFile reads a file of the archive, from its folder or its URL.
func (r *Reader) readFile(ctx context.Context, name string) ([]byte, error) {
	text, err := os.ReadFile(filepath.Join(r.folder, filepath.FromSlash(name)))
	switch {
	case errors.Is(err, fs.ErrNotExist) && r.url != "":
		return r.fetch(ctx, r.url+"/"+name)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("%w: the archive in %s lacks %s", ledger.ErrCorrupt, r.folder, name)
	}
	return text, err
}

// fetch gets a file. The log compares what it has with its hashes.
func (r *Reader) fetch(ctx context.Context, url string) (text []byte, err error) {
	ctx, cancel := context.WithTimeout(ctx, httpTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return nil, err
	}
	response, err := http.DefaultClient.Do(request)
	if err == nil {
		defer func() { _ = response.Body.Close() }()
		if text, err = io.ReadAll(io.LimitReader(response.Body, maxFile)); err == nil && response.StatusCode != http.StatusOK {
			err = errors.New(response.Status)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: GET %s: %w", ledger.ErrUnavailable, url, err)
	}
	return text, nil
}

// Check checks the index, and the files that only monitors read. Bundles are checked with the
// records.
func (r *Reader) Check(ctx context.Context) (findings []string, err error) {
	compare := func(name string, want []byte) error {
		if have, err := r.readFile(ctx, name); err != nil || !bytes.Equal(have, want) {
			return cmp.Or(err, fmt.Errorf("%w: %s of the archive differs from its records", ledger.ErrCorrupt, name))
		}
		return nil
	}
	findings, err = r.index.Check(ctx)
	head, errHead := r.Head(ctx)
	return findings, cmp.Or(err, errHead, compare(checkpointName, head.Checkpoint), r.eachTile(ctx, r.size, compare))
}

// eachTile calls each with every tile of the index, until it fails. A check of the records checks
// the hashes.
func (r *Reader) eachTile(ctx context.Context, size uint64, each func(name string, tile []byte) error) (err error) {
	for level := 0; err == nil && size>>(8*level) > 0; level++ {
		for number, n := uint64(0), size>>(8*level); err == nil && number*bundleSize < n; number++ {
			width := min(bundleSize, n-number*bundleSize)
			var hashes []tlog.Hash
			if hashes, err = r.Hashes(ctx, level, number*bundleSize, int(width)); err == nil {
				err = each(tilePath(level, number, width), ledger.Joined(hashes))
			}
		}
	}
	return err
}

// tilePath returns the path of a tile with at most 256 hashes.
func tilePath(level int, number, width uint64) string {
	const height = 8
	tile := tlog.Tile{H: height, L: level, N: int64(number), W: int(width)}
	return "tile/" + strings.TrimPrefix(tile.Path(), fmt.Sprintf("tile/%d/", height))
}

func entriesPath(number, width uint64) string {
	return strings.Replace(tilePath(-1, number, width), "data", "entries", 1)
}

func sidecarsPath(number, width uint64) string {
	return strings.Replace(tilePath(-1, number, width), "tile/data", "sidecars", 1)
}
