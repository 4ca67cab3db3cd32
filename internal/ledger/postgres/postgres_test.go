package postgres

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// cluster is the server of all tests, or nil if PostgreSQL is not installed.
var cluster *postgrestest.Cluster

var engine = ledgertest.Engine{
	New:    newDatabase,
	Open:   func(ctx context.Context, url string) (ledger.Store, error) { return Open(ctx, url) },
	Shared: true,
}

// envRunning tells a test's child process that the server is running.
const envRunning = "RIFFLE_POSTGRES_TEST_RUNNING"

func TestMain(m *testing.M) {
	if os.Getenv(envRunning) != "" {
		engine.Main(m)
		return
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (code int, err error) {
	if err := os.Setenv(envRunning, "yes"); err != nil {
		return 0, err
	}
	// Tests mostly wait for servers.
	if err := flag.Set("test.parallel", "8"); err != nil {
		return 0, err
	}
	cluster, err = postgrestest.Start("max_connections=500")
	if errors.Is(err, postgrestest.ErrMissing) {
		return m.Run(), nil
	} else if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, cluster.Close()) }()
	return m.Run(), nil
}

func newDatabase(t *testing.T) string {
	t.Helper()
	requireServer(t)
	return cluster.URL(cluster.NewDatabase(t))
}

// requireServer skips a test without an installed server; in CI the test fails.
func requireServer(t *testing.T) {
	t.Helper()
	if cluster == nil {
		postgrestest.Without(t, postgrestest.ErrMissing)
	}
}

func open(t *testing.T, url string) *Store {
	t.Helper()
	s, err := Open(t.Context(), url)
	require.NoError(t, err)
	return s
}

// newLog returns a new database with an empty log. The store is closed with the test.
func newLog(t *testing.T) (s *Store, url string, c *ledgertest.Chain) {
	t.Helper()
	url, c = newDatabase(t), ledgertest.NewChain(t)
	s = open(t, url)
	t.Cleanup(func() { closeStore(t, s) })
	c.Append(s)
	return s, url, c
}

// openError returns the error of opening a database, which it closes if it opens.
func openError(t *testing.T, url string) error {
	t.Helper()
	s, err := Open(t.Context(), url)
	if err == nil {
		closeStore(t, s)
	}
	return err
}

func closeStore(t *testing.T, s interface{ Close() error }) {
	t.Helper()
	assert.NoError(t, s.Close())
}

func query(t *testing.T, url, sql string, args ...any) (texts []string) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context()) // the test may be ending
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	config.RuntimeParams["statement_timeout"] = "0" // a test may give the role a short one
	conn, err := pgx.ConnectConfig(ctx, config)
	require.NoError(t, err)
	defer func() { _ = conn.Close(ctx) }()
	rows, err := conn.Query(ctx, sql, args...)
	if err == nil {
		texts, err = pgx.CollectRows(rows, pgx.RowTo[string])
	}
	require.NoError(t, err)
	return texts
}

func execute(t *testing.T, c *postgrestest.Cluster, commands ...string) {
	t.Helper()
	for _, command := range commands {
		require.NoError(t, c.Exec(context.WithoutCancel(t.Context()), command))
	}
}

func database(t *testing.T, location string) string {
	t.Helper()
	u, err := url.Parse(location)
	require.NoError(t, err)
	return strings.TrimPrefix(u.Path, "/")
}

func withParameter(url, parameter string) string { return url + "&" + parameter }

