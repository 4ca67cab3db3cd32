package postgres

import (
	"context"
	"crypto/fips140"
	_ "embed"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"riffle/internal/ledger"
)

// Service is the application_name of the sessions of a service.
const Service = "riffle"

// parseURL parses a database URL. It passes pgx the URL without the password, so that no error can
// contain it. writes has it connect to a primary whose commits are durable.
func parseURL(location string, writes bool) (*pgxpool.Config, error) {
	//nolint:gosec // the password of an example
	const form = "the URL of the database has the form postgres://user:password@host:5432/database, with special characters of the password escaped like %2F for /"
	u, err := url.Parse(location)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New(form)
	}
	query := u.Query()
	password, given := u.User.Password()
	if given {
		u.User = url.User(u.User.Username())
	}
	if query.Has("password") {
		password, given = query.Get("password"), true
		query.Del("password")
		u.RawQuery = query.Encode()
	}
	config, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("%s, and this one cannot be read: %w", form, err)
	}
	c := config.ConnConfig
	if given {
		c.Password = password
	}
	if limit := timeout / time.Duration(countHosts(c)); c.ConnectTimeout == 0 || c.ConnectTimeout > limit {
		c.ConnectTimeout = limit
	}
	if writes && !query.Has("target_session_attrs") && os.Getenv("PGTARGETSESSIONATTRS") == "" {
		c.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	if fips140.Enforced() && c.RequireAuth == "" {
		c.RequireAuth = "!md5" // which would panic
	}
	if c.RuntimeParams["application_name"] == "" {
		c.RuntimeParams["application_name"] = Service
	}
	if writes {
		c.AfterConnect = setUpSession
	}
	if !query.Has("pool_max_conns") {
		config.MaxConns = int32(ledger.DefaultReaders())
	}
	if !query.Has("pool_max_conn_idle_time") {
		config.MaxConnIdleTime, config.HealthCheckPeriod = idleTime, idleTime
	}
	if config.PingTimeout == 0 {
		config.PingTimeout = pingTimeout
	}
	return config, nil
}

// countHosts returns the number of hosts in a URL. They share the connect timeout, so that a
// hanging host leaves time for the next; pgx would give each the whole time.
func countHosts(c *pgx.ConnConfig) int {
	address := func(host string, port uint16) string { return net.JoinHostPort(host, strconv.Itoa(int(port))) }
	hosts := map[string]bool{address(c.Host, c.Port): true}
	for _, f := range c.Fallbacks { // twice the same host with sslmode=prefer
		hosts[address(f.Host, f.Port)] = true
	}
	return len(hosts)
}

// durableSettings are the settings that lose committed transactions when off, with how to turn them
// on.
var durableSettings = map[string]string{
	"fsync":              "on, in the configuration of the server",
	"full_page_writes":   "on, in the configuration of the server",
	"synchronous_commit": "on, in the configuration of the server, or of the database or the role if it is set there",
}

// sessionSettings pin synchronous_commit, so that a change of the server's configuration does not
// make the session less durable, and make the server end transactions of stalled or lost clients.
// They skip settings that the operator has set or the engine lacks.
//
//go:embed session.sql
var sessionSettings string

// writerSettings are for the connection that appends. A role's statement_timeout would cancel the
// wait for a standby, and so make a commit visible that only one server has. lock_timeout ends a
// statement before it commits; it is shorter than timeout, so that statements of closed sessions do
// not pile up on a server that waits.
//
//go:embed writer.sql
var writerSettings string

// durableOrFail is an SQL expression that is 0, or fails with an invalid text if the server would lose
// the commit: some settings can change during a session.
//
//go:embed durable.sql
var durableOrFail string

// setUpSession applies sessionSettings to a new connection. It returns errNotDurable if the server
// would lose committed transactions. Settings can change, so every connection and every append
// checks: see durableOrFail.
func setUpSession(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit', 'synchronous_standby_names')").ReadAll()
	if err != nil {
		return err
	}
	settings := map[string]string{}
	for _, result := range results {
		for _, row := range result.Rows {
			settings[string(row[0])] = string(row[1])
			if name := string(row[0]); string(row[1]) == "off" {
				return fmt.Errorf("%w, because it has %s=off: set %s to %s", errNotDurable, name, name, durableSettings[name])
			}
		}
	}
	if settings["synchronous_commit"] == "local" && settings["synchronous_standby_names"] != "" {
		return fmt.Errorf("%w, or a standby takes over, because it has synchronous_commit=local with synchronous_standby_names=%q: set synchronous_commit to %s",
			errNotDurable, settings["synchronous_standby_names"], durableSettings["synchronous_commit"])
	}
	_, err = conn.Exec(ctx, sessionSettings).ReadAll()
	return err
}

func setUpWriter(ctx context.Context, conn *pgconn.PgConn) error {
	if err := setUpSession(ctx, conn); err != nil {
		return err
	}
	_, err := conn.Exec(ctx, writerSettings).ReadAll()
	return err
}

// isUnsupported reports whether the engine lacks a function, such as for timelines.
func isUnsupported(err error) bool {
	const undefinedFunction, notSupported = "42883", "0A000"
	e, ok := errors.AsType[*pgconn.PgError](err)
	return ok && (e.Code == undefinedFunction || e.Code == notSupported)
}

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
	if isUnsupported(err) {
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
