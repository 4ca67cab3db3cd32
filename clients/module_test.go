package clients_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/clients/clientstest"
)

// TestModule requires the module with replace from an empty one, as docs/guides/clients.md says, and
// again after make module has renamed it.
func TestModule(t *testing.T) {
	for _, tool := range []string{"git", "make", "bash"} {
		clientstest.Require(t, tool)
	}
	repository, service := clientstest.Repository(t), clientstest.Start(t)
	t.Run("as it is", func(t *testing.T) { requireModule(t, "riffle", repository, service) })
	t.Run("renamed", func(t *testing.T) {
		renamed := t.TempDir()
		files := command(t, repository, "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
		for file := range strings.SplitSeq(strings.TrimSuffix(files, "\x00"), "\x00") {
			text, err := os.ReadFile(filepath.Join(repository, file))
			if os.IsNotExist(err) || strings.HasPrefix(file, ".bin") {
				continue // deleted, or the tools
			}
			path := filepath.Join(renamed, file)
			if err == nil {
				err = os.MkdirAll(filepath.Dir(path), 0o700)
			}
			if err == nil {
				err = os.WriteFile(path, text, 0o600)
			}
			require.NoError(t, err)
		}
		command(t, renamed, "git", "init", "--quiet")
		command(t, renamed, "git", "add", ".")
		command(t, renamed, "make", "module", "PATH=git.example/games/riffle")
		packages := command(t, renamed, "go", "list", "-test", "./...") + command(t, renamed, "go", "-C", "bench", "list", "-test", "./...")
		for path := range strings.Lines(packages) { // go list fails if an import is left
			assert.Truef(t, strings.HasPrefix(path, "git.example/games/riffle"), "there is a package %s", path)
		}
		for path := range strings.Lines(command(t, renamed, "git", "grep", "-hoE", "-e", `-X [a-z./]+/internal/release`)) {
			assert.Equal(t, "-X git.example/games/riffle/internal/release\n", path, "a build sets a variable of another package, and so none")
		}
		requireModule(t, "git.example/games/riffle", renamed, service)
	})
}

func requireModule(t *testing.T, module, folder, service string) {
	t.Helper()
	empty := t.TempDir()
	imported, body, _ := strings.Cut(guide(t, folder, "go"), "\n")
	program := "package main\n\nimport (\n\t\"context\"\n\t\"fmt\"\n\t\"time\"\n)\n\n" + imported + "\n\nfunc run(ctx context.Context) error {\n" + body +
		"\treturn nil\n}\n\nfunc main() {\n\tif err := run(context.Background()); err != nil {\n\t\tpanic(err)\n\t}\n}\n"
	err := os.WriteFile(filepath.Join(empty, "main.go"), []byte(strings.ReplaceAll(program, "http://localhost:8080", service)), 0o600)
	require.NoError(t, err)
	command(t, empty, "go", "mod", "init", "game.example")
	command(t, empty, "go", "mod", "edit", "-require", module+"@v0.0.0", "-replace", module+"="+folder)
	command(t, empty, "go", "mod", "tidy")
	out := command(t, empty, "go", "run", ".")
	assert.Regexp(t, `\] are left\n(\[.*\] ?){4}\n$`, out)
}

// TestGuide runs what docs/guides/clients.md shows in TypeScript and Python.
func TestGuide(t *testing.T) {
	if *installed == "" {
		t.Skip("skipped: make clients installs the packages")
	}
	service := clientstest.Start(t)
	for language, run := range map[string][]string{
		"ts":     {clientstest.Require(t, "node"), "guide.mjs"},
		"python": {filepath.Join(*installed, "venv", "bin", "python"), "guide.py"},
	} {
		program := strings.ReplaceAll(guide(t, clientstest.Repository(t), language), "http://localhost:8080", service)
		require.NoError(t, os.WriteFile(filepath.Join(*installed, run[1]), []byte(program), 0o600))
		if out := command(t, *installed, run[0], run[1:]...); strings.Count(out, "[") < 2 {
			t.Errorf("%s prints %s", run[1], out)
		}
	}
}

// guide returns the blocks of docs/guides/clients.md that are in a language.
func guide(t *testing.T, folder, language string) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(folder, "docs", "guides", "clients.md"))
	require.NoError(t, err)
	var blocks strings.Builder
	for _, block := range regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(string(page), -1) {
		blocks.WriteString(block[1])
	}
	return blocks.String()
}

func command(t *testing.T, folder, name string, args ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), name, args...)
	c.Dir = folder
	c.Stderr = new(strings.Builder)
	out, err := c.Output()
	require.NoErrorf(t, err, "%s %s: %v\n%s%s", name, strings.Join(args, " "), err, out, c.Stderr)
	return string(out)
}
