// Package postgrestest runs a PostgreSQL server for tests: a new [Cluster] in a temporary folder,
// on a free port, which the kernel ends with the test binary.
package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// ErrMissing is returned if no PostgreSQL server is installed.
var ErrMissing = errors.New("there is no PostgreSQL server: install the Debian package postgresql-15, or another one with initdb and postgres")

// A Mode is a way to stop a server, as in pg_ctl.
type Mode syscall.Signal

// Modes of [Cluster.Stop].
const (
	Fast      = Mode(syscall.SIGINT)  // after rolling back all transactions
	Immediate = Mode(syscall.SIGQUIT) // as in a crash: the next start recovers
)

// waitLimit is the maximum time to wait for the server on a busy machine.
const waitLimit = 60 * time.Second

// password is in every URL, so that tests can check where it must not appear. The server trusts
// local clients without it.
const password = "pass/word?7"

// A Cluster is a PostgreSQL server that is a child of this process.
type Cluster struct {
	folder, binaries string
	settings         []string // NAME=value
	port             int
	server           *exec.Cmd
	ended            chan struct{} // closed when the server has ended
	databases        atomic.Int64  // number created
}

// For starts a cluster and closes it with the test. Without an installed server it calls [Without].
// Settings have the form NAME=value.
func For(t testing.TB, settings ...string) *Cluster {
	t.Helper()
	c, err := Start(settings...)
	if errors.Is(err, ErrMissing) {
		Without(t, err)
	}
	return closeWith(t, c, err)
}

// Standby starts a server named standby that streams from this one, and closes it with the test.
func (c *Cluster) Standby(t testing.TB) *Cluster {
	t.Helper()
	s, err := start(c.binaries, c.settings, "pg_basebackup", "--write-recovery-conf", "--checkpoint=fast",
		"-d", fmt.Sprintf("host=127.0.0.1 port=%d user=riffle application_name=standby", c.port))
	return closeWith(t, s, err)
}

func closeWith(t testing.TB, c *Cluster, err error) *Cluster {
	t.Helper()
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, c.Close()) })
	return c
}

// Without skips a test that cannot run because of err. If the environment has CI set, where every
// test must run, it fails the test.
func Without(t testing.TB, err error) {
	t.Helper()
	if os.Getenv("CI") != "" {
		t.Fatal(err)
	}
	t.Skip("skipped: ", err)
}

// Start starts a cluster for a TestMain, which must close it. Single tests use [For].
func Start(settings ...string) (*Cluster, error) {
	binaries, err := Binaries()
	if err != nil {
		return nil, err
	}
	return start(binaries, settings, "initdb", "-U", "riffle", "--auth=trust", "--encoding=UTF8", "--no-locale")
}

func start(binaries string, settings []string, program string, args ...string) (*Cluster, error) {
	// Not t.TempDir: root's servers run as another user, who cannot read that.
	folder, err := os.MkdirTemp("", "riffle-postgres-")
	if err != nil {
		return nil, err
	}
	c := &Cluster{folder: folder, binaries: binaries, settings: settings}
	if err := c.initialize(program, args...); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Binaries returns the folder with the newest server's programs, or [ErrMissing].
func Binaries() (string, error) {
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb") // fails only for its pattern
	version := func(path string) int {
		n, _ := strconv.Atoi(strings.Split(path, "/")[4])
		return n
	}
	if len(found) > 0 {
		return filepath.Dir(slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) })), nil
	}
	path, err := exec.LookPath("initdb")
	if err != nil {
		return "", ErrMissing
	}
	return filepath.Dir(path), nil
}

// initialize creates the cluster with a program and starts the server.
func (c *Cluster) initialize(program string, args ...string) error {
	if err := Chown(c.folder); err != nil {
		return err
	}
	args = append(args, "-D", c.data(), "--no-sync")
	// Another goroutine could end this thread, and with it the program: see command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if out, err := c.command(context.Background(), program, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", program, err, out)
	}
	var err error
	if c.port, err = FreePort(); err != nil {
		return err
	}
	return c.Restart()
}

// Chown makes the user postgres the owner of a path if this process is root's, whose servers run as
// that user.
func Chown(path string) error {
	if owner := owner(); owner != nil {
		return os.Chown(path, int(owner.Uid), int(owner.Gid))
	}
	return nil
}

// owner is who runs the servers of this process: root's the user postgres, for PostgreSQL does not
// run as root; nil for this process's user.
func owner() *syscall.Credential {
	found, err := user.Lookup("postgres")
	if os.Getuid() != 0 || err != nil {
		return nil
	}
	uid, _ := strconv.ParseUint(found.Uid, 10, 32)
	gid, _ := strconv.ParseUint(found.Gid, 10, 32)
	return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// command returns a command of PostgreSQL, run as the user postgres if this process is root's. The
// kernel ends it with the thread that starts it.
func (c *Cluster) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	command := exec.CommandContext(ctx, filepath.Join(c.binaries, name), args...) //nolint:gosec // the command is from this package
	command.Dir, command.SysProcAttr = c.folder, &syscall.SysProcAttr{Pdeathsig: syscall.SIGINT, Credential: owner()}
	return command
}

