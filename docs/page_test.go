package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A page is a Markdown file whose console blocks are one session in a shell:
//
//	```console
//	$ a command
//	its output
//	```
//
// [abridge] shortens long values in outputs.
//
// The first command starts the service. The line "go run ./cmd/server" with flags in an sh block
// starts it again, and the comment <!-- stop the service --> stops it. The host db-a.example is a
// PostgreSQL server.
type page struct {
	file  string
	lines []string
	steps []step
}

// A step is a command with its output on the page, or starts or stops the service.
type step struct {
	line    int  // from 1
	service bool // starts or stops the service
	command string
	shown   string
}

const (
	startService = "go run ./cmd/server"
	stopService  = "<!-- stop the service -->"
)

func parsePage(t *testing.T, file string) *page {
	t.Helper()
	p := &page{file: file, lines: strings.Split(readFile(t, file), "\n")}
	block := ""
	for i, line := range p.lines {
		switch {
		case strings.HasPrefix(line, "```"):
			block = line[3:]
		case line == stopService, block == "sh" && strings.HasPrefix(line, startService):
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

// write replaces the outputs in the file by the outputs of the steps.
func (p *page) write(t *testing.T) {
	t.Helper()
	var text strings.Builder
	next, block := 0, ""
	for i, line := range p.lines {
		switch {
		case strings.HasPrefix(line, "```"):
			block = line[3:]
		case block == "console" && !strings.HasPrefix(line, "$ "):
			continue // an old output
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
	require.NoError(t, os.WriteFile(p.file, []byte(text.String()), 0o644))
}

// Values that pages abridge.
var (
	longHex    = regexp.MustCompile(`\b([0-9a-f]{8})[0-9a-f]{56,}\b`)
	longString = regexp.MustCompile(`"([^"\\\n]|\\.){300,}"`)
	longArray  = regexp.MustCompile(`\[((?:"[^"\\]*"|[0-9]+)(?:, ?(?:"[^"\\]*"|[0-9]+)){12,})\]`)
)

// abridge shortens digests and seeds in hex to 8 digits, arrays of more than 12 strings or numbers to
// 6 elements, and strings of more than 300 characters to 60.
func abridge(output string) string {
	output = longHex.ReplaceAllString(output, "$1...")
	output = longString.ReplaceAllStringFunc(output, func(text string) string {
		return strings.TrimRight(text[:60], `\`) + `..."`
	})
	return longArray.ReplaceAllStringFunc(output, func(list string) string {
		return strings.Join(strings.SplitN(list, ",", 7)[:6], ",") + ",...]"
	})
}

// A normalizer replaces random values by placeholders in the outputs of one run, in order. Values
// that identify a record, shoe, seed or log are numbered at their first appearance, so two runs
// normalize to the same text only if each of them has the same ids in the same places.
type normalizer map[string]string // placeholders by value

// output normalizes an output: JSON documents or other text.
func (n normalizer) output(output string) string {
	documents := json.NewDecoder(strings.NewReader(strings.ReplaceAll(output, ",...]", `,"..."]`)))
	documents.UseNumber()
	var values []any
	for {
		var document any
		err := documents.Decode(&document)
		if errors.Is(err, io.EOF) {
			break
		}
		if _, composed := document.(map[string]any); err != nil || !composed {
			return n.text(output)
		}
		values = append(values, document)
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", " ")
	for _, v := range values {
		if err := encoder.Encode(n.value(v, "")); err != nil {
			return fmt.Sprint(err)
		}
	}
	return text.String()
}

// value normalizes a JSON value. Shuffled lists keep only their length.
func (n normalizer) value(value any, member string) any {
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
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if name == "hands" && isRecord {
				continue // the requested sizes
			}
			value[name] = n.value(value[name], name)
		}
		return value
	case []any:
		for i, v := range value {
			value[i] = n.value(v, member)
		}
		return value
	case string:
		return n.text(value)
	case json.Number:
		if len(value) == 8 {
			return "ROUND" // of a beacon
		}
	}
	return value
}

// identifiers are patterns of values that identify something.
var identifiers = []struct {
	name    string
	pattern *regexp.Regexp
}{
	{"UUID", regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)},
	{"DIGEST", regexp.MustCompile(`\b[0-9a-f]{8}\.\.\.`)},
	{"DECK", regexp.MustCompile(`\b[0-9a-f]{32}\b`)},
	{"ORIGIN", regexp.MustCompile(`riffle/[0-9a-f]{16}`)},
	{"KEY", regexp.MustCompile(`[0-9a-f]{8}\+[A-Za-z0-9+/]{44}`)},
}

// random lists patterns of other values that differ from run to run. The number of hashes in a proof
// depends on its checkpoint, which may be the last one or the one before.
var random = []struct {
	pattern     *regexp.Regexp
	placeholder string
}{
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z`), "TIME"},
	{regexp.MustCompile(`[23] of 3 witnesses cosigned the checkpoint: .*; that`), "ENOUGH witnesses cosigned the checkpoint; that"},
	{regexp.MustCompile(`quicknet \d{8}`), "quicknet ROUND"},
	{regexp.MustCompile(`(?m)^(— .*) [A-Za-z0-9+/]{90,}=*$`), "$1 SIGNATURE"},
	{regexp.MustCompile(`(index [0-9]+\n)([A-Za-z0-9+/]{43}=\n)*`), "$1"},
	{regexp.MustCompile(`[A-Za-z0-9+/]{43}=`), "HASH"},
	{regexp.MustCompile(`(?m)^[0-9]+$`), "SIZE"},
	{regexp.MustCompile(`of the [0-9]+ in the tree`), "of the SIZE in the tree"},
	{regexp.MustCompile(`record ([0-9]+) of [0-9]+`), "record $1 of SIZE"},
	{regexp.MustCompile(`\b([A02-9TJQK][SHDC]|X[12]|aceDiamonds)\b`), "CARD"},
	{regexp.MustCompile(`\b(ann|bob|cyn|dan|eve|fay)\b`), "NAME"},
}

func (n normalizer) text(text string) string {
	for _, id := range identifiers {
		text = id.pattern.ReplaceAllStringFunc(text, func(value string) string {
			if n[value] == "" {
				n[value] = fmt.Sprint(id.name, " ", len(n)+1)
			}
			return n[value]
		})
	}
	for _, v := range random {
		text = v.pattern.ReplaceAllString(text, v.placeholder)
	}
	return text
}
