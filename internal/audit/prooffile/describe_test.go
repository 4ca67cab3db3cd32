package prooffile_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/audit/prooffile"
)

func TestDescriptionsOfRecordsOfShoes(t *testing.T) {
	list, _ := dealtShoes(t)
	var all []string
	for _, b := range list {
		for _, text := range textsOf(b.files()) {
			all = append(all, prooffile.VerifyRecord(text, shoeGiven(t, b, "")).Steps[1].Detail)
		}
	}
	for _, want := range []string{
		"a shoe: 54 of 54, shuffled by fisher-yates; reference \"table 7 ♥\"",
		"a shoe: 7, in the order of the input",
		": 5 cards taken from the top of the deck",
		": 3 cards taken from the bottom of the deck and put to the top of the pile nils",
		": 4 cards taken at random from the deck and put to the bottom of the pile zoe",
		": 1 card taken by name from the pile nils",
		": 2 cards taken by name from the dealt cards and put to the top of the pile discard",
		": 2 cards taken by name from from anywhere outside the deck and put to the bottom of the pile discard",
		": the pile discard, 4 cards, sealed in a new order by fisher-yates",
		": all cards, 54 cards, sealed in a new order by fisher-yates",
		": over, and not closed",
		": closed",
	} {
		assert.Truef(t, slices.ContainsFunc(all, func(s string) bool { return strings.HasSuffix(s, want) }),
			"no record is %q:\n%s", want, strings.Join(all, "\n"))
	}
}
