package suggest_test

import (
	"strings"
	"testing"

	"riffle/internal/suggest"
)

func TestNearest(t *testing.T) {
	names := []string{"addr", "deckofcards", "hosts", "log-level", "max-items", "max-results", "memory"}
	for name, want := range map[string]string{
		"adr": "addr", "host": "hosts", "Hosts": "hosts", "loglevel": "log-level", "logLevel": "log-level",
		"max_items": "max-items", "maxItems": "max-items", "mx-result": "max-results", "deck-of-cards": "deckofcards",
		"": "", "x": "", "port": "", "timeout": "", "max": "", strings.Repeat("hosts", 1000): "",
	} {
		if got := suggest.Nearest(name, names); got != want {
			t.Errorf("nearest to %.80q is %q, want %q", name, got, want)
		}
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
		if brief, quoted := suggest.Brief(text), suggest.Quote(text); brief != want[0] || quoted != want[1] {
			t.Errorf("%q is repeated as %q and %s", text, brief, quoted)
		}
	}
}

func TestOr(t *testing.T) {
	names := []string{"deck", "decks"}
	for name, want := range map[string]string{"dec": "did you mean deck?", "Decks": "did you mean decks?", "hand": "it takes deck"} {
		if got := suggest.Or(name, names, "it takes deck"); got != want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestMask(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "rfl_": "rfl_", "Bearer rfl_... and the 43": "Bearer rfl_... and the 43",
		"rfl_" + strings.Repeat("A", 43): "rfl_...", "rfl_-": "rfl_...", "a rfl_b_c-d.e rfl_f\n": "a rfl_....e rfl_...\n", "xrfl_rfl_a": "xrfl_...",
	} {
		if got := suggest.Mask(text); got != want {
			t.Errorf("%q is masked as %q, want %q", text, got, want)
		}
	}
}
