package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	"riffle/internal/suggest"
)

// A Scope is a permission of callers. Each route requires one, except health checks and pages.
type Scope string

// The scopes.
const (
	Shuffle Scope = "shuffle" // shuffles, commitments and reveals
	Deal    Scope = "deal"    // shoes, and decks of deckofcardsapi
	Read    Scope = "read"    // the public parts of the log
	Metrics Scope = "metrics"
)

// Page is the scope of the pages' files, which every caller has. The rates of anonymous callers apply.
const Page Scope = "page"

// Scopes lists all scopes.
func Scopes() []Scope { return []Scope{Shuffle, Deal, Read, Metrics} }

// A Token authenticates a caller. It is tokenPrefix and 32 random bytes in base64url without padding
// (RFC 4648, 5). Only its digest is stored.
type Token string

const tokenPrefix = suggest.TokenPrefix

// NewToken draws a token from the operating system's generator.
func NewToken() Token {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // never fails: see its documentation
	return Token(tokenPrefix + base64.RawURLEncoding.EncodeToString(secret[:]))
}

// A Digest is the SHA-256 of a token.
type Digest [sha256.Size]byte

// Digest returns the token's digest.
func (t Token) Digest() Digest { return sha256.Sum256([]byte(t)) }

// isToken reports whether a text is a well-formed token.
func isToken(text string) bool {
	secret, found := strings.CutPrefix(text, tokenPrefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return found && err == nil && len(raw) == 32
}

// A Grant has a caller's permissions and rates.
type Grant struct {
	May []Scope
	Rates
}

// CheckName returns an error if a key must not have the name. Names are public: they appear in logs and
// metrics.
func CheckName(name string) error {
	if suggest.Mask(name) != name {
		return errors.New("a name must not have a token in it, which is secret; choose one like table-server")
	}
	if name == "" || len(name) > 64 || name[0] == '.' || strings.Trim(name, nameLetters) != "" {
		return fmt.Errorf("a name has 1 to 64 letters, digits, dashes, underscores and, except at the start, dots, like table-server; got %q", name)
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// An APIKey is a caller with a token.
type APIKey struct {
	Name    string
	Digest  Digest
	Expires time.Time // zero for never
	Grant
}

// ParseExpiry parses a time in RFC 3339, or a date, which means its first moment in UTC.
func ParseExpiry(text string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, text)
	if err != nil {
		t, err = time.Parse(time.RFC3339, text)
	}
	return t, err
}
