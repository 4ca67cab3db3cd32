// Package docs_test checks the documentation against the program. It runs all commands of the README
// and the guides in folders like a fresh clone, and compares the outputs with the pages.
//
//	go test ./docs -run Commands -update
//
// replaces all outputs of a page by one run's if one is out of date.
package docs_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/clients/clientstest"
	"riffle/internal/beacon/beacontest"
)

var update = flag.Bool("update", false, "write what the commands print into the README and the guides")

// repository is the path of the clone.
const repository = ".."

// binaries is a folder with the programs server and riffle.
var binaries string

func TestMain(m *testing.M) {
	flag.Parse()
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		code = 1
	}
	os.Exit(code)
}

// buildAndRun builds the programs like a release, except for the key of the beacon, and runs the
// tests.
func buildAndRun(m *testing.M) (code int, err error) {
	binaries, err = os.MkdirTemp("", "riffle-docs-")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(binaries)) }()
	overlay, err := beacontest.Overlay(repository, binaries)
	if err == nil {
		err = clientstest.Build(context.Background(), repository, binaries, "-overlay", overlay, "./cmd/server", "./cmd/riffle", "./internal/witness/witnesstest/small")
	}
	if err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// markdown returns the paths of the files that match one of the patterns, which are relative to the
// repository.
func markdown(t *testing.T, patterns ...string) []string {
	t.Helper()
	var files []string
	for _, pattern := range patterns {
		found, err := filepath.Glob(filepath.Join(repository, pattern))
		require.NoErrorf(t, err, "no file matches %s", pattern)
		require.NotEqualf(t, 0, len(found), "no file matches %s", pattern)
		files = append(files, found...)
	}
	return files
}

func readFile(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}

// testFiles returns the text of all test files in a folder and, if asked, in the folders below.
func testFiles(t *testing.T, folder string, below bool) string {
	t.Helper()
	var tests strings.Builder
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && !below:
			return fs.SkipDir
		case !strings.HasSuffix(path, "_test.go"):
			return nil
		}
		tests.WriteString(readFile(t, path))
		return nil
	})
	require.NoError(t, err)
	return tests.String()
}

// onThePage has the variable with an audit id at the end of a guide, and what the page says that
// players open.
var onThePage = map[string][2]string{
	"raffle.md": {"draw", "neither the operator nor a player chose it"},
	"rounds.md": {"id", "before the client seed was known"},
}

func TestCommandsPrintWhatThePagesShow(t *testing.T) {
	for _, file := range markdown(t, "README.md", "docs/guides/*.md") {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".md"), func(t *testing.T) {
			t.Parallel()
			p := parsePage(t, file)
			if len(p.steps) == 0 {
				return
			}
			s := newSession(t, readFile(t, file))
			shown, printed, outdated := normalizer{}, normalizer{}, false
			for i := range p.steps {
				step := &p.steps[i]
				if step.service {
					s.control(step.command)
					continue
				}
				output := abridge(s.run(step))
				if printed.output(output) != shown.output(step.shown) {
					outdated = true
					if !*update {
						t.Errorf("%s:%d: %s\nprints\n%s\nand the page shows\n%s\nIf the page is out of date, or has ids of several runs, run go test ./docs -update.",
							file, step.line, step.command, output, step.shown)
					}
				}
				step.shown = output
			}
			if seen, isWitnessed := onThePage[filepath.Base(file)]; isWitnessed {
				s.seeOnThePage(seen[0], seen[1])
			}
			if outdated && *update {
				p.write(t) // all outputs, so that they are of one run
			}
			if files, _ := filepath.Glob(filepath.Join(s.folder, "*")); filepath.Base(file) == "README.md" {
				assert.Len(t, files, 3, "the README leaves files in the clone, other than the data of the service")
			}
		})
	}
}

// checkedElsewhere names, for the commands of sh blocks, what runs them instead of these tests.
var checkedElsewhere = map[string]string{
	"go run ./cmd/server":              "every page here starts the same program",
	"./server":                         "every page here starts the same program",
	"make test":                        "it runs this test",
	"make bench":                       "it measures; CI runs make cost instead",
	"docker compose up --build --wait": ".ci/container",
	"docker compose --profile postgres up --build --wait":                                                        ".ci/container",
	`(umask 077; p=$(openssl rand -hex 24); printf 'POSTGRES_PASSWORD=%s\nPGPASSWORD=%s\n' $p $p >postgres.env)`: ".ci/container, with a password of its own",
}

