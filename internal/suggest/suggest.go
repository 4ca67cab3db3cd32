// Package suggest finds the name that a misspelled one may have meant, for errors. It quotes at most the head
// of a caller's text, at a bounded cost. [Mask] removes tokens from answers and logs.
package suggest

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// TokenPrefix begins every token.
const TokenPrefix = "rfl_"

// secret matches tokens, whole or truncated: the prefix and base64url.
var secret = regexp.MustCompile(TokenPrefix + "[A-Za-z0-9_-]+")

// Mask replaces the secret part of each token in a text.
func Mask(text string) string {
	if !strings.Contains(text, TokenPrefix) {
		return text
	}
	return secret.ReplaceAllString(text, TokenPrefix+"...")
}

// most is the number of bytes of a text that an error repeats.
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

// Or suggests the nearest of names, or returns otherwise if none is near.
func Or(name string, names []string, otherwise string) string {
	if meant := Nearest(name, names); meant != "" {
		return "did you mean " + meant + "?"
	}
	return otherwise
}

// Nearest returns the most similar of names, or "" if none is similar. It ignores case, and the difference
// between _ and -.
func Nearest(name string, names []string) (found string) {
	if len(name) > 4*most {
		return ""
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	least := 2 + len(name)/5 // changes between names that are not similar
	for _, candidate := range names {
		if d := levenshtein.ComputeDistance(name, strings.ReplaceAll(candidate, "_", "-")); d < least {
			found, least = candidate, d
		}
	}
	return found
}
