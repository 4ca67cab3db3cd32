package main_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestSystemdIsTold reads what the service tells systemd: that it is ready, that it is alive, that it
// reads its settings anew, and that it stops.
func TestSystemdIsTold(t *testing.T) {
	t.Parallel()
	socket := filepath.Join(t.TempDir(), "notify")
	listener, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: socket, Net: "unixgram"})
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	s := launch{env: []string{"NOTIFY_SOCKET=" + socket, "WATCHDOG_USEC=100000"}}.start(t)
	wait := func(want string) {
		t.Helper()
		require.NoError(t, listener.SetReadDeadline(time.Now().Add(waitLimit)))
		message := make([]byte, 100)
		for said := "WATCHDOG=1"; said != want; {
			require.Equal(t, "WATCHDOG=1", said, "instead of %s", want)
			n, err := listener.Read(message)
			require.NoError(t, err, want)
			said = string(message[:n])
		}
	}
	wait("READY=1")
	wait("WATCHDOG=1")
	s.signal(syscall.SIGHUP)
	wait("RELOADING=1")
	wait("READY=1")
	s.signal(syscall.SIGTERM)
	wait("STOPPING=1")
	require.Zero(t, s.wait())
}

// TestUnit lets systemd judge the unit: its form, and how much of the system the service could reach,
// by a number up to 10.
func TestUnit(t *testing.T) {
	t.Parallel()
	analyze := requireTool(t, "systemd-analyze")
	unit, err := os.ReadFile("../../deploy/systemd/riffle.service")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "riffle.service")
	text := strings.ReplaceAll(string(unit), "/usr/bin/riffle-server", program)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	out, err := exec.CommandContext(t.Context(), analyze, "verify", path).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
	require.Empty(t, string(out))
	out, err = exec.CommandContext(t.Context(), analyze, "security", "--offline=true", "--threshold=20", path).CombinedOutput()
	require.NoErrorf(t, err, "%s", out)
}
