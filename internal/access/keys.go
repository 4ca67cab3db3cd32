package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"riffle/internal/suggest"
)

// A Scope is something that a caller may do.
type Scope string

// The scopes. Every route needs one of them, but health checks and pages.
const (
	Shuffle Scope = "shuffle" // shuffles, commitments and reveals
	Deal    Scope = "deal"    // shoes, and decks of deckofcardsapi
	Read    Scope = "read"    // what the log makes public
	Metrics Scope = "metrics"
)

// Page is in place of a scope for the files of pages, which everybody may read within the limits of
// callers without a token. No key has it.
const Page Scope = "page"

// Scopes lists all scopes.
func Scopes() []Scope { return []Scope{Shuffle, Deal, Read, Metrics} }

// A Token is what a caller shows to be recognized: tokenPrefix and 32 random bytes in base64url
// without padding (RFC 4648, 5). Only its digest is ever stored.
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

// Digest returns the digest of the token.
func (t Token) Digest() Digest { return sha256.Sum256([]byte(t)) }

// looksLikeToken reports whether a text begins as a token does, wherever it was found.
func looksLikeToken(text string) bool { return strings.HasPrefix(text, tokenPrefix) }

// isToken reports whether a text has the form of a token.
func isToken(text string) bool {
	secret, found := strings.CutPrefix(text, tokenPrefix)
	raw, err := base64.RawURLEncoding.Strict().DecodeString(secret)
	return found && err == nil && len(raw) == 32
}

// A Grant says what a caller may do, and how often.
type Grant struct {
	May  []Scope
	Logs []string // names of the logs where that counts; empty for all
	Rates
}

// MainLog is the name of the log whose paths have no prefix.
const MainLog = "main"

// CheckName returns an error unless a key or a log may have the name, which stands in paths, logs
// and metrics. It is no token.
func CheckName(name string) error {
	if suggest.Mask(name) != name {
		return errors.New("a name must not have a token in it, which is secret; choose one like table-server")
	}
	if name == "" || len(name) > 64 || name[0] == '.' || strings.Trim(name, nameLetters) != "" {
		return fmt.Errorf("a name has 1 to 64 letters, digits, dashes, underscores and, but for the first, dots, like table-server; got %q", name)
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_."

// A Key is a caller that is known by a token.
type Key struct {
	Name   string
	Digest Digest
	Grant
}