// terminateSessions ends all other sessions of a database.
func terminateSessions(t *testing.T, url string) {
	t.Helper()
	query(t, url, "SELECT pg_terminate_backend(pid)::text FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
}

func TestStore(t *testing.T) {
	t.Parallel()
	engine.Run(t)
}

// configure changes a server setting until the end of the test, and waits until new sessions have
// it.
func configure(t *testing.T, url, name, value string) {
	t.Helper()
	set := func(command, want string) {
		execute(t, cluster, command, "SELECT pg_reload_conf()")
		eventually(t, func() bool { return query(t, url, "SELECT current_setting($1)", name)[0] == want })
	}
	set(fmt.Sprintf("ALTER SYSTEM SET %s = %s", name, value), value)
	t.Cleanup(func() { set("ALTER SYSTEM RESET "+name, "on") })
}

// wantNotDurable checks that an error rejects the server for a setting.
func wantNotDurable(t *testing.T, err error, name string) {
	t.Helper()
	if !errors.Is(err, errNotDurable) || errors.Is(err, ledger.ErrUnavailable) || !strings.Contains(err.Error(), name+"=off: set "+name+" to on, in the configuration of the server") {
		t.Errorf("with %s off: %v, want errNotDurable and how to turn it on", name, err)
	}
}

// Both existing and new sessions reject such a server.
func TestConnectRejectsServerThatLosesCommits(t *testing.T) {
	for name := range durableSettings {
		t.Run(name, func(t *testing.T) {
			s, url, c := newLog(t)
			next := c.Next(ledgertest.Entries("next", 3)...)
			t.Run("off", func(t *testing.T) {
				configure(t, url, name, "off")
				if name == "synchronous_commit" { // pinned by the session
					var got string
					err := s.conn.QueryRow(t.Context(), "SHOW "+name).Scan(&got)
					assert.Truef(t, err == nil && got == "on", "the session has %s %s, %v, want on", name, got, err)
				} else {
					_, errConfirm := s.Confirm(t.Context())
					for what, err := range map[string]error{"an append": s.Append(t.Context(), next), "a confirmation": errConfirm} {
						assert.ErrorIsf(t, err, errNotDurable, "%s in an earlier session", what)
						assert.Falsef(t, errors.Is(err, ledger.ErrUnavailable), "%s in an earlier session", what)
					}
				}
				wantNotDurable(t, openError(t, url), name)

				terminateSessions(t, url)
				assert.ErrorIs(t, s.Append(t.Context(), next), ledger.ErrUnavailable, "an append over a terminated session")
				wantNotDurable(t, s.Append(t.Context(), next), name)
				s.pool.Reset() // drop the terminated sessions
				_, err := s.Head(t.Context())
				wantNotDurable(t, err, name)
			})
			assert.NoErrorf(t, s.Append(t.Context(), next), "an append once %s is on again", name)
			c.CheckLog(s)
		})
	}
}

func TestOpenRejectsSettingOfRoleOrDatabase(t *testing.T) {
	url := newDatabase(t)
	for _, target := range []string{"DATABASE " + database(t, url), "ROLE riffle"} {
		execute(t, cluster, "ALTER "+target+" SET synchronous_commit = off")
		wantNotDurable(t, openError(t, url), "synchronous_commit")
		execute(t, cluster, "ALTER "+target+" RESET synchronous_commit")
	}
	closeStore(t, open(t, url))
}

func TestSessionSetsTimeouts(t *testing.T) {
	for url, want := range map[string]string{newDatabase(t): "10s", withParameter(newDatabase(t), "idle_in_transaction_session_timeout=3s"): "3s"} {
		s := open(t, url)
		defer closeStore(t, s)
		for name, want := range map[string]string{"idle_in_transaction_session_timeout": want, "tcp_keepalives_idle": "10"} {
			var got string
			require.NoError(t, s.conn.QueryRow(t.Context(), "SHOW "+name).Scan(&got), name)
			assert.Equal(t, want, got, name)
		}
	}
}

// TestFewPrivileges appends with the privileges that the guide gives to a role.
func TestFewPrivileges(t *testing.T) {
	t.Parallel()
	_, location, chain := newLog(t)
	name := database(t, location)
	page, err := os.ReadFile("../../../docs/operations/postgresql.md")
	require.NoError(t, err)
	_, grants, _ := strings.Cut(string(page), "```sql\n")
	grants, _, _ = strings.Cut(grants, "```")
	query(t, location, "CREATE ROLE "+name+" LOGIN PASSWORD 'app'")
	for grant := range strings.Lines(strings.ReplaceAll(grants, " app;", " "+name)) {
		query(t, location, grant)
	}
	u, err := url.Parse(location)
	require.NoError(t, err)
	u.User = url.UserPassword(name, "app")
	app := open(t, u.String())
	defer closeStore(t, app)
	chain.Append(app, ledgertest.Entries("app", 1)...)
	_, err = app.conn.Exec(t.Context(), "DELETE FROM entries")
	assert.ErrorContains(t, err, "permission denied")
}

func TestOpenUnreachableServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = silent.Close() }()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	for name, address := range map[string]string{"connection refused": closed.Addr().String(), "no response": silent.Addr().String()} {
		ctx, cancel := context.WithTimeout(t.Context(), timeout) // after which the error would not be ErrUnavailable
		defer cancel()
		_, err := Open(ctx, withParameter(postgrestest.URLAt(address, "riffle"), "connect_timeout=1"))
		assert.ErrorIs(t, err, ledger.ErrUnavailable, name)
		assert.Contains(t, err.Error(), "opening the database riffle on "+address, name)
	}
	config, err := parseURL(postgrestest.URLAt("localhost:1", "riffle"), true)
	require.NoError(t, err, "the default connect timeout")
	assert.Equal(t, timeout, config.ConnConfig.ConnectTimeout, "the default connect timeout")
}

