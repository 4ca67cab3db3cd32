package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger"
)

// writer is the environment variable of a writer process. It has lines: the store's location, the
// log's folder, the key file, a label, and the number of entries per caller.
const writer = "RIFFLE_LEDGERTEST_WRITER"

// Main is the TestMain of a package that runs the suite. In a process that the suite has started,
// it is a writer.
func (e Engine) Main(m *testing.M) {
	settings := os.Getenv(writer)
	if settings == "" {
		os.Exit(m.Run())
	}
	if err := e.write(strings.Split(settings, "\n")); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // the caller must not run the tests, which would start more processes
}

// Callers in each process, and entries that each appends. A third of the entries have claims that
// all processes want, and another third unique references.
const (
	callers = 8
	each    = 30
)

func (e Engine) write(settings []string) error {
	ctx := context.Background()
	location, folder, key, label := settings[0], settings[1], settings[2], settings[3]
	n, _ := strconv.Atoi(settings[4]) // a number
	store, err := e.Open(ctx, location)
	for errors.Is(err, ledger.ErrInUse) { // until the other processes have closed it
		time.Sleep(5 * time.Millisecond)
		store, err = e.Open(ctx, location)
	}
	if err != nil {
		return err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: folder, KeyFile: key})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	var wait sync.WaitGroup
	errs := make([]error, callers)
	for caller := range callers {
		wait.Go(func() {
			for i, entry := range Entries(fmt.Sprint(label, caller), n) {
				switch i % 3 {
				case 0:
					entry.Claims = []ledger.Claim{{Name: fmt.Sprint("claim ", caller, i)}}
				case 1:
					entry.Reference, entry.Unique = uniqueReference(caller, i), true
				}
				index, err := log.Append(entry)
				var notUnique *ledger.NotUniqueError
				if errors.Is(err, ledger.ErrClaimed) || errors.As(err, &notUnique) {
					continue
				} else if err != nil {
					errs[caller] = err
					return
				}
				fmt.Println(entry.ID, index) // one write(2), so that lines never mix
			}
		})
	}
	wait.Wait()
	return errors.Join(append(errs, log.Close())...)
}

func uniqueReference(caller, i int) string { return fmt.Sprintf("unique %d %d", caller, i) }

// Four processes append to one store. One of them is killed and restarted.
func testProcessesShareALog(t *testing.T, e Engine) {
	location, folder := e.New(t), t.TempDir()
	program, err := os.Executable()
	require.NoError(t, err)
	acknowledged := map[string]uint64{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	run := func(label string, killAfter int) {
		dir := filepath.Join(folder, label)
		command := exec.CommandContext(t.Context(), program)
		n := each
		if killAfter > 0 {
			n = 3000 // more than the process can append and print before it is killed
		}
		command.Env = append(os.Environ(), fmt.Sprintf("%s=%s\n%s\n%s\n%s\n%d", writer, location, dir, filepath.Join(folder, "log.key"), label, n))
		command.Stderr = os.Stderr
		out, err := command.StdoutPipe()
		if !assert.NoError(t, errors.Join(err, os.Mkdir(dir, 0o700), command.Start())) {
			return
		}
		lines := 0
		for scanner := bufio.NewScanner(out); scanner.Scan(); lines++ {
			var id string
			var index uint64
			_, err := fmt.Sscan(scanner.Text(), &id, &index)
			assert.NoErrorf(t, err, "%q", scanner.Text())
			mu.Lock()
			acknowledged[id] = index
			mu.Unlock()
			if lines+1 == killAfter {
				_ = command.Process.Kill()
			}
		}
		err = command.Wait()
		assert.Equalf(t, (killAfter == 0), (err == nil), "process %s ended with %v", label, err)
		t.Logf("process %s: %d acknowledged", label, lines)
	}
	for _, label := range []string{"a", "b", "c"} {
		wait.Go(func() { run(label, 0) })
	}
	wait.Go(func() {
		run("killed", 40)
		run("restarted", 0)
	})
	wait.Wait()

	s := e.open(t, location)
	log, err := ledger.Open(t.Context(), s, ledger.Options{Folder: filepath.Join(folder, "a"), KeyFile: filepath.Join(folder, "log.key")})
	require.NoError(t, err)
	defer func() { assert.NoError(t, log.Close()) }()
	key, err := os.ReadFile(filepath.Join(folder, "log.key"))
	require.NoError(t, err)
	parsed, err := ledger.ParseKey(string(key[:len(key)-1]))
	require.NoError(t, err)
	size := CheckLog(t, s, parsed.Verifier)
	for id, index := range acknowledged {
		found, err := log.ByID(t.Context(), uuid.MustParse(id))
		require.NoErrorf(t, err, "an acknowledged entry: %v", found)
		require.Equalf(t, index, found.Index, "an acknowledged entry: %v", found)
	}
	for caller := range callers {
		for i := 1; i < each; i += 3 {
			assert.Len(t, selected(t, s, ledger.ByReference(uniqueReference(caller, i), 0, 2)), 1, uniqueReference(caller, i))
		}
	}
	t.Logf("%d acknowledged, all in a log of %d", len(acknowledged), size)
}
