package docs_test

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/clients/clientstest"
	"riffle/internal/beacon/beacontest"
	"riffle/internal/ledger/postgres/postgrestest"
)

// A session runs the commands of a page in a shell, beside the service. Its folder has the parts of a
// clone that pages use.
type session struct {
	t       *testing.T
	folder  string
	address string               // of the service
	service *clientstest.Service // nil when it does not run
	stopped bool                 // by the page

	database *postgrestest.Cluster // databaseHost on pages; nil for none
	ports    []string              // addresses on pages, each before the one here
	others   []string              // URLs on pages, each before the one here
	in       io.Writer
	out      *bufio.Reader
}

const databaseHost = "db-a.example"

// newSession starts a shell, and a PostgreSQL server if the page has one.
func newSession(t *testing.T, text string) *session {
	t.Helper()
	withDatabase := strings.Contains(text, databaseHost)
	tools := []string{"bash", "curl", "openssl", "sqlite3", "node"}
	if withDatabase {
		tools = append(tools, "psql")
	}
	for _, tool := range tools { // .ci/tools installs them
		clientstest.Require(t, tool)
	}
	s := &session{t: t, folder: t.TempDir()}
	if withDatabase {
		s.database = postgrestest.For(t)
	}
	for _, address := range []string{"localhost:8081", "localhost:8082"} {
		port, err := postgrestest.FreePort()
		require.NoError(t, err)
		s.ports = append(s.ports, address, fmt.Sprint("localhost:", port))
	}
	for _, name := range []string{"internal/deck/data", "verifiers"} {
		require.NoError(t, os.CopyFS(filepath.Join(s.folder, name), os.DirFS(filepath.Join(repository, name))))
	}
	if strings.Contains(text, "https://north.example") {
		s.startOthers()
	}
	shell := exec.Command("bash", "--norc", "--noprofile")
	shell.Dir, shell.Env = s.folder, environment()
	in, err := shell.StdinPipe()
	require.NoError(t, err)
	out, err := shell.StdoutPipe()
	require.NoError(t, err)
	shell.Stderr = shell.Stdout
	require.NoError(t, shell.Start())
	t.Cleanup(func() {
		_, _ = io.WriteString(in, "kill $(jobs -p)\n") // services that the page has started
		_ = in.Close()
		_ = shell.Wait()
	})
	s.in, s.out = in, bufio.NewReader(out)
	return s
}

// startOthers starts three witnesses, each a process, and a relay of the chain that the programs
// here take for quicknet.
func (s *session) startOthers() {
	s.t.Helper()
	relay := httptest.NewServer(http.HandlerFunc(beacontest.Relay))
	s.t.Cleanup(relay.Close)
	s.others = []string{"https://api.drand.sh", relay.URL}
	for _, name := range []string{"north", "south", "west"} {
		witness := exec.Command(filepath.Join(binaries, "small"), name, "key.txt")
		witness.Dir = s.folder
		out, err := witness.StdoutPipe()
		require.NoError(s.t, err)
		require.NoError(s.t, witness.Start())
		s.t.Cleanup(func() {
			_ = witness.Process.Kill()
			_ = witness.Wait()
		})
		url, err := bufio.NewReader(out).ReadString('\n')
		require.NoError(s.t, err)
		s.others = append(s.others, "https://"+name+".example/add", strings.TrimSpace(url))
	}
	// The packages of the pages have what riffle.mjs checks signatures with.
	packages, err := filepath.Abs(filepath.Join(repository, "web"))
	require.NoError(s.t, err)
	if _, err := os.Stat(filepath.Join(packages, "node_modules")); err != nil && os.Getenv("CI") == "" {
		s.t.Skip("skipped: npm ci --prefix web: ", err)
	}
	require.NoError(s.t, os.Symlink(packages, filepath.Join(s.folder, "web")))
	verifier := filepath.Join(s.folder, "verifiers/riffle.mjs")
	require.NoError(s.t, os.WriteFile(verifier, []byte(beacontest.Replace(readFile(s.t, verifier))), 0o600))
}

