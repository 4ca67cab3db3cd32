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

// undefinedFunction is the SQLSTATE of an engine without timelines.
const undefinedFunction = "42883"

// undefinedTable is the SQLSTATE of a database without a log.
const undefinedTable = "42P01"

// errFormerPrimary: another server was promoted, and the log may lack this server's commits.
var errFormerPrimary = errors.New("the server is no longer the primary: another one was promoted")

// A primary distinguishes the primary from former ones, which may still run, accept connections and
// show commits that no standby has.
//
// A promoted server begins a new timeline with the next number. A session's timeline never changes,
// and the highest timeline of any session is the primary's.
type primary struct{ timeline atomic.Int64 }

// selectTimeline returns the timeline in hexadecimal digits, with which the current write-ahead log
// file's name begins. A standby writes no such file.
const selectTimeline = `SELECT CASE WHEN pg_is_in_recovery() THEN '0' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END`

// timelineKey is the key in a connection's custom data.
const timelineKey = "timeline"

// validate returns a function for [pgconn.Config.ValidateConnect] that also rejects a former
// primary, so that pgx tries the next host.
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

// timelineOf returns a new connection's timeline, or 0 if the engine has none.
func timelineOf(ctx context.Context, conn *pgconn.PgConn) (int64, error) {
	results, err := conn.Exec(ctx, selectTimeline).ReadAll()
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code == undefinedFunction {
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

// check returns errFormerPrimary if another server was promoted after the connection was opened.
func (p *primary) check(conn *pgconn.PgConn) error {
	if timeline, _ := conn.CustomData()[timelineKey].(int64); timeline < p.timeline.Load() {
		return errFormerPrimary
	}
	return nil
}

// prepare is a hook of the pool, which closes a connection if it returns false.
func (p *primary) prepare(_ context.Context, conn *pgx.Conn) (bool, error) {
	return p.check(conn.PgConn()) == nil, nil
}
