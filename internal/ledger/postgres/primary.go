package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// undefinedFunction is the SQLSTATE of an engine that has no timelines.
const undefinedFunction = "42883"

// errFormerPrimary: the server was the primary once. What it has may not be in the log.
var errFormerPrimary = errors.New("the server is no longer the primary: another one was promoted")

// A primary tells the primary from servers that were it before. They may still run, accept
// connections and show commits that no standby has.
//
// A server that is promoted begins a new timeline, with the next number. A session has one timeline
// as long as it lasts, and the highest one that any session has had is that of the primary.
type primary struct{ timeline atomic.Int64 }

// selectTimeline returns the timeline as hexadecimal digits, which are the beginning of the name of
// the file that the write-ahead log is written to. A standby writes none.
const selectTimeline = `SELECT CASE WHEN pg_is_in_recovery() THEN '0' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`

// timelineKey is the key in the custom data of a connection.
const timelineKey = "timeline"

// validate returns a function for [pgconn.Config.ValidateConnect] which also rejects the former
// primary, so that the next host is tried.
func (p *primary) validate(next pgconn.ValidateConnectFunc) pgconn.ValidateConnectFunc {
	return func(ctx context.Context, conn *pgconn.PgConn) error {
		if next != nil {
			if err := next(ctx, conn); err != nil {
				return err
			}
		}
		timeline, err := timelineOf(ctx, conn)
		if err != nil {
			return err
		}
		conn.CustomData()[timelineKey] = timeline
		for newest := p.timeline.Load(); timeline > newest; newest = p.timeline.Load() {
			p.timeline.CompareAndSwap(newest, timeline)
		}
		return p.check(conn)
	}
}

// timelineOf returns the timeline of a new connection, or 0 if the engine has none.
func timelineOf(ctx context.Context, conn *pgconn.PgConn) (int64, error) {
	results, err := conn.Exec(ctx, selectTimeline).ReadAll()
	var e *pgconn.PgError
	if errors.As(err, &e) && e.Code == undefinedFunction {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	timeline, err := strconv.ParseInt(string(results[0].Rows[0][0]), 16, 64)
	if err != nil {
		return 0, fmt.Errorf("the timeline of the server: %w", err)
	}
	return timeline, nil
}

// check returns errFormerPrimary if another server was promoted since the connection was made.
func (p *primary) check(conn *pgconn.PgConn) error {
	if timeline, _ := conn.CustomData()[timelineKey].(int64); timeline < p.timeline.Load() {
		return errFormerPrimary
	}
	return nil
}

// prepare is a hook of the pool, which drops a connection for which it returns false.
func (p *primary) prepare(_ context.Context, conn *pgx.Conn) (bool, error) {
	return p.check(conn.PgConn()) == nil, nil
}
