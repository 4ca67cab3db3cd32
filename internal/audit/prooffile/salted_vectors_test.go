package prooffile_test

import (
	"crypto/sha256"
	"strings"
	"testing"

	"riffle/internal/audit"
)

// saltedFile has the vectors of salted items. They are in a file of their own, so that a verifier
// that does not know the member items_digest still agrees with the others.
const saltedFile = "../../../testdata/riffle1/salted.json"

// saltedInput returns the input of items with a salt, by the text of the specification.
func saltedInput(t testing.TB, items, salt string) string {
	t.Helper()
	plain, _ := strings.CutPrefix(itemsInput(t, items), "items ")
	return audit.ItemsInput(sha256.Sum256([]byte("riffle/1 items\nsalt " + salt + "\n" + plain + "\n")))
}

func readSalted(t testing.TB) vectors { return read[vectors](t, saltedFile) }