func TestErrorsDoNotContainThePassword(t *testing.T) {
	const secret = "tell/nobody?7"
	escaped := url.QueryEscape(secret)
	good := newDatabase(t)
	address := strings.TrimPrefix(good[:strings.LastIndex(good, "/")], "postgres://")
	address = address[strings.Index(address, "@")+1:]
	for name, location := range map[string]string{
		"not escaped":                    "postgres://riffle:" + secret + "@" + address + "/riffle",
		"badly escaped":                  "postgres://riffle:" + secret + "%zz@" + address + "/riffle",
		"no port":                        "postgres://riffle:" + escaped + "@127.0.0.1:port/riffle",
		"another scheme":                 "mysql://riffle:" + escaped + "@" + address + "/riffle",
		"key=value":                      "host=127.0.0.1 user=riffle password=" + secret,
		"unknown parameter":              "postgres://riffle:" + escaped + "@" + address + "/riffle?sslmode=perhaps",
		"bad pool parameter":             "postgres://riffle:" + escaped + "@" + address + "/riffle?pool_max_conns=many",
		"as a parameter":                 "postgres://riffle@" + address + "/riffle?sslmode=perhaps&password=" + escaped,
		"no such server":                 "postgres://riffle:" + escaped + "@127.0.0.1:1/riffle?sslmode=disable",
		"no such database":               "postgres://riffle:" + escaped + "@" + address + "/missing?sslmode=disable",
		"no such user":                   "postgres://nobody:" + escaped + "@" + address + "/postgres?sslmode=disable",
		"no such server, as a parameter": "postgres://riffle@127.0.0.1:1/riffle?sslmode=disable&password=" + escaped,
	} {
		err := openError(t, location)
		require.Error(t, err, name)
		for _, part := range []string{secret, escaped, "nobody?7", "nobody%3F7", "tell"} {
			assert.NotContainsf(t, err.Error(), part, "%s: the password is in %q", name, err)
		}
	}
	for _, location := range []string{"postgres://riffle:" + escaped + "@localhost/riffle", "postgres://riffle@localhost/riffle?password=" + escaped} {
		config, err := parseURL(location, true)
		assert.Truef(t, err == nil && config.ConnConfig.Password == secret && config.ConnConfig.User == "riffle", "the parsed user or password is wrong (%v)", err)
	}
}
