package api

import (
	"regexp"
	"strings"

	"riffle/internal/journal"
)

// maxKey is the length of the longest idempotency key, in characters.
const maxKey = 255

// idempotencyKey returns the key that identifies a request's retries, or nil without an Idempotency-Key. It
// is bound to the name of the caller's key, so that a token can be replaced, and to method, path, query
// and body.
func idempotencyKey(x *exchange, body []byte) (*journal.Key, error) {
	values := x.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	key, ok := parseKey(values)
	if !ok {
		return nil, badRequest("Idempotency-Key must be one key of 1 to %d visible ASCII characters, bare or in double quotes, such as a random UUID.", maxKey)
	}
	return journal.NewKey(key, []byte(x.r.Method+" "+x.r.RequestURI+"\n"), body).By(x.caller.Key), nil
}

// A key is a string of RFC 9651, 3.3.3, as the IETF draft demands, or the bare characters that most clients
// send. Both forms of a key are equal.
var (
	quotedKey = regexp.MustCompile(`^"((?:[^"\\]|\\["\\])*)"$`)
	unescape  = strings.NewReplacer(`\"`, `"`, `\\`, `\`)
	visible   = regexp.MustCompile(`^[!-~]+$`)
)

// parseKey reads a key.
func parseKey(values []string) (key string, ok bool) {
	if len(values) != 1 {
		return "", false
	}
	key = strings.Trim(values[0], " \t")
	if strings.HasPrefix(key, `"`) {
		inner := quotedKey.FindStringSubmatch(key)
		if inner == nil {
			return "", false
		}
		key = unescape.Replace(inner[1])
	}
	return key, len(key) <= maxKey && visible.MatchString(key)
}