func TestCommandsThatAreNotRunHereAreCheckedElsewhere(t *testing.T) {
	for _, file := range markdown(t, "README.md", "docs/guides/*.md") {
		for _, block := range regexp.MustCompile("(?ms)^```sh\n(.*?)^```$").FindAllStringSubmatch(readFile(t, file), -1) {
			for line := range strings.Lines(block[1]) {
				command, _, _ := strings.Cut(line, "  #")
				command = strings.TrimSpace(command)
				if !strings.HasPrefix(command, startService) && checkedElsewhere[command] == "" {
					t.Errorf("%s: no test runs %q. Show it with its output in a console block, or add it to checkedElsewhere.", file, command)
				}
			}
		}
	}
}

// A test that a page names as evidence, as in `go test ./internal/rng -run Seed`, exists.
func TestInlineTestsExist(t *testing.T) {
	inline := regexp.MustCompile("`go test ([^`]+)`")
	for _, file := range markdown(t, "README.md", "docs/guides/*.md") {
		for _, command := range inline.FindAllStringSubmatch(readFile(t, file), -1) {
			packages, name, _ := strings.Cut(command[1], " -run ")
			name, _, _ = strings.Cut(name, " ")
			named := regexp.MustCompile(`(?m)^func (Test|Example)\w*` + regexp.QuoteMeta(name))
			for _, path := range strings.Fields(packages) {
				if strings.HasPrefix(path, "-") {
					continue
				}
				folder, below := strings.CutSuffix(filepath.Join(repository, path), "/...")
				assert.Truef(t, named.MatchString(testFiles(t, folder, below)),
					"%s: go test %s: %s has no such test", file, command[1], path)
			}
		}
	}
}

func TestReadmeIsShort(t *testing.T) {
	const most = 200
	lines := strings.Count(readFile(t, filepath.Join(repository, "README.md")), "\n")
	assert.Truef(t, lines <= most, "README.md has %d lines, want at most %d: move details to a guide", lines, most)
}

// anchor returns the fragment under which GitHub serves a heading.
func anchor(heading string) string {
	heading = regexp.MustCompile(`[^\p{L}\p{N} _-]`).ReplaceAllString(strings.ToLower(heading), "")
	return strings.ReplaceAll(heading, " ", "-")
}

var (
	link    = regexp.MustCompile(`\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
	fenced  = regexp.MustCompile("(?ms)^```.*?^```$")
)

func TestLinksLeadSomewhere(t *testing.T) {
	for _, file := range markdown(t, "*.md", "docs/*.md", "docs/*/*.md", "testdata/*/*.md") {
		text := fenced.ReplaceAllString(readFile(t, file), "")
		for _, found := range link.FindAllStringSubmatch(text, -1) {
			target := found[1] + found[2]
			if strings.Contains(target, "://") {
				continue
			}
			path, fragment, _ := strings.Cut(target, "#")
			to := file
			if path != "" {
				to = filepath.Join(filepath.Dir(file), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", file, target, err)
				continue
			}
			if fragment == "" {
				continue
			}
			var anchors []string
			for _, h := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(readFile(t, to), ""), -1) {
				anchors = append(anchors, anchor(h[1]))
			}
			assert.Truef(t, slices.Contains(anchors, fragment),
				"%s links to %s, and %s has no such heading", file, target, to)
		}
	}
}

// A game that copies a sample must not show its hands: samples reveal only a draw that is public.
func TestSamplesRevealOnlyWhatIsPublic(t *testing.T) {
	public := []string{"commitments.md", "examples.md", "raffle.md", "rounds.md"} // raffles and dice, and all say so
	for _, file := range markdown(t, "README.md", "docs/guides/*.md") {
		for _, sample := range fenced.FindAllString(readFile(t, file), -1) {
			if regexp.MustCompile(`reveal\W+now`).MatchString(sample) {
				assert.Contains(t, public, filepath.Base(file), "%s reveals immediately:\n%s", file, sample)
			}
		}
	}
}

// Each test that docs/threats.md names as evidence exists.
func TestThreatsAreShownByTests(t *testing.T) {
	tests := testFiles(t, repository, true)
	names := regexp.MustCompile("`((?:Test|Fuzz)[A-Za-z0-9]+)`").FindAllStringSubmatch(readFile(t, "threats.md"), -1)
	assert.Truef(t, len(names) >= 40, "docs/threats.md names %d tests, want at least 40", len(names))
	for _, name := range names {
		assert.Containsf(t, tests, "\nfunc "+name[1]+"(", "docs/threats.md names %s, which does not exist", name[1])
	}
}
