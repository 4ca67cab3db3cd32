package suggest_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/suggest"
)

func TestNearest(t *testing.T) {
	names := []string{"addr", "deckofcards", "hosts", "log-level", "max-items", "max-results", "memory"}
	for name, want := range map[string]string{
		"adr": "addr", "host": "hosts", "Hosts": "hosts", "loglevel": "log-level", "logLevel": "log-level",
		"max_items": "max-items", "maxItems": "max-items", "mx-result": "max-results", "deck-of-cards": "deckofcards",
		"": "", "x": "", "port": "", "timeout": "", "max": "", strings.Repeat("hosts", 1000): "",
	} {
		assert.Equalf(t, want, suggest.Nearest(name, names), "nearest to %.80q", name)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                          {"", `""`},
		"a\nb":                      {"a\nb", `"a\nb"`},
		strings.Repeat("a", 41):     {strings.Repeat("a", 40) + "...", `"` + strings.Repeat("a", 40) + `"...`},
		strings.Repeat("a\xff", 30): {strings.Repeat("a", 20) + "...", `"` + strings.Repeat("a", 20) + `"...`},
		strings.Repeat("牌", 20):     {strings.Repeat("牌", 13) + "...", `"` + strings.Repeat("牌", 13) + `"...`},
	} {
		assert.Equalf(t, want[0], suggest.Brief(text), "%q is repeated as", text)
		assert.Equalf(t, want[1], suggest.Quote(text), "%q is repeated as", text)
	}
}

func TestOr(t *testing.T) {
	names := []string{"deck", "decks"}
	for name, want := range map[string]string{"dec": "did you mean deck?", "Decks": "did you mean decks?", "hand": "it takes deck"} {
		assert.Equal(t, want, suggest.Or(name, names, "it takes deck"), name)
	}
}

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "rfl_": "rfl_", "Bearer rfl_... and the 43": "Bearer rfl_... and the 43",
		"rfl_" + strings.Repeat("A", 43): "rfl_...", "rfl_-": "rfl_...", "a rfl_b_c-d.e rfl_f\n": "a rfl_....e rfl_...\n", "xrfl_rfl_a": "xrfl_...",
	} {
		assert.Equalf(t, want, suggest.Mask(text), "%q is masked as", text)
	}
}
