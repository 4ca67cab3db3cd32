package ledger

import (
	"errors"
	"fmt"
)

// A Version of a store tells which programs may write to it. A migration of its tables raises it, and
// so does the first record with something that earlier programs do not know: they would ignore it, and
// write later records without it. From FirstDated on, a version is a date, year first, and a number.
type Version int64

// The versions of records.
const (
	FirstDated Version = 2026112201 // the tables of versions 1 to 3 hold all of these records

	HiddenItems  Version = 2026112201 // items_digest
	EmptyPiles   Version = 2026112202 // an add without cards
	LongNames    Version = 2026112203 // piles with names of more than 64 characters
	CutCards     Version = 2026112204 // cut and cut_range
	LogEnds      Version = 2026112301 // log-end, after which nothing follows, and log-begin
	KnownVersion         = LogEnds    // the newest that this program knows

	Moved Version = 9999123199 // the log goes on in another store
)

// Date returns the date of the oldest program that knows a dated version.
func (v Version) Date() string {
	day := v / 100
	return fmt.Sprintf("%04d-%02d-%02d", day/10000, day/100%100, day%100)
}

// CheckVersion returns an error if the store has a version that this program does not know. Its
// migrations lead to the version tables.
func CheckVersion(have, tables Version) error {
	newest, needs := tables, ""
	if have >= FirstDated {
		newest, needs = max(tables, KnownVersion), fmt.Sprintf("the records of the store need Riffle of %s or later: ", have.Date())
	}
	if have <= newest {
		return nil
	}
	if have == Moved {
		return errors.New("the log was moved to another store: start the service on that one")
	}
	return fmt.Errorf("%sthe store has version %d, and this program knows versions up to %d; start a newer program", needs, have, newest)
}
