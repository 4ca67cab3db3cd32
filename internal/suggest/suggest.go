// Package suggest helps errors to say what a caller may have meant. It never repeats more than the head
// of what was sent, and what it costs does not depend on how long that is. [Mask] takes tokens out of
// all that is answered or logged.
package suggest

import (
	"regexp"
	"strconv"
	"strings"
)

// TokenPrefix is what every token begins with.
const TokenPrefix = "rfl_"

// secret finds tokens and the heads of tokens: the prefix and what base64url has.
var secret = regexp.MustCompile(TokenPrefix + "[A-Za-z0-9_-]+")

// Mask returns a text without the secret parts of the tokens in it, whole or truncated.
func Mask(text string) string {
	if !strings.Contains(text, TokenPrefix) {
		return text
	}
	return secret.ReplaceAllString(text, TokenPrefix+"...")
}

// most is how many bytes of a text are repeated in an error.
const most = 40

// Brief returns a text, or its head if it is long.
func Brief(text string) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// Quote returns a text in double quotes, or its head if it is long.
func Quote(text string) string {
	if len(text) <= most {
		return strconv.Quote(text)
	}
	return strconv.Quote(strings.ToValidUTF8(text[:most], "")) + "..."
}

// Or asks whether the nearest of names was meant, or returns another hint if none is near.
func Or(name string, names []string, otherwise string) string {
	if meant := Nearest(name, names); meant != "" {
		return "did you mean " + meant + "?"
	}
	return otherwise
}

// Nearest returns the one of names that is spelled most like name, or "" if none is similar. Case
// does not matter, nor whether words are joined by _ or -.
func Nearest(name string, names []string) (found string) {
	if len(name) > 2*most {
		return ""
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	least := 2 + len(name)/5 // from this many changes on, names are not similar
	for _, candidate := range names {
		if d := Distance(name, strings.ReplaceAll(candidate, "_", "-")); d < least {
			found, least = candidate, d
		}
	}
	return found
}

// Distance returns how many bytes have to be inserted, deleted or replaced to make b of a: their
// Levenshtein distance.
func Distance(a, b string) int {
	row := make([]int, len(b)+1) // distances from a[:i] to each b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
