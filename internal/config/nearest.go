package config

import (
	"fmt"
	"strings"
)

// unknown says that a name is not one of names, and which it may have been meant to be.
func unknown(what, name string, names []string) string {
	if meant := nearest(name, names); meant != "" {
		return fmt.Sprintf("unknown %s %.80q; did you mean %s?", what, name, meant)
	}
	return fmt.Sprintf("unknown %s %.80q; there are %s", what, name, strings.Join(names, ", "))
}

// nearest returns the one of names that is spelled most like name, or "" if none is similar. Case
// does not matter, nor whether words are joined by _ or -.
func nearest(name string, names []string) (found string) {
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	least := 2 + len(name)/5 // from this many changes on, names are not similar
	for _, candidate := range names {
		if len(name)-len(candidate) >= least { // then so is the distance; name may be very long
			continue
		}
		if d := distance(name, candidate); d < least {
			found, least = candidate, d
		}
	}
	return found
}

// distance returns how many bytes have to be inserted, deleted or replaced to make b of a: their
// Levenshtein distance.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // distances from a[:i] to each b[:j]
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			change := diagonal
			if a[i] != b[j] {
				change++
			}
			diagonal = row[j+1]
			row[j+1] = min(change, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}
