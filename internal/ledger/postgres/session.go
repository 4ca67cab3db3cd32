package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// parseURL parses the URL of a database. It gives pgx the URL without the password, so that no
// error can contain it.
func parseURL(location string) (*pgxpool.Config, error) {
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
	if c.ConnectTimeout == 0 || c.ConnectTimeout > timeout {
		c.ConnectTimeout = timeout
	}
	c.AfterConnect = setUpSession
	return config, nil
}

// durableSettings are the settings that lose committed transactions when they are off, and how to
// turn them on.
var durableSettings = map[string]string{
	"fsync":              "on, in the configuration of the server",
	"full_page_writes":   "on, in the configuration of the server",
	"synchronous_commit": "on, in the configuration of the server, or of the database or the role if it is set there",
}

// sessionSettings pin synchronous_commit, so that a change of the server's configuration does not
// make the session less durable, and have the server end transactions of a client that stalls or
// vanishes. A setting that an operator has set is left alone, and so is one that the engine does
// not have.
const sessionSettings = `SELECT set_config(name, setting, false) FROM pg_settings WHERE name = 'synchronous_commit';
SELECT set_config(s.name, w.value, false) FROM pg_settings s JOIN (VALUES ('idle_in_transaction_session_timeout', '10s'),
('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) w (name, value)
ON s.name = w.name WHERE s.source = 'default'`

// setUpSession applies sessionSettings to a new connection. It returns errNotDurable if the server
// would lose committed transactions; settings can change, so every connection checks.
func setUpSession(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')").ReadAll()
	if err != nil {
		return err
	}
	for _, result := range results {
		for _, row := range result.Rows {
			if name := string(row[0]); string(row[1]) == "off" {
				return fmt.Errorf("%w, for it has %s=off: set %s to %s", errNotDurable, name, name, durableSettings[name])
			}
		}
	}
	_, err = conn.Exec(ctx, sessionSettings).ReadAll()
	return err
}
