// Package message has what verifiers say, as data: the id of a text and the values that it names.
// messages.json has the texts, in English and in Chinese, for all verifiers: docs/spec.md, "Output
// of a verifier". A message that says why something does not hold is an error.
package message

import (
	_ "embed"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
)

// A Message is something that a verifier says.
type Message struct {
	ID     string `json:"id"`
	Values Values `json:"values"`

	cause error // what the message is about, for [errors.Is]; nil for most
}

// Values are texts, whole numbers, messages, and lists of these.
type Values map[string]any

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

// longest is the length of the longest text in a message, in characters: docs/spec.md, "Output of a
// verifier".
const longest = 300

// New returns a message with the values that its text names.
func New(id string, all Values) Message {
	m := Message{ID: id, Values: Values{}}
	text := texts[id].English
	for name, value := range all {
		if value == nil || !strings.Contains(text, "{"+name+"}") && !strings.Contains(text, "{"+name+":") {
			continue
		}
		switch v := value.(type) {
		case string:
			value = Printable(shorten(v, longest))
		case uint64:
			if v > 1<<53-1 { // JSON programs would round it
				value = strconv.FormatUint(v, 10)
			}
		}
		m.Values[name] = value
	}
	return m
}

// Text returns a message in the words of a caller.
func Text(text any) Message { return New("text", Values{"text": fmt.Sprint(text)}) }

// Of returns the message that an error is, or wraps; for any other error, its text.
func Of(err error) Message {
	if m, isMessage := errors.AsType[Message](err); isMessage {
		return m
	}
	return Text(err)
}

// Rule returns an error if a rule does not hold: the message why.
func Rule(holds bool, id string, all Values) error {
	if holds {
		return nil
	}
	return New(id, all)
}

// Because returns the message as an error that wraps another one.
func (m Message) Because(cause error) error {
	m.cause = cause
	return m
}

func (m Message) Error() string { return m.String() }

func (m Message) Unwrap() error { return m.cause }

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

// List returns the texts of a list as a value.
func List[E any](elements []E) (list []any) {
	for _, element := range elements {
		list = append(list, Printable(shorten(fmt.Sprint(element), longest)))
	}
	return list
}

// Short truncates a value to fit on a line.
func Short[T ~string | ~[]byte](value T) string { return shorten(value, 60) }

func shorten[T ~string | ~[]byte](value T, most int) string {
	text := []rune(string(value[:min(len(value), utf8.UTFMax*(most+1))]))
	if len(text) > most {
		return string(text[:most]) + "..."
	}
	return string(text)
}

// Printable replaces what could move the cursor of a terminal: files come from strangers, and
// messages quote them.
func Printable(text string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c >= 0x7f && c < 0xa0 || c == 0x61c || c == 0x200e || c == 0x200f || c >= 0x2028 && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return '\uFFFD'
		}
		return c
	}, text)
}
