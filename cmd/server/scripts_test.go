package main_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestScripts runs the scripts of testdata, in which server and riffle are the programs under test.
// Each script has a folder of its own, and some more commands than testscript:
//
//   - run CODE TEXT COMMAND...: COMMAND exits with CODE, and prints TEXT. The server's last message
//     is shown as a terminal has it.
//   - mistakes NAME [ARG...]: the configuration NAME.yaml has the mistakes of NAME.txt, so the
//     server neither accepts it with --check-config nor starts, nor makes a data folder.
//   - shuffles N DATA [ARG...]: the server makes N shuffles in the folder DATA, and stops. $ID is the
//     last one, and the file log has what the server logged.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:                "testdata",
		RequireUniqueNames: true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
			env.Setenv("RIFFLE_ADDR", "127.0.0.1:0")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"run": func(ts *testscript.TestScript, _ bool, args []string) {
				if code, output := outcome(ts, args[2:]); strconv.Itoa(code) != args[0] || !strings.Contains(output, args[1]) {
					ts.Fatalf("it exits with %d, want %s and %q:\n%s", code, args[0], args[1], output)
				}
			},
			"mistakes": mistakes,
			"shuffles": func(ts *testscript.TestScript, _ bool, args []string) {
				n, err := strconv.Atoi(args[0])
				ts.Check(err)
				s := served(t, ts, args[1:])
				for range n {
					ts.Setenv("ID", s.shuffle(smallShuffle).AuditID)
				}
				s.stop()
				ts.Check(os.WriteFile(ts.MkAbs("log"), []byte(s.log.String()), 0o600))
			},
		},
	})
}

// served starts the server with a folder and flags, and with keys of the script's environment.
func served(t *testing.T, ts *testscript.TestScript, args []string) *server {
	l := launch{data: ts.MkAbs(args[0]), args: args[1:]}
	for _, name := range []string{"RIFFLE_SEED_KEY", "RIFFLE_SEED_KEY_FILE"} {
		l.env = append(l.env, name+"="+ts.Getenv(name))
	}
	return l.start(t)
}

// outcome runs a command, and returns its exit code and all that it prints, or why the server
// ended.
func outcome(ts *testscript.TestScript, command []string) (code int, output string) {
	limit := strconv.Itoa(int(waitLimit.Seconds())) // of a server that starts
	err := ts.Exec("timeout", append([]string{limit}, command...)...)
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	output = ts.ReadFile("stdout") + ts.ReadFile("stderr")
	if ended := fatal(output); ended != "" {
		output = ended
	}
	return code, output
}

func mistakes(ts *testscript.TestScript, _ bool, args []string) {
	file, want := args[0]+".yaml", ts.ReadFile(args[0]+".txt")
	for _, more := range [][]string{{"--check-config"}, nil} {
		code, output := outcome(ts, append(append([]string{"server", "--config", file}, args[1:]...), more...))
		if code != 1 || output != want {
			ts.Fatalf("%q exits with %d and\n%s\nwant 1 and\n%s", more, code, output, want)
		}
		if _, err := os.Stat(ts.MkAbs("data")); err == nil {
			ts.Fatalf("the data folder was created")
		}
	}
}
