package config

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder returns three settings, a text, a number and a list, which are set in got.
func recorder(got map[string]string) map[string]Setting {
	set := func(name string) func(string) error {
		return func(value string) error {
			if _, err := strconv.Atoi(value); name == "max-items" && err != nil {
				return fmt.Errorf("%q is not a number", value)
			}
			got[name] = value
			return nil
		}
	}
	return map[string]Setting{"data": {Set: set("data")}, "max-items": {Set: set("max-items")}, "hosts": {List: true, Set: set("hosts")}}
}

// readText reads a file with a text, and returns what it sets.
func readText(t testing.TB, text string) (f *File, got map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "riffle.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	got = map[string]string{}
	f = Read(path, recorder(got))
	f.path = "riffle.yaml" // for mistakes that a test adds
	for i := range f.mistakes {
		f.mistakes[i].Path = f.path
	}
	return f, got
}

func TestReadSets(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"":                                   nil,
		" \n\t\n":                            nil,
		"# nothing\n":                        nil,
		"---\n":                              nil,
		"---\n# nothing\n":                   nil,
		"{}":                                 {},
		"---\ndata: a\n...":                  {"data": "a"},
		"data: ./data # here\nmax-items: 5":  {"data": "./data", "max-items": "5"},
		"data: ''":                           {"data": ""},
		"data: \"a: b\"\r\nmax-items: 6\r\n": {"data": "a: b", "max-items": "6"},
		"data:\ta":                           {"data": "a"},
		"data: 5":                            {"data": "5"},
		"data: true":                         {"data": "true"},
		"data: null # comment":               nil,
		"data: 数据":                           {"data": "数据"},
		"{data: a, max-items: 7}":            {"data": "a", "max-items": "7"},
		"hosts: a,b":                         {"hosts": "a,b"},
		"hosts: []":                          {"hosts": ""},
		"hosts: [a, b]":                      {"hosts": "a,b"},
		"hosts:\n- a\n- 10.0.0.7\n":          {"hosts": "a,10.0.0.7"},
		"hosts:\n  - a # first\n\n  - 'b'":   {"hosts": "a,b"},
	} {
		f, got := readText(t, text)
		if want == nil {
			assert.Errorf(t, f.Err(), "%q has no mistake", text)
			continue
		}
		require.NoErrorf(t, f.Err(), "%q sets %v, want %v; mistakes", text, got, want)
		assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "%q sets %v, want %v; mistakes", text, got, want)
	}
}

//go:embed testdata/mistakes.txt
var mistakesFile string

// times is a text repeated, such as (k)*80.
var times = regexp.MustCompile(`\((.)\)\*(\d+)`)

func TestReadMistakes(t *testing.T) {
	whole := strings.ReplaceAll(mistakesFile, "HASH", aHash)
	whole = times.ReplaceAllStringFunc(whole, func(s string) string {
		parts := times.FindStringSubmatch(s)
		n, err := strconv.Atoi(parts[2])
		require.NoError(t, err)
		return strings.Repeat(parts[1], n)
	})
	cases := strings.Split(whole, "\n== ")[1:]
	require.Len(t, cases, 94)
	for _, c := range cases {
		name, c, _ := strings.Cut(strings.TrimSuffix(c, "\n"), "\n")
		text, want, found := strings.Cut(c, "\nriffle.yaml:")
		require.True(t, found, name)
		if unquoted, err := strconv.Unquote(text); err == nil {
			text = unquoted
		}
		f, _ := readText(t, text)
		err := f.Err()
		_, ok := errors.AsType[Mistakes](err)
		assert.Truef(t, ok && err.Error() == "riffle.yaml:"+want, "%s: %v\nwant riffle.yaml:%s", name, err, want)
		assert.Equalf(t, strings.HasPrefix(text, "tls:"), f.TLS != nil, "%s: the file has tls", name)
	}
}

