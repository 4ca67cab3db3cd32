package config

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadLogs(t *testing.T) {
	f, got := readText(t, `
data: a
logs:
  - name: poker
    data: p
  - {max-items: 5, retired: true, name: bridge.eu-1}
keys: [{name: k, sha256: `+aHash+`, may: [read], logs: [bridge.eu-1, main]}]
`)
	want := map[string]string{"data": "a", "log 1 data": "p", "log 2 max-items": "5"}
	require.NoErrorf(t, f.Err(), "sets %v, want %v; mistakes", got, want)
	assert.Equalf(t, fmt.Sprint(want), fmt.Sprint(got), "sets %v, want %v; mistakes", got, want)
	if len(f.Logs) != 2 || f.Logs[0].Name != "poker" || f.Logs[0].Retired || f.Logs[1].Name != "bridge.eu-1" || !f.Logs[1].Retired {
		t.Errorf("%+v", f.Logs)
	}
	reason := errors.New("too few")
	f.RefuseLog(f.Logs[1], reason, "max-items")
	f.RefuseLog(f.Logs[1], reason, "data")
	if err := f.Err(); err == nil || err.Error() != "riffle.yaml:6:17: too few\nriffle.yaml:6:41: too few" {
		t.Errorf("mistakes of a setting, and of one that is not in the file: %v", err)
	}
}

func TestReadLogsMistakes(t *testing.T) {
	const names = "a name has 1 to 64 letters, digits, dashes, underscores and, except at the start, dots, like table-server; got "
	for _, v := range []struct{ name, text, want string }{
		{"no value", "logs:", "riffle.yaml:1:6: logs must be a list"},
		{"one log", "logs: {name: a}", "riffle.yaml:1:7: logs must be a list"},
		{"a name alone", "logs: [poker]", "riffle.yaml:1:8: each of logs must have keys and values, such as data: ..."},
		{"no name", "logs: [{data: a}]", "riffle.yaml:1:8: the log has no name; add name: ..."},
		{"empty name", "logs: [{name: ''}]", "riffle.yaml:1:15: " + names + `""`},
		{"name with a slash", "logs: [{name: a/b}]", "riffle.yaml:1:15: " + names + `"a/b"`},
		{"name of dots", "logs: [{name: ..}]", "riffle.yaml:1:15: " + names + `".."`},
		{"name of the main log", "logs:\n- name: main", "riffle.yaml:2:9: main is the log without a prefix, whose settings stand outside of logs; choose another name"},
		{"duplicate name", "logs:\n- name: a\n- name: b\n- name: a", `riffle.yaml:4:9: duplicate name "a"; the log in line 2 has it already`},
		{"unknown key", "logs: [{name: a, retire: true}]", `riffle.yaml:1:18: unknown key "retire"; did you mean retired?`},
		{"duplicate key", "logs: [{name: a, data: x, data: y}]", `riffle.yaml:1:27: duplicate key "data"; it is set in line 1 already`},
		{"refused value", "logs: [{name: a, max-items: x}]", `riffle.yaml:1:29: "x" is not a number`},
		{"neither true nor false", "logs: [{name: a, retired: maybe}]", `riffle.yaml:1:27: retired must be true or false, got "maybe"`},
		{
			"a key for an unknown log", "logs: [{name: poker}]\nkeys: [{name: k, sha256: " + aHash + ", may: [read], logs: [poke]}]",
			`riffle.yaml:2:112: unknown log "poke"; did you mean poker?`,
		},
		{
			"a key for a log where there is one", "keys: [{name: k, sha256: " + aHash + ", may: [read], logs: [poker]}]",
			`riffle.yaml:1:112: unknown log "poker"; there are main`,
		},
	} {
		f, _ := readText(t, v.text)
		if err := f.Err(); err == nil || err.Error() != v.want {
			t.Errorf("%s: %v, want %s", v.name, err, v.want)
		}
	}
}
