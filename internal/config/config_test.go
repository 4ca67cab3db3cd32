package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// recorder returns three settings, a text, a number and a list, which are set in got under their names
// after a prefix.
func recorder(got map[string]string, prefix string) map[string]Setting {
	set := func(name string) func(string) error {
		return func(value string) error {
			if _, err := strconv.Atoi(value); name == "max-items" && err != nil {
				return fmt.Errorf("%q is not a number", value)
			}
			got[prefix+name] = value
			return nil
		}
	}
	return map[string]Setting{"data": {Set: set("data")}, "max-items": {Set: set("max-items")}, "hosts": {List: true, Set: set("hosts")}}
}

// logRecorder returns what gives each log the settings of recorder. The first log sets "log 1 data",
// and so on.
func logRecorder(got map[string]string) func() map[string]Setting {
	logs := 0
	return func() map[string]Setting {
		logs++
		return recorder(got, fmt.Sprintf("log %d ", logs))
	}
}

// readText reads a file with a text, and returns what it sets.
func readText(t testing.TB, text string) (f *File, got map[string]string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "riffle.yaml")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	got = map[string]string{}
	f = Read(path, recorder(got, ""), logRecorder(got))
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

func TestReadMistakes(t *testing.T) {
	for _, v := range []struct{ name, text, want string }{
		{"unknown key", "max-item: 5", `riffle.yaml:1:1: unknown key "max-item"; did you mean max-items?`},
		{"unknown key like a variable", "\n  MAX_ITEMS: 5", `riffle.yaml:2:3: unknown key "MAX_ITEMS"; did you mean max-items?`},
		{"unknown key like none", "fish: {a: 1}", `riffle.yaml:1:1: unknown key "fish"; there are anonymous, data, hosts, keys, logs, max-items, tls`},
		{"long unknown key", strings.Repeat("k", 200) + ": 5", `riffle.yaml:1:1: unknown key "` + strings.Repeat("k", 80) + `"; there are anonymous, data, hosts, keys, logs, max-items, tls`},
		{"merge key", "<<: {data: a}", `riffle.yaml:1:1: unknown key "<<"; there are anonymous, data, hosts, keys, logs, max-items, tls`},
		{"duplicate key", "data: a\nmax-items: 1\n\"data\": b", `riffle.yaml:3:1: duplicate key "data"; it is set in line 1 already`},
		{"duplicate unknown key", "fish: a\nfish: b", `riffle.yaml:1:1: unknown key "fish"; there are anonymous, data, hosts, keys, logs, max-items, tls` + "\n" + `riffle.yaml:2:1: duplicate key "fish"; it is set in line 1 already`},
		{"mapping as key", "? {data: b}\n: a", "riffle.yaml:1:3: a key must be a name"},
		{"list as key", "[data]: a", "riffle.yaml:1:1: a key must be a name"},
		{"null key", ": a", `riffle.yaml:1:1: unknown key ""; there are anonymous, data, hosts, keys, logs, max-items, tls`},

		{"refused value", "max-items: many", `riffle.yaml:1:12: "many" is not a number`},
		{"no value", "max-items:\ndata: a", `riffle.yaml:1:11: max-items has no value; leave the key out, or write "" for an empty text`},
		{"null", "max-items: ~", `riffle.yaml:1:12: max-items has no value; leave the key out, or write "" for an empty text`},
		{"list for one value", "data: [a]", "riffle.yaml:1:7: data must be a single value, not a list"},
		{"mapping for one value", "data:\n  a: 1", "riffle.yaml:2:3: data must be a single value, not keys and values"},
		{"mapping for a list", "hosts: {a: 1}", "riffle.yaml:1:8: hosts must be a single value, not keys and values"},
		{"list in a list", "hosts: [a, [b]]", "riffle.yaml:1:12: each of hosts must be a single value, not a list"},
		{"nothing in a list", "hosts:\n- a\n-\n", `riffle.yaml:3:2: each of hosts has no value; leave the key out, or write "" for an empty text`},
		{"comma in a list", "hosts: ['a,b', c]", `riffle.yaml:1:9: "a,b" has a comma; each of hosts must be an item of its own`},
		{"line break in a value", "data: |\n  a\n", "riffle.yaml:1:7: data has a line break or a control character"},
		{"escape in a value", `data: "a\e"`, "riffle.yaml:1:7: data has a line break or a control character"},
		{"text for the file", "data", "riffle.yaml:1:1: the file must have keys and values, such as anonymous: ..."},
		{"list for the file", "- data: a", "riffle.yaml:1:1: the file must have keys and values, such as anonymous: ..."},
		{"null for the file", "null", "riffle.yaml:1:1: the file must have keys and values, such as anonymous: ..."},

		{"anchor and alias", "data: &a x\nhosts: [*a]", "riffle.yaml:1:7: anchors (&) and aliases (*) are not accepted; quote a text that begins so\n" +
			"riffle.yaml:2:9: anchors (&) and aliases (*) are not accepted; quote a text that begins so"},
		{"anchor of the file", "&a\ndata: *a", "riffle.yaml:1:1: anchors (&) and aliases (*) are not accepted; quote a text that begins so"},
		{"anchor of a list", "hosts: &a [x]", "riffle.yaml:1:8: anchors (&) and aliases (*) are not accepted; quote a text that begins so"},
		{"alias as key", "data: &a x\n*a : y", "riffle.yaml:1:7: anchors (&) and aliases (*) are not accepted; quote a text that begins so\n" +
			"riffle.yaml:2:1: anchors (&) and aliases (*) are not accepted; quote a text that begins so"},
		{"unknown alias", "data: *x", "riffle.yaml:1:7: unknown anchor 'x' referenced"},
		{"tag", "data: !!str 5", "riffle.yaml:1:7: tags (!) are not accepted; quote a text that begins so"},
		{"own tag", "!riffle\ndata: a", "riffle.yaml:1:1: tags (!) are not accepted; quote a text that begins so"},

		{"tab before a key", "data: a\n\tmax-items: 5", "riffle.yaml:2:1: a tab; indent with spaces"},
		{"tab at the start", "\tdata: a", "riffle.yaml:1:1: a tab; indent with spaces"},
		{"several documents", "data: a\n---\nfish: b", "riffle.yaml:2:1: a second document begins here; a file has one"},
		{"several mistakes and documents", "fish: b\n---\n", `riffle.yaml:1:1: unknown key "fish"; there are anonymous, data, hosts, keys, logs, max-items, tls` + "\n" +
			"riffle.yaml:2:1: a second document begins here; a file has one"},
		{"broken second document", "data: a\n---\n]", "riffle.yaml:3:1: did not find expected node content"},
		{"open list", "hosts: [a,\n", "riffle.yaml:2:1: did not find expected node content"},
		{"open text", "data: 'a\n", "riffle.yaml:2:1: found unexpected end of stream while scanning a quoted scalar from 1:7"},
		{"no colon", "data ./data\nmax-items: 5", "riffle.yaml:2:10: mapping values are not allowed in this context"},
		{"reserved character", "data: @a", "riffle.yaml:1:7: found character that cannot start any token"},
		{"other version of YAML", "%YAML 3.0\n---\ndata: a", "riffle.yaml:1:1: found incompatible YAML document"},
		{"deep flow", strings.Repeat("[", 50_000), "riffle.yaml:1:10001: exceeded max depth of 10000"},

		{"not UTF-8", "data: a\n# \xff", "riffle.yaml:2:3: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"UTF-16", "\xff\xfed\x00", "riffle.yaml:1:1: byte 0xff is not UTF-8; save the file as UTF-8"},
		{"byte order mark", "\ufeffdata: a", "riffle.yaml:1:1: a byte order mark; save the file as UTF-8 without one"},
		{"zero byte", "data: 数\x00", "riffle.yaml:1:8: control character U+0000"},
		{"too large", strings.Repeat("#", MaxSize+1), "riffle.yaml: the file has more than 1048576 bytes"},

		{"all at once", "hosts: [a, [b]]\nmax-items: x\nhost: c\ndata:\n", "riffle.yaml:1:12: each of hosts must be a single value, not a list\n" +
			`riffle.yaml:2:12: "x" is not a number` + "\n" +
			`riffle.yaml:3:1: unknown key "host"; did you mean hosts?` + "\n" +
			`riffle.yaml:4:6: data has no value; leave the key out, or write "" for an empty text`},
	} {
		f, _ := readText(t, v.text)
		err := f.Err()
		_, ok := errors.AsType[Mistakes](err)
		assert.Truef(t, ok && err.Error() == v.want, "%s: %v\nwant %s", v.name, err, v.want)
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
		if err := Read(path, recorder(got, ""), logRecorder(got)).Err(); err == nil || err.Error() != want || len(got) > 0 {
			t.Errorf("%s: %v, and sets %v; want %s", path, err, got, want)
		}
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
		"logs: [{name: poker, data: a, retired: true}]\nkeys: [{logs: [poker, x]}]", "logs:\n- name: main\n- {}\n- a",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file := &File{path: "riffle.yaml", values: map[string]position{}}
		got := map[string]string{}
		file.read([]byte(text), recorder(got, ""), logRecorder(got))
		lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 1
		for _, m := range file.mistakes {
			if m.Line > lines+1 || m.Line < 1 || m.Column < 1 || strings.ContainsAny(m.Text, "\n\r\t") {
				t.Errorf("%q has the mistake %+v", text, m)
			}
		}
		for name, value := range got {
			if strings.HasPrefix(name, "log ") {
				continue // its position is in the log
			}
			if file.Refuse(errors.New("test"), name); file.Err() == nil {
				t.Errorf("%q sets %s to %q, at no position", text, name, value)
			}
		}
	})
}