// TestReadEnds reads the largest files that are the most work for their size. Libraries have taken
// longer for less than a test may.
func TestReadEnds(t *testing.T) {
	for name, text := range map[string]string{
		"a key again and again": strings.Repeat("data: 1\n", MaxSize/8),
		"nested lists":          "hosts: " + strings.Repeat("[", MaxSize/2-8) + strings.Repeat("]", MaxSize/2-8),
		"nested items":          strings.Repeat("- ", MaxSize/2),
		"keys in braces":        "{" + strings.Repeat("a: ,", MaxSize/4-1) + "}",
		"documents":             strings.Repeat("---\n", MaxSize/4),
		"aliases of aliases":    aliases(),
		"a long key":            strings.Repeat("k", MaxSize-3) + ": 1",
		"a long list":           "hosts: [" + strings.Repeat("a,", MaxSize/2-8) + "]",
	} {
		f, _ := readText(t, text)
		assert.Equalf(t, name == "a long list", (f.Err() == nil), "%s: %.200s", name, fmt.Sprint(f.Err()))
	}
}

// aliases returns a file that would have 10^30 items if aliases were followed.
func aliases() string {
	text := "a0: &a0 [x]\n"
	for i := range 30 {
		text += fmt.Sprintf("a%d: &a%d [%s*a%d]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 9), i)
	}
	return text
}

func TestReadFileErrors(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	large := filepath.Join(folder, "large") // a sparse file, and unreadable if it were read
	require.NoError(t, os.WriteFile(large, nil, 0o600))
	require.NoError(t, os.Truncate(large, 10<<20))
	missing := filepath.Join(folder, "missing")
	for path, want := range map[string]string{
		missing:     missing + ": " + syscall.ENOENT.Error(),
		folder:      folder + ": this is not a regular file",
		pipe:        pipe + ": this is not a regular file",
		"/dev/zero": "/dev/zero: this is not a regular file",
		large:       large + ": the file has more than 1048576 bytes",
	} {
		got := map[string]string{}
		err := Read(path, recorder(got)).Err()
		assert.Truef(t, err != nil && err.Error() == want && len(got) == 0, "%s: %v, and sets %v; want %s", path, err, got, want)
	}
	_, err := os.Stat(missing)
	assert.ErrorIs(t, err, fs.ErrNotExist, "the missing file")
}

func TestRefuse(t *testing.T) {
	f, _ := readText(t, "data: a\nmax-items: 5")
	reason := errors.New("too few")
	assert.Truef(t, !f.Refuse(reason, "hosts") && !f.Refuse(reason) && f.Err() == nil, "a setting that is not in the file is refused: %v", f.Err())
	assert.Truef(t, f.Refuse(reason, "hosts", "max-items", "data") && f.Err() != nil && f.Err().Error() == "riffle.yaml:2:12: too few", "mistakes: %v", f.Err())
	assert.False(t, (&File{}).Refuse(reason, "data"), "a file that was not read has settings")
	assert.NoError(t, (&File{}).Err(), "a file that was not read has settings")
}

// FuzzRead reads anything. What is accepted has set only settings that exist, and each mistake is
// in the file.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{
		"", "data: a", "hosts: [a, b]", "hosts:\n- a\n", "max-items: 5 # five\n---\n", "a: &x [*x]", "\tdata: a", "? a\n: b", "data: |\n a", "{data: 'a', hosts: []}",
		"%TAG ! x\n--- !y z", "data: \"\\u0000\"", "\ufeff", "data: 1\ndata: 2", "- - - a", "data: >-\n\n  a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := &File{path: "riffle.yaml", values: map[string]position{}}
		got := map[string]string{}
		file.read([]byte(text), recorder(got))
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, m := range file.mistakes {
			assert.Truef(t, m.Line <= lines+1 && m.Line >= 1 && m.Column >= 1 && !strings.ContainsAny(m.Text, "\n\r\t"),
				"%q has the mistake %+v", text, m)
		}
		for name, value := range got {
			if file.Refuse(errors.New("test"), name); file.Err() == nil {
				t.Errorf("%q sets %s to %q, at no position", text, name, value)
			}
		}
	})
}
