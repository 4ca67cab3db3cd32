package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// pageSize is the size of a new file's pages, in bytes. Pages of half that size would waste a tenth of it,
// since seven records fit where seven and a half are room for. The driver sets pragmas in alphabetical order, and this one has
// to come before the journal's mode, so its name is quoted.
const pageSize = 8192

// dsn returns a file's data source name with every connection's pragmas and the given ones. The
// file must exist: otherwise a connection would recreate a deleted file and read it as empty.
func dsn(path string, pragmas ...string) string {
	return dsnOf("rw", path, append(pragmas, fmt.Sprintf(`"page_size"(%d)`, pageSize), "journal_mode(WAL)", "synchronous(FULL)", "wal_autocheckpoint(0)"))
}

// dsnOf returns a data source name with a mode, rw, or ro for a program that does not write, and
// further parameters.
func dsnOf(mode, path string, pragmas []string) string {
	q := url.Values{"_pragma": append([]string{"busy_timeout(10000)", "trusted_schema(0)", "cell_size_check(1)"}, pragmas...)}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: q.Encode() + "&mode=" + mode}).String()
}

// A connector opens connections and checks that their commits are durable, unless they only read.
type connector struct {
	dsn   string
	reads bool
}

func (c connector) Driver() driver.Driver { return &sqlite.Driver{} }

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := c.Driver().Open(c.dsn)
	if err != nil || c.reads {
		return conn, err
	}
	for pragma, want := range map[string]driver.Value{"journal_mode": "wal", "synchronous": int64(2)} {
		got, err := queryValue(ctx, conn, "PRAGMA "+pragma)
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if got != want {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s is %v where %v is needed: this file cannot be written durably", pragma, got, want), conn.Close())
		}
	}
	return conn, nil
}

func queryValue(ctx context.Context, conn driver.Conn, query string) (value driver.Value, err error) {
	rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, nil)
	err = eachRow(rows, err, func(row sqlread.Row) error { return row.Scan(&value) })
	return value, err
}

// Code returns the primary result code of an SQLite error, or 0 for any other error.
func Code(err error) int {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code() & 0xff
	}
	return 0
}

// isFull reports whether SQLite met a full disk, quota or file size limit.
func isFull(err error) bool { return Code(err) == sqlite3.SQLITE_FULL }

// read implements [sqlread.Query].
func (r *Reader) read(ctx context.Context, each func(sqlread.Row) error, query string, args ...any) error {
	return r.withConn(ctx, func(conn driver.Conn) error {
		rows, err := conn.(driver.QueryerContext).QueryContext(ctx, query, named(nil, args...))
		return eachRow(rows, err, each)
	})
}

// withConn calls f with a reading connection of the driver, since queries of database/sql take 1.5
// times as long.
func (r *Reader) withConn(ctx context.Context, f func(driver.Conn) error) (err error) {
	conn, err := r.conns.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	return conn.Raw(func(c any) error { return f(c.(driver.Conn)) })
}

// named appends the arguments of a statement in their order.
func named(list []driver.NamedValue, args ...any) []driver.NamedValue {
	for i, v := range args {
		list = append(list, driver.NamedValue{Ordinal: i + 1, Value: v})
	}
	return list
}

// A row is a row of the driver.
type row []driver.Value

// Scan implements [sqlread.Row].
func (r row) Scan(columns ...any) error {
	for i, column := range columns {
		ok := false
		switch to := column.(type) {
		case *int64:
			*to, ok = r[i].(int64)
		case *string:
			*to, ok = r[i].(string)
		case *driver.Value:
			*to, ok = r[i], true
		case *[]byte:
			*to, ok = r[i].([]byte)
			ok = ok || r[i] == nil
		case *sqlread.Borrowed:
			*to, ok = r[i].([]byte)
		}
		if !ok {
			return fmt.Errorf("%w: column %d is a %T and not a %T", ledger.ErrCorrupt, i, r[i], column)
		}
	}
	return nil
}

// eachRow calls each for every row of a driver's query, whose outcome is rows or err.
func eachRow(rows driver.Rows, err error, each func(sqlread.Row) error) error {
	if err != nil {
		return err
	}
	values := make(row, len(rows.Columns()))
	shared := sqlread.Row(values) // converted once
	for err == nil {
		if err = rows.Next(values); err == nil {
			err = each(shared)
		}
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return errors.Join(err, rows.Close())
}