// seeOnThePage has a browser open the page of the record whose id is in a variable. It must say the
// text and, once it has the policy, that the log was witnessed.
func (s *session) seeOnThePage(variable, text string) {
	s.t.Helper()
	browser := clientstest.NewBrowser(s.t)
	id := strings.TrimSpace(s.run(&step{command: "echo $" + variable}))
	says := func(text string) {
		browser.Until(fmt.Sprintf(`document.querySelector('.report .verdict.verified')?.closest('.report').textContent.includes(%q)`, text))
	}
	browser.Open("http://" + s.address + "/a/" + id)
	says(text)
	browser.Upload("input[name=policy]", filepath.Join(s.folder, "policy.txt"))
	says("Enough witnesses of the policy have cosigned this history")
}

// environment returns the test's environment without settings for the service.
func environment() []string {
	env := slices.DeleteFunc(os.Environ(), func(v string) bool { return strings.HasPrefix(v, "RIFFLE_") })
	return append(env, "PGPASSWORD="+postgrestest.Password())
}

// start starts the service. Its data is in ./data, as by default.
func (s *session) start(flags ...string) {
	s.t.Helper()
	command := exec.Command(filepath.Join(binaries, "server"), append([]string{"-addr", "localhost:0"}, flags...)...)
	command.Dir, command.Env = s.folder, environment()
	s.service = clientstest.Run(s.t, command)
	s.address = s.service.Address
}

// control starts or stops the service.
func (s *session) control(command string) {
	s.t.Helper()
	if s.service != nil {
		s.service.Stop()
		s.service, s.stopped = nil, true
	}
	if flags, isStart := strings.CutPrefix(command, startService); isStart {
		if s.database != nil {
			flags = strings.ReplaceAll(flags, databaseHost, s.database.Address())
		}
		s.start(strings.Fields(strings.NewReplacer(s.others...).Replace(flags))...)
	}
}

// promptLine is printed after each command, before its exit status.
const promptLine = "-- end of the output, exit status "

// run runs a command and returns its output as a reader at localhost:8080 would see it.
func (s *session) run(step *step) string {
	s.t.Helper()
	if s.service == nil && !s.stopped {
		s.start()
	}
	toReal := []string{
		"localhost:8080", s.address,
		"go run ./cmd/server", filepath.Join(binaries, "server"),
		"go run ./cmd/riffle", filepath.Join(binaries, "riffle"),
		"make table", "mkdir ../table && cp " + binaries + "/* ../table",
		"go build ./cmd/riffle", "cp " + filepath.Join(binaries, "riffle") + " .",
	}
	toReal = append(append(toReal, s.others...), s.ports...)
	toShown := []string{s.address, "localhost:8080"}
	if s.database != nil {
		toReal = append(toReal, databaseHost, s.database.Address())
		toShown = append(toShown, s.database.Address(), databaseHost)
	}
	command := strings.NewReplacer(toReal...).Replace(step.command)
	if _, err := fmt.Fprintf(s.in, "%s\nprintf '\\n%s%%d\\n' $?\n", command, promptLine); err != nil {
		s.t.Fatal(err)
	}
	var text strings.Builder
	for {
		line, err := s.out.ReadString('\n')
		if err != nil {
			s.t.Fatalf("line %d: %s\nends the shell: %v\n%s", step.line, step.command, err, text.String())
		}
		if status, end := strings.CutPrefix(line, promptLine); end {
			if status != "0\n" {
				s.t.Errorf("line %d: %s\nends with status %s%s", step.line, step.command, status, text.String())
			}
			break
		}
		text.WriteString(line)
	}
	output := strings.TrimSuffix(text.String(), "\n") // printed by printf
	if output != "" && !strings.HasSuffix(output, "\n") {
		output += "\n"
	}
	return strings.NewReplacer(toShown...).Replace(output)
}