// FreePort returns a free TCP port on loopback. It returns each port once. The port is below those
// that Linux gives to connections: one of these could take it before its server listens.
func FreePort() (int, error) {
	for {
		port := 10_000 + rand.IntN(32_768-10_000) //nolint:gosec // no secret
		l, err := new(net.ListenConfig).Listen(context.Background(), "tcp", fmt.Sprint("127.0.0.1:", port))
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		} else if err != nil {
			return 0, err
		}
		if err := l.Close(); err != nil {
			return 0, err
		}
		if _, used := usedPorts.LoadOrStore(port, true); !used {
			return port, nil
		}
	}
}

var usedPorts sync.Map // returned by FreePort

// Restart starts the server after [Cluster.Stop], and waits until it accepts connections.
func (c *Cluster) Restart() error {
	log, err := os.OpenFile(c.logFile(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = log.Close() }()
	args := []string{"-D", c.data(), "-p", strconv.Itoa(c.port), "-c", "listen_addresses=127.0.0.1", "-c", "unix_socket_directories=" + c.folder}
	for _, s := range c.settings {
		args = append(args, "-c", s)
	}
	started := make(chan error)
	ended := make(chan struct{})
	go func() {
		// Pdeathsig is sent when the thread that started the child ends, so this goroutine locks
		// it.
		runtime.LockOSThread()
		c.server = c.command(context.Background(), "postgres", args...)
		c.server.Stdout, c.server.Stderr = log, log
		err := c.server.Start()
		started <- err
		if err == nil {
			_ = c.server.Wait() // tests kill it
			close(ended)
		}
	}()
	if err := <-started; err != nil {
		return err
	}
	c.ended = ended
	for deadline := time.Now().Add(waitLimit); ; time.Sleep(20 * time.Millisecond) {
		err := c.Exec(context.Background(), "SELECT 1")
		if err == nil {
			return nil
		}
		select {
		case <-ended:
			return fmt.Errorf("the server ended:\n%s", c.Log())
		default:
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the server accepts no connections: %w\n%s", err, c.Log())
		}
	}
}

func (c *Cluster) logFile() string { return filepath.Join(c.folder, "log") }

// Log returns the server's log.
func (c *Cluster) Log() string {
	text, err := os.ReadFile(c.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Exec executes SQL in the database postgres.
func (c *Cluster) Exec(ctx context.Context, sql string) error {
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres"))
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}

// Pid returns the process id of the server. Its child processes serve the connections.
func (c *Cluster) Pid() int { return c.server.Process.Pid }

// Address returns the server's host and port.
func (c *Cluster) Address() string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(c.port)) }

// URL returns a database's URL.
func (c *Cluster) URL(database string) string { return URLAt(c.Address(), database) }

// URLAt returns the URL of a database at another address, such as a proxy's.
func URLAt(address, database string) string {
	escaped := strings.NewReplacer("/", "%2F", "?", "%3F").Replace(password)
	return fmt.Sprintf("postgres://riffle:%s@%s/%s?sslmode=disable", escaped, address, database)
}

// Password returns the password in every URL.
func Password() string { return password }

// NewDatabase creates an empty database and returns its name.
func (c *Cluster) NewDatabase(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("riffle_%d", c.databases.Add(1))
	require.NoError(t, c.Exec(t.Context(), "CREATE DATABASE "+name))
	return name
}

// SmallDisk moves a database to a new disk of size bytes, and returns the disk's folder.
func (c *Cluster) SmallDisk(t testing.TB, database string, size int) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "riffle-disk-")
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.Remove(folder) })
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		Without(t, fmt.Errorf("mounting a small disk: %w", err))
	}
	t.Cleanup(func() { assert.NoError(t, syscall.Unmount(folder, syscall.MNT_DETACH)) })
	require.NoError(t, Chown(folder))
	execute := func(statements ...string) {
		for _, sql := range statements {
			assert.NoError(t, c.Exec(context.Background(), sql))
		}
	}
	space := "space_of_" + database
	execute(fmt.Sprintf("CREATE TABLESPACE %s LOCATION '%s'", space, folder), fmt.Sprintf("ALTER DATABASE %s SET TABLESPACE %s", database, space))
	t.Cleanup(func() { execute(fmt.Sprintf("DROP DATABASE %s (FORCE)", database), "DROP TABLESPACE "+space) })
	return folder
}

// Stop stops the server unless it has ended, and waits until it has.
func (c *Cluster) Stop(mode Mode) error {
	if c.ended == nil {
		return nil
	}
	select {
	case <-c.ended:
		return nil
	default:
	}
	if err := c.server.Process.Signal(syscall.Signal(mode)); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	select {
	case <-c.ended:
		return nil
	case <-time.After(waitLimit):
		return fmt.Errorf("the server does not end:\n%s", c.Log())
	}
}

// Close stops the server and removes its folder.
func (c *Cluster) Close() error { return errors.Join(c.Stop(Immediate), os.RemoveAll(c.folder)) }
