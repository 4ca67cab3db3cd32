package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// parse reads the URL of a database. pgx gets to see it without the password, so that no error can have the password in it.
func parse(location string) (*pgxpool.Config, error) {
	//nolint:gosec // the password of an example
	const form = "the URL of the database has the form postgres://user:password@host:5432/database, in which special characters of the password are written as %2F and the like"
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
	c.AfterConnect = prepareSession
	return config, nil
}

// durability is the settings by which a server would lose what it has committed, with what each needs.
var durability = map[string]string{
	"fsync":              "on, in the configuration of the server",
	"full_page_writes":   "on, in the configuration of the server",
	"synchronous_commit": "on, in the configuration of the server, or of the database or the role if it is set there",
}

// settings keep the session as durable as it was found, also when the server is configured anew, and have the server end
// a transaction soon whose client has stopped, or has gone without a word. What an operator has set stays as it is, and an
// engine that lacks a setting is not asked for it.
const settings = `SELECT set_config(name, setting, false) FROM pg_settings WHERE name = 'synchronous_commit';
SELECT set_config(s.name, w.value, false) FROM pg_settings s JOIN (VALUES ('idle_in_transaction_session_timeout', '10s'),
('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) w (name, value)
ON s.name = w.name WHERE s.source = 'default'`

// prepareSession refuses a server that is not durable. It is run on every new connection, for settings can change.
func prepareSession(ctx context.Context, conn *pgconn.PgConn) error {
	results, err := conn.Exec(ctx, "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit')").ReadAll()
	if err != nil {
		return err
	}
	for _, result := range results {
		for _, row := range result.Rows {
			if name := string(row[0]); string(row[1]) == "off" {
				return fmt.Errorf("%w, for it has %s=off: set %s to %s", errNotDurable, name, name, durability[name])
			}
		}
	}
	_, err = conn.Exec(ctx, settings).ReadAll()
	return err
}
