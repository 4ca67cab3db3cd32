package prooffile

import (
	_ "embed"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"riffle/internal/audit"
)

// A Message is something that a verifier says, as data. Its text follows from the table of messages
// that all verifiers have: docs/spec.md, "Output of a verifier".
type Message struct {
	ID     string `json:"id"`
	Values values `json:"values"`
}

// Values are texts, whole numbers, messages, and lists of these.
type values map[string]any

//go:embed messages.json
var messagesText []byte

// texts are the English texts of messages, by their ids.
var texts = func() (table map[string]struct {
	English string `json:"en"`
},
) {
	if err := json.Unmarshal(messagesText, &table); err != nil {
		panic(err) // it is embedded
	}
	return table
}()

var (
	optional    = regexp.MustCompile(`\[[^]]*]`)
	placeholder = regexp.MustCompile(`\{(\w+)(?::(\w+))?}`)
)

// newMessage returns a message with the values that its text names.
func newMessage(id string, all values) Message {
	m := Message{id, values{}}
	for _, named := range placeholder.FindAllStringSubmatch(texts[id].English, -1) {
		value := all[named[1]]
		switch v := value.(type) {
		case string:
			value = Printable(v)
		case uint64:
			if v > audit.MaxSize { // JSON programs would round it
				value = strconv.FormatUint(v, 10)
			}
		}
		if value != nil {
			m.Values[named[1]] = value
		}
	}
	return m
}

// plain returns a message with words of its own.
func plain(text any) Message { return newMessage("text", values{"text": fmt.Sprint(text)}) }

// String returns the text in English.
func (m Message) String() string {
	isMissing := func(named []string) bool { return m.Values[named[1]] == nil }
	text := optional.ReplaceAllStringFunc(texts[m.ID].English, func(part string) string {
		if slices.ContainsFunc(placeholder.FindAllStringSubmatch(part, -1), isMissing) {
			return ""
		}
		return part[1 : len(part)-1]
	})
	return placeholder.ReplaceAllStringFunc(text, func(part string) string {
		name, noun, isCounted := strings.Cut(strings.Trim(part, "{}"), ":")
		text := textOf(m.Values[name])
		if isCounted && text != "1" {
			noun += "s"
		}
		if isCounted {
			text += " " + noun
		}
		return text
	})
}

func textOf(value any) string {
	list, isList := value.([]any)
	if !isList {
		return fmt.Sprint(value)
	}
	texts := make([]string, len(list))
	for i, element := range list {
		texts[i] = textOf(element)
	}
	return strings.Join(texts, ", ")
}

// listOf returns the texts of a list as a value.
func listOf[E any](elements []E) (list []any) {
	for _, element := range elements {
		list = append(list, Printable(fmt.Sprint(element)))
	}
	return list
}
