// Package sqlread is the part of a [ledger.Store] that every SQL engine has in common: queries in
// standard SQL and the scanning of their rows. An engine executes the queries; its writes and its
// larger look-ups are its own.
package sqlread

import (
	"cmp"
	"context"
	"fmt"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// A Row is a row of a result. Scan copies its columns to variables of the types int64, string,
// []byte and [Borrowed].
type Row interface{ Scan(columns ...any) error }

// A Query reads the tables of a log. It executes a query with the parameters $1, $2 and so on, and
// calls each for every row. After an error, rows may be missing.
type Query func(ctx context.Context, each func(Row) error, query string, args ...any) error

// SelectHead reads the only row of the table head; see [ScanHead].
const SelectHead = "SELECT size, edge, checkpoint, seed_key FROM head WHERE one"

// SelectEntries selects entries; see [Query.List].
const SelectEntries = "SELECT idx, id, coalesce(reference, ''), record, secret, hash FROM entries "

// SelectHolders selects the holders of claims by their names; see [Query.FindHolders].
const SelectHolders = "SELECT e.idx, e.id, c.name, coalesce(c.status, ''), coalesce(c.due, 0) " +
	"FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name "

const selectHolder = "SELECT e.idx, e.id, coalesce(e.reference, ''), e.record, e.secret, e.hash, " +
	"coalesce(c.status, ''), coalesce(c.due, 0) FROM claims AS c JOIN entries AS e ON e.idx = c.idx WHERE c.name = $1"

// ErrNoHead means that somebody deleted the head's row.
var ErrNoHead = fmt.Errorf("%w: the head is missing", ledger.ErrCorrupt)

// ScanHead scans the columns of [SelectHead], and more columns.
func ScanHead(row Row, h *ledger.Head, more ...any) error {
	var size int64
	err := row.Scan(append([]any{&size, &h.Edge, &h.Checkpoint, &h.SeedKey}, more...)...)
	h.Size = uint64(size)
	return err
}

// Head implements [ledger.Store].
func (read Query) Head(ctx context.Context) (ledger.Head, error) {
	return read.head(ctx, nil, SelectHead)
}

// head scans the head, and more columns, from the only row of a result.
func (read Query) head(ctx context.Context, more []any, query string, args ...any) (h ledger.Head, err error) {
	missing := ErrNoHead
	err = read(ctx, func(row Row) error {
		missing = nil
		return ScanHead(row, &h, more...)
	}, query, args...)
	return h, cmp.Or(err, missing)
}

// Snapshot implements [ledger.Store].
func (read Query) Snapshot(ctx context.Context, except string) (h ledger.Head, claims uint64, err error) {
	q := ledger.ClaimQuery{Prefix: except}
	after, before := q.NameBounds()
	if except == "" {
		before = ""
	}
	var count int64
	h, err = read.head(ctx, []any{&count},
		"SELECT size, edge, checkpoint, seed_key, (SELECT count(*) FROM claims WHERE NOT (name > $1 AND name < $2)) "+
			"FROM head WHERE one", after, before)
	return h, uint64(count), err
}

// Status implements [ledger.Store].
func (read Query) Status(ctx context.Context) (version int64, moved bool, err error) {
	var gone int64
	missing := ErrNoHead
	err = read(ctx, func(row Row) error {
		missing = nil
		return row.Scan(&version, &gone)
	}, "SELECT version, moved FROM head WHERE one")
	return version, gone != 0, cmp.Or(err, missing)
}

// Found implements [ledger.Store].
func (read Query) Found(ctx context.Context, from uint64, n int, each func(index uint64, byID, byReference int64)) error {
	var index, byID, byReference int64
	columns := []any{&index, &byID, &byReference}
	return read(ctx, func(row Row) error {
		err := row.Scan(columns...)
		each(uint64(index), byID, byReference)
		return err
	}, "SELECT e.idx, coalesce((SELECT x.idx FROM entries AS x WHERE x.id = e.id LIMIT 1), -1), "+
		"coalesce((SELECT x.idx FROM entries AS x WHERE x.reference = e.reference AND x.idx >= e.idx ORDER BY x.reference, x.idx LIMIT 1), -1) "+
		"FROM entries AS e WHERE e.idx >= $1 ORDER BY e.idx LIMIT $2", int64(from), int64(n))
}

// Hashes implements [ledger.Store].
func (read Query) Hashes(ctx context.Context, level int, from uint64, n int) (hashes []tlog.Hash, err error) {
	query, args := "SELECT idx, hash FROM nodes WHERE level = $3 AND idx >= $1 ORDER BY idx LIMIT $2", []any{int64(from), int64(n), int64(level)}
	if level == 0 {
		query, args = "SELECT idx, hash FROM entries WHERE idx >= $1 ORDER BY idx LIMIT $2", args[:2]
	}
	next := int64(from)
	err = read(ctx, func(row Row) error {
		var index int64
		var hash []byte
		if err := row.Scan(&index, &hash); err != nil {
			return err
		}
		if index != next || len(hash) != tlog.HashSize {
			return fmt.Errorf("%w: the hash %d of level %d is missing or has %d bytes", ledger.ErrCorrupt, next, level, len(hash))
		}
		hashes = append(hashes, tlog.Hash(hash))
		next++
		return nil
	}, query, args...)
	return hashes, err
}

// Borrowed is scanned without a copy, and valid until the next row.
type Borrowed []byte

// ScanBytes implements pgx's BytesScanner.
func (b *Borrowed) ScanBytes(column []byte) error {
	*b = column
	return nil
}

// Records implements [ledger.Store].
func (read Query) Records(ctx context.Context, from uint64, n int, each func(uint64, []byte, tlog.Hash) error) error {
	var index int64
	var record, hash Borrowed
	columns := []any{&index, &record, &hash}
	return read(ctx, func(row Row) error {
		if err := row.Scan(columns...); err != nil {
			return err
		}
		if len(hash) != tlog.HashSize {
			return fmt.Errorf("%w: record %d has a hash of %d bytes", ledger.ErrCorrupt, index, len(hash))
		}
		return each(uint64(index), record, tlog.Hash(hash))
	}, "SELECT idx, record, hash FROM entries WHERE idx >= $1 ORDER BY idx LIMIT $2", int64(from), int64(n))
}

// Select implements [ledger.Store].
func (read Query) Select(ctx context.Context, q ledger.EntryQuery) (list []ledger.StoredEntry, err error) {
	switch q.By {
	case "ByID":
		return read.List(ctx, SelectEntries+"WHERE id = $1", q.ID[:])
	case "ByReference":
		return read.List(ctx, SelectEntries+"WHERE reference = $1 AND idx >= $2 ORDER BY idx LIMIT $3", q.Name, int64(q.From), int64(q.Limit))
	case "Range":
		return read.List(ctx, SelectEntries+"WHERE idx >= $1 ORDER BY idx LIMIT $2", int64(q.From), int64(q.Limit))
	}
	c := ledger.Claim{Name: q.Name}
	err = read(ctx, func(row Row) error {
		holder, err := ScanEntry(row, &c.Status, &c.Due)
		holder.Claims = []ledger.Claim{c}
		list = append(list, holder)
		return err
	}, selectHolder, q.Name)
	return list, err
}

// List returns the entries that a query selects with [SelectEntries].
func (read Query) List(ctx context.Context, query string, args ...any) (list []ledger.StoredEntry, err error) {
	err = read(ctx, func(row Row) error {
		e, err := ScanEntry(row)
		list = append(list, e)
		return err
	}, query, args...)
	return list, err
}

// ScanEntry scans the columns of [SelectEntries], and more columns.
func ScanEntry(row Row, more ...any) (e ledger.StoredEntry, err error) {
	var index int64
	var id, hash []byte
	if err := row.Scan(append([]any{&index, &id, &e.Reference, &e.Record, &e.Sidecar, &hash}, more...)...); err != nil {
		return e, err
	}
	if len(id) != len(e.ID) || len(hash) != len(e.Hash) {
		return e, fmt.Errorf("%w: record %d has an id of %d bytes and a hash of %d", ledger.ErrCorrupt, index, len(id), len(hash))
	}
	e.Index, e.ID, e.Hash = uint64(index), uuid.UUID(id), tlog.Hash(hash)
	return e, nil
}

// FindHolders returns the holders of the claims that a query selects with [SelectHolders], by name.
func (read Query) FindHolders(ctx context.Context, query string, args ...any) (map[string]ledger.Holder, error) {
	holders := map[string]ledger.Holder{}
	err := read(ctx, func(row Row) (err error) {
		var h ledger.Holder
		var name string
		h.Position, name, err = scanPlace(row, &h.Status, &h.Due)
		holders[name] = h
		return err
	}, query, args...)
	return holders, err
}

// FindPositions returns the places of the entries that a query selects, by name: index, id and name.
func (read Query) FindPositions(ctx context.Context, query string, args ...any) (map[string][]ledger.Position, error) {
	places := map[string][]ledger.Position{}
	err := read(ctx, func(row Row) error {
		p, name, err := scanPlace(row)
		places[name] = append(places[name], p)
		return err
	}, query, args...)
	return places, err
}

// scanPlace scans an index, an id, a name, and more columns.
func scanPlace(row Row, more ...any) (p ledger.Position, name string, err error) {
	var index int64
	var id []byte
	if err := row.Scan(append([]any{&index, &id, &name}, more...)...); err != nil {
		return p, "", err
	}
	if len(id) != len(p.ID) {
		return p, "", fmt.Errorf("%w: record %d has an id of %d bytes", ledger.ErrCorrupt, index, len(id))
	}
	return ledger.Position{Index: uint64(index), ID: uuid.UUID(id)}, name, nil
}

// Claims implements [ledger.Store].
func (read Query) Claims(ctx context.Context, q ledger.ClaimQuery) (claims []ledger.Claim, err error) {
	where, args := condition(q)
	query := fmt.Sprintf("SELECT name, coalesce(status, ''), coalesce(due, 0) FROM claims %s ORDER BY name LIMIT $%d", where, len(args)+1)
	err = read(ctx, func(row Row) error {
		var c ledger.Claim
		err := row.Scan(&c.Name, &c.Status, &c.Due)
		claims = append(claims, c)
		return err
	}, query, append(args, int64(q.Limit))...)
	return claims, err
}

// CountClaims implements [ledger.Store].
func (read Query) CountClaims(ctx context.Context, q ledger.ClaimQuery) (n uint64, err error) {
	where, args := condition(q)
	var count int64
	err = read(ctx, func(row Row) error { return row.Scan(&count) }, "SELECT count(*) FROM claims "+where, args...)
	return uint64(count), err
}

// condition returns a query's WHERE clause. A due time or a status matches an index's condition.
func condition(q ledger.ClaimQuery) (where string, args []any) {
	after, before := q.NameBounds()
	where, args = "WHERE name > $1 AND name < $2", []any{after, before}
	switch {
	case q.DueBy != 0:
		where, args = where+" AND due <= $3", append(args, q.DueBy)
	case q.Done && q.Status == "":
		where += " AND due IS NULL AND status IS NULL"
	case q.Done:
		where, args = where+" AND due IS NULL AND status = $3", append(args, q.Status)
	}
	return where, args
}
