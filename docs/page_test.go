package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// A page is a Markdown file whose console blocks are a session in a shell:
//
//	```console
//	$ a command
//	its output
//	```
//
// Long values in the output are abridged with "..."; see [abridge].
//
// The service runs from the first command on. A line "go run ./cmd/server" with flags in an sh
// block starts it anew, and the comment <!-- stop the service --> stops it. On a page that names
// db-a.example and db-b.example these are PostgreSQL servers, of which the second is stopped and
// started by comments.
type page struct {
	file  string
	lines []string
	steps []step
}

// A step is a command of a page with the output that the page shows, or one that starts the
// service, or a comment that stops something.
type step struct {
	line    int  // from 1
	service bool // starts or stops it, or a database server
	command string
	shown   string
}

const (
	startService = "go run ./cmd/server"
	stopService  = "<!-- stop the service -->"

	stopDatabase  = "<!-- stop db-b.example -->"
	startDatabase = "<!-- start db-b.example -->"
)

func parsePage(t *testing.T, file string) *page {
	t.Helper()
	p := &page{file: file, lines: strings.Split(readFile(t, file), "\n")}
	block := ""
	for i, line := range p.lines {
		switch {
		case strings.HasPrefix(line, "```"):
			block = line[3:]
		case line == stopService, line == stopDatabase, line == startDatabase, block == "sh" && strings.HasPrefix(line, startService):
			command, _, _ := strings.Cut(line, "  #")
			p.steps = append(p.steps, step{line: i + 1, service: true, command: strings.TrimSpace(command)})
		case block != "console":
		case strings.HasPrefix(line, "$ "):
			p.steps = append(p.steps, step{line: i + 1, command: line[2:]})
		case len(p.steps) == 0:
			t.Fatalf("%s:%d: output without a command", file, i+1)
		default:
			p.steps[len(p.steps)-1].shown += line + "\n"
		}
	}
	return p
}

// write replaces the outputs in the file by those of the steps.
func (p *page) write(t *testing.T) {
	t.Helper()
	var text strings.Builder
	next, block := 0, ""
	for i, line := range p.lines {
		switch {
		case strings.HasPrefix(line, "```"):
			block = line[3:]
		case block == "console" && !strings.HasPrefix(line, "$ "):
			continue // the output of an earlier run
		}
		text.WriteString(line)
		if i < len(p.lines)-1 {
			text.WriteByte('\n')
		}
		if next < len(p.steps) && p.steps[next].line == i+1 {
			text.WriteString(p.steps[next].shown)
			next++
		}
	}
	if err := os.WriteFile(p.file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Values that are abridged in outputs.
var (
	longHex    = regexp.MustCompile(`\b([0-9a-f]{8})[0-9a-f]{56,}\b`)
	longString = regexp.MustCompile(`"([^"\\\n]|\\.){300,}"`)
	longArray  = regexp.MustCompile(`\[((?:"[^"\\]*"|[0-9]+)(?:, ?(?:"[^"\\]*"|[0-9]+)){12,})\]`)
)

// abridge shortens an output to what a page shows of it: digests and seeds in hex to their first 8
// digits, arrays of more than 12 strings or numbers to their first 6, and strings of more than 300
// characters to their first 60.
func abridge(output string) string {
	output = longHex.ReplaceAllString(output, "$1...")
	output = longString.ReplaceAllStringFunc(output, func(text string) string {
		return strings.TrimRight(text[:60], `\`) + `..."`
	})
	return longArray.ReplaceAllStringFunc(output, func(list string) string {
		return strings.Join(strings.SplitN(list, ",", 7)[:6], ",") + ",...]"
	})
}

// normalize replaces what differs from run to run by what it is, in JSON and in other text.
func normalize(output string) string {
	documents := json.NewDecoder(strings.NewReader(strings.ReplaceAll(output, ",...]", `,"..."]`)))
	documents.UseNumber()
	var text bytes.Buffer
	for {
		var document any
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			return text.String()
		}
		if _, composed := document.(map[string]any); err != nil || !composed {
			return normalizeText(output)
		}
		encoder := json.NewEncoder(&text)
		encoder.SetEscapeHTML(false)
		encoder.SetIndent("", " ")
		if err := encoder.Encode(normalizeValue(document, "")); err != nil {
			return fmt.Sprint(err)
		}
	}
}

// normalizeValue returns a JSON value with what differs from run to run replaced: of what was
// shuffled only the number of elements stays.
func normalizeValue(value any, member string) any {
	_, isList := value.([]any)
	switch member {
	case "items", "hands", "rest", "shuffles", "card", "instance", "value", "suit", "cut":
		if !isList {
			return "any"
		}
	}
	switch value := value.(type) {
	case map[string]any:
		_, isRecord := value["kind"]
		for name, v := range value {
			if name == "hands" && isRecord {
				continue // the sizes that were asked for
			}
			value[name] = normalizeValue(v, name)
		}
		return value
	case []any:
		for i, v := range value {
			value[i] = normalizeValue(v, member)
		}
		return value
	case string:
		return normalizeText(value)
	}
	return value
}

// variable is what differs from run to run in text. How many hashes a proof has depends on the
// checkpoint that it is under, which may be the last or one before.
var variable = []struct {
	pattern *regexp.Regexp
	is      string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "UUID"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z`), "TIME"},
	{regexp.MustCompile(`\b[0-9a-f]{8}\.\.\.`), "DIGEST"},
	{regexp.MustCompile(`\b[0-9a-f]{32}\b`), "ID"},
	{regexp.MustCompile(`riffle/[0-9a-f]{16}`), "ORIGIN"},
	{regexp.MustCompile(`[0-9a-f]{8}\+[A-Za-z0-9+/]{44}`), "KEY"},
	{regexp.MustCompile(`(?m)^(— .*) [A-Za-z0-9+/]{90,}=*$`), "$1 SIGNATURE"},
	{regexp.MustCompile(`(index [0-9]+\n)([A-Za-z0-9+/]{43}=\n)*`), "$1"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{43}=`), "HASH"},
	{regexp.MustCompile(`(?m)^[0-9]+$`), "SIZE"},
	{regexp.MustCompile(`of the [0-9]+ in the tree`), "of the SIZE in the tree"},
	{regexp.MustCompile(`record ([0-9]+) of [0-9]+`), "record $1 of SIZE"},
	{regexp.MustCompile(`\b([A02-9TJQK][SHDC]|X[12]|aceDiamonds)\b`), "CARD"},
	{regexp.MustCompile(`\b(ann|bob|cyn|dan|eve|fay)\b`), "NAME"},
}

func normalizeText(text string) string {
	for _, v := range variable {
		text = v.pattern.ReplaceAllString(text, v.is)
	}
	return text
}
