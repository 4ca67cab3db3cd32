package failovertest

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// A link forwards connections to a port. Cut, it discards data without closing connections, like a
// pulled cable.
type link struct {
	port int // listens here
	to   int
	cut  func(sender func() string) bool // called for all data; see senderOf
}

func newLink(t *testing.T, to int, cut func(sender func() string) bool) *link {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	l := &link{port: listener.Addr().(*net.TCPAddr).Port, to: to, cut: cut}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			from, err := listener.Accept()
			if err != nil {
				return
			}
			go l.forward(from)
		}
	}()
	return l
}

// forward copies in both directions until one side closes. A connection that has lost data stays
// dead, since TCP cannot continue after a gap.
func (l *link) forward(from net.Conn) {
	defer func() { _ = from.Close() }()
	sender := sync.OnceValue(func() string { return senderOf(from) })
	if l.cut(sender) {
		_, _ = io.Copy(io.Discard, from)
		return
	}
	to, err := net.Dial("tcp", fmt.Sprint("127.0.0.1:", l.to))
	if err != nil {
		return
	}
	defer func() { _ = to.Close() }()
	done := make(chan struct{}, 2)
	carry := func(to, data net.Conn) {
		defer func() { done <- struct{}{} }()
		buffer := make([]byte, 1<<16)
		lost := false
		for {
			n, err := data.Read(buffer)
			if lost = lost || l.cut(sender); lost && err == nil {
				continue
			}
			if err != nil {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
	}
	go carry(to, from)
	carry(from, to)
	<-done
}

// processesIn returns the processes whose working directory is in a folder, such as a node's.
func processesIn(folder string) (pids []int) {
	all, _ := filepath.Glob("/proc/[0-9]*")
	for _, p := range all {
		if cwd, err := os.Readlink(p + "/cwd"); err == nil && (cwd == folder || strings.HasPrefix(cwd, folder+"/")) {
			if pid, err := strconv.Atoi(filepath.Base(p)); err == nil {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

// senderOf returns the working directory of the process that opened a connection from this machine.
func senderOf(conn net.Conn) string {
	inode, err := inodeOf(conn.RemoteAddr().(*net.TCPAddr).Port, conn.LocalAddr().(*net.TCPAddr).Port)
	if err != nil {
		return ""
	}
	files, _ := filepath.Glob("/proc/[0-9]*/fd/*")
	for _, f := range files {
		if target, err := os.Readlink(f); err == nil && target == "socket:["+inode+"]" {
			cwd, _ := os.Readlink(filepath.Join(filepath.Dir(f), "..", "cwd"))
			return cwd
		}
	}
	return ""
}

// inodeOf returns the inode of the socket that connects two ports of this machine.
func inodeOf(local, remote int) (string, error) {
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return "", err
	}
	want := fmt.Sprintf("0100007F:%04X 0100007F:%04X ", local, remote)
	for line := range strings.Lines(string(table)) {
		if strings.Contains(line, want) {
			if fields := strings.Fields(line); len(fields) > 9 {
				return fields[9], nil
			}
		}
	}
	return "", errors.New("there is no such connection")
}
