package api

import (
	"net/http"
	"strings"

	"riffle/internal/journal"
)

// maxKey is the length of the longest idempotency key, in characters.
const maxKey = 255

// idempotencyKey returns the key that identifies a request's retries, or nil without an Idempotency-Key. It
// is bound to the name of the caller's key, so that a token can be replaced, and to method, path, query
// and body.
func idempotencyKey(w http.ResponseWriter, r *http.Request, body []byte) (*journal.Key, error) {
	values := r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	key, ok := parseKey(values)
	if !ok {
		return nil, badRequest("Idempotency-Key must be one key of 1 to %d visible ASCII characters, bare or in double quotes, such as a random UUID.", maxKey)
	}
	return journal.NewKey(key, []byte(r.Method+" "+r.RequestURI+"\n"), body).By(CallerOf(w)), nil
}

// parseKey reads a key: a string of RFC 9651, 3.3.3, as the IETF draft demands, or the bare characters that
// most clients send. Both forms of a key are equal.
func parseKey(values []string) (string, bool) {
	if len(values) != 1 {
		return "", false
	}
	text := strings.Trim(values[0], " \t")
	key := text
	if quoted, ok := strings.CutPrefix(text, `"`); ok {
		quoted, ok = strings.CutSuffix(quoted, `"`)
		if !ok {
			return "", false
		}
		var b strings.Builder
		for i := 0; i < len(quoted); i++ {
			c := quoted[i]
			switch c {
			case '\\':
				if i++; i == len(quoted) || quoted[i] != '"' && quoted[i] != '\\' {
					return "", false
				}
				c = quoted[i]
			case '"':
				return "", false
			}
			b.WriteByte(c)
		}
		key = b.String()
	}
	visible := func(c rune) bool { return c > ' ' && c < 0x7f }
	return key, key != "" && len(key) <= maxKey && strings.IndexFunc(key, func(c rune) bool { return !visible(c) }) < 0
}
