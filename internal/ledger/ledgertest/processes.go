package ledgertest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"riffle/internal/ledger"
)

// The environment of a writing process: where the store is, its own folder, the key and its name.
const (
	envLocation = "RIFFLE_LEDGERTEST_LOCATION"
	envFolder   = "RIFFLE_LEDGERTEST_FOLDER"
	envKey      = "RIFFLE_LEDGERTEST_KEY"
	envLabel    = "RIFFLE_LEDGERTEST_LABEL"
)

// Main is the TestMain of a package that runs the suite: it lets the test be one of the processes that write.
func (e Engine) Main(m *testing.M) {
	if os.Getenv(envLocation) == "" {
		os.Exit(m.Run())
	}
	if err := e.write(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0) // and does not return to what comes after: a TestMain that starts tests would start processes, and these more
}

// Each process has this many callers, who append this many entries each, a third of them with claims that all the
// processes want.
const (
	callers = 8
	each    = 30
)

// write is a writing process. It prints the id and the index of every entry that was acknowledged.
func (e Engine) write() error {
	ctx := context.Background()
	store, err := e.Open(ctx, os.Getenv(envLocation))
	for errors.Is(err, ledger.ErrInUse) { // until it is this process's turn
		time.Sleep(5 * time.Millisecond)
		store, err = e.Open(ctx, os.Getenv(envLocation))
	}
	if err != nil {
		return err
	}
	log, err := ledger.Open(ctx, store, ledger.Options{Folder: os.Getenv(envFolder), KeyFile: os.Getenv(envKey)})
	if err != nil {
		return errors.Join(err, store.Close())
	}
	var wait sync.WaitGroup
	errs := make([]error, callers)
	for caller := range callers {
		wait.Go(func() {
			for i, entry := range Entries(fmt.Sprint(os.Getenv(envLabel), caller), each) {
				if i%3 == 0 {
					entry.Claims = []ledger.Claim{{Name: fmt.Sprint("claim ", caller, i)}}
				}
				index, err := log.Append(entry)
				if errors.Is(err, ledger.ErrClaimed) {
					continue
				} else if err != nil {
					errs[caller] = err
					return
				}
				fmt.Println(entry.ID, index) // one write, so one line
			}
		})
	}
	wait.Wait()
	return errors.Join(append(errs, log.Close())...)
}

// processes has four processes write to one store, and kills one of them and starts another in its place.
func processes(t *testing.T, e Engine) {
	location, folder := e.New(t), t.TempDir()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := map[string]uint64{}
	var mu sync.Mutex
	var wait sync.WaitGroup
	run := func(label string, killAfter int) {
		own := filepath.Join(folder, label)
		if err := os.Mkdir(own, 0o700); err != nil {
			t.Error(err)
			return
		}
		command := exec.CommandContext(t.Context(), program)
		command.Env = append(os.Environ(), envLocation+"="+location, envFolder+"="+own, envKey+"="+filepath.Join(folder, "log.key"), envLabel+"="+label)
		command.Stderr = os.Stderr
		out, err := command.StdoutPipe()
		if err == nil {
			err = command.Start()
		}
		if err != nil {
			t.Error(err)
			return
		}
		lines := 0
		for scanner := bufio.NewScanner(out); scanner.Scan(); lines++ {
			var id string
			var index uint64
			if _, err := fmt.Sscan(scanner.Text(), &id, &index); err != nil {
				t.Errorf("%q: %v", scanner.Text(), err)
			}
			mu.Lock()
			acknowledged[id] = index
			mu.Unlock()
			if lines+1 == killAfter {
				_ = command.Process.Kill()
			}
		}
		if err := command.Wait(); (err == nil) != (killAfter == 0) {
			t.Errorf("process %s ended with %v", label, err)
		}
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
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	}()
	key, err := os.ReadFile(filepath.Join(folder, "log.key"))
	if err != nil {
		t.Fatal(err)
	}
	parsed, err := ledger.ParseKey(string(key[:len(key)-1]))
	if err != nil {
		t.Fatal(err)
	}
	size := CheckLog(t, s, parsed.Verifier)
	for id, index := range acknowledged {
		found, err := log.ByID(t.Context(), uuid.MustParse(id))
		if err != nil || found.Index != index {
			t.Fatalf("an acknowledged entry: %v, %v, want index %d", found, err, index)
		}
	}
	t.Logf("%d acknowledged, all in a log of %d", len(acknowledged), size)
}
