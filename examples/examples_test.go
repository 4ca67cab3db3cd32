// Package examples_test runs the examples against the real service and compares them with the guide.
// make clients installs the packages for TypeScript and Python.
package examples_test

import (
	"flag"
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

var installed = flag.String("installed", "", "the `folder` in which make clients installed the packages: node_modules and venv")

// examples has a pattern of each example's output by its path.
var examples = map[string]string{
	"doudizhu.ts": `(?s)^player 1 has [^ ]+ .*left for the landlord: [^ ]+ .*the record is the same: true
$`,
	"blackjack.ts": `(?s)^312 cards, and the cut card behind 2[0-9]{2} of them\nround  1:.*\nrecords that prove every card: [0-9]{2}\n$`,
	"raffle.py":    `(?s)^winners: (ticket \d{5},? ?){10}\n.*\nthe draw: verified\n$`,
	"mahjong.py":   `(?s)^East  .*\ntiles left in the wall: 83\nthe wall: verified\nthe commitment: .* with the seeds of East, North, South, West\n$`,
	"werewolf.ts":  `^((Ann|Bob|Cyn|Dan|Eve|Fay|Gus|Hal|Ida|Jon|Kay|Lee) is \w+: verified\n){12}Eve says that she is \w+: false\n$`,
	"war.ts":       `^after 20 turns Ann has \d+ cards and Bob \d+, and \d+ lie on the table\n$`,
}

func TestExamples(t *testing.T) {
	service := clientstest.Start(t, "--deckofcards")
	for path, want := range examples {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			if *installed == "" {
				t.Skip("skipped: make clients installs the package")
			}
			command := exec.CommandContext(t.Context(), filepath.Join(*installed, "venv", "bin", "python"), path, service)
			if filepath.Ext(path) == ".ts" { // make clients compiles them, for Node that cannot strip types
				command = exec.CommandContext(t.Context(), clientstest.Require(t, "node"), strings.TrimSuffix(path, ".ts")+".js", service)
				command.Dir = *installed
			}
			out, err := command.CombinedOutput()
			assert.Truef(t, err == nil && regexp.MustCompile(want).Match(out), "%v; it is to print %s, and prints\n%s", err, want, out)
		})
	}
}

func TestGuideShowsExamples(t *testing.T) {
	guide, err := os.ReadFile("../docs/guides/examples.md")
	require.NoError(t, err)
	languages := map[string]string{".py": "python", ".ts": "ts"}
	for path := range examples {
		code, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Lessf(t, strings.Count(string(code), "\n"), 80, "the lines of %s", path)
		block := "\n```" + languages[filepath.Ext(path)] + "\n" + string(code) + "```\n"
		assert.Containsf(t, string(guide), block, "docs/guides/examples.md does not show %s as it is", path)
	}
}
