package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlread"
)

// read implements [sqlread.Reader].
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
