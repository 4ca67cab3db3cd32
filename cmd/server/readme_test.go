package main_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A command of the README, with what it prints.
type command struct {
	line         int
	text, output string
}

// commands returns the commands of the README's console blocks.
func commands(t *testing.T) (list []command) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	inside := false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "```console":
			inside = true
		case line == "```":
			inside = false
		case !inside:
		case strings.HasPrefix(line, "$ "):
			list = append(list, command{line: i + 1, text: line[2:]})
		default:
			list[len(list)-1].output += line + "\n"
		}
	}
	return list
}

// shape replaces what differs from run to run by what it looks like: ids, digests and times in JSON, and numbers and
// cards by their type. Members, lengths of lists and all other text stay.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = shape(member)
		}
	case []any:
		for i, element := range v {
			v[i] = shape(element)
		}
	case string:
		for kind, form := range map[string]*regexp.Regexp{
			"a UUID":   regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`),
			"a digest": regexp.MustCompile(`^([0-9a-f]{64})+$`),
			"a time":   regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$`),
			"a card":   regexp.MustCompile(`^([A2-9TJQK][SHDC]|X[12])$`),
			"a name":   regexp.MustCompile(`^(ann|bob|cyn)$`),
		} {
			if form.MatchString(v) {
				return fmt.Sprintf("%s of %d characters", kind, len(v))
			}
		}
		return shapeOfText(v)
	case json.Number:
		return "a number"
	}
	return v
}

// shapeOfText is shape for text that is not JSON, or in it. How many hashes a proof has depends on the checkpoint that it
// is under, which may be the last or one before.
func shapeOfText(text string) string {
	for _, form := range []struct{ pattern, shape string }{
		{`[0-9a-f]{64}`, "a digest"},
		{`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`, "a UUID"},
		{`\b[0-9a-f]{32}\b`, "a deck"},
		{`http://[a-z0-9.]+:[0-9]+/`, "an address/"},
		{`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`, "a time"},
		{`riffle/[0-9a-f]{16}`, "an origin"},
		{`[0-9a-f]{8}\+[A-Za-z0-9+/]{44}`, "a key"},
		{`(?m)^(— .*) [A-Za-z0-9+/]{90,}=*$`, "$1 a signature"},
		{`(?m)(^[A-Za-z0-9+/]{43}=\n)+`, "hashes\n"},
		{`(?m)^[0-9]+$`, "a size"},
	} {
		text = regexp.MustCompile(form.pattern).ReplaceAllString(text, form.shape)
	}
	return text
}

func read(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}

// A list of names and a number is in any order.
func encode(t *testing.T, v any) string {
	t.Helper()
	text, err := json.MarshalIndent(shape(v), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	sorted := strings.ReplaceAll(string(text), `"a number"`, `"a name of 3 characters"`)
	return sorted
}

func TestReadmeSaysWhatIsPrinted(t *testing.T) {
	s := launch{}.start(t)
	var script strings.Builder
	list := commands(t)
	if len(list) < 10 {
		t.Fatalf("the README has %d commands", len(list))
	}
	for _, step := range list {
		fmt.Fprintf(&script, "%s\necho '#'\n", strings.ReplaceAll(step.text, "localhost:8080", s.addr))
	}
	shell := exec.Command("bash", "-eu", "-c", script.String())
	shell.Dir = t.TempDir()
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	outputs := strings.Split(string(out), "#\n")
	for i, step := range list {
		if step.output == "" && outputs[i] == "" {
			continue
		}
		got, want := shapeOfText(outputs[i]), shapeOfText(step.output)
		if strings.HasPrefix(step.output, "{") {
			got, want = encode(t, read(t, outputs[i])), encode(t, read(t, step.output))
		}
		if got != want {
			t.Errorf("README.md:%d: %s\nprints\n%s\nand the README says\n%s", step.line, step.text, outputs[i], step.output)
		}
	}
}

// What docs/threats.md names as shown by a test has that test.
func TestThreatsAreShownByTests(t *testing.T) {
	threats, err := os.ReadFile("../../docs/threats.md")
	if err != nil {
		t.Fatal(err)
	}
	var tests strings.Builder
	err = filepath.WalkDir("../..", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		tests.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllStringSubmatch(string(threats), -1)
	if len(names) < 40 {
		t.Errorf("docs/threats.md names %d tests", len(names))
	}
	for _, name := range names {
		if !strings.Contains(tests.String(), "\nfunc "+name[1]+"(") {
			t.Errorf("docs/threats.md names %s, which is not there", name[1])
		}
	}
}
