package ledger

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
)

// successors is the folder, in a log's folder, for the logs that follow it. Their folders are named by
// number, from 2 on.
const successors = "successors"

// SuccessorFolder returns the folder of the log with a number, if the first one's is folder. The first has
// number 0 or 1.
func SuccessorFolder(folder string, number int) string {
	if number < 2 {
		return folder
	}
	return filepath.Join(folder, successors, strconv.Itoa(number))
}

// SuccessorStore returns the URL of the log with a number, in a schema of its own in the database of the first
// log; "" for none.
func SuccessorStore(location string, number int) string {
	if number < 2 || location == "" {
		return location
	}
	if schema.MatchString(location) {
		return schema.ReplaceAllString(location, fmt.Sprintf("${1}_%d", number))
	}
	separator := "?"
	if strings.Contains(location, separator) {
		separator = "&"
	}
	return fmt.Sprintf("%s%ssearch_path=riffle_%d", location, separator, number)
}

var schema = regexp.MustCompile("([?&]search_path=[^&]*)")

// SuccessorOrigin returns the name of the log with a number.
func SuccessorOrigin(origin string, number int) string { return fmt.Sprintf("%s/%d", origin, number) }

// SuccessorKey returns the verifier key of the log in a folder, given the first log's key.
func SuccessorKey(first, folder string) (string, error) {
	parts := strings.SplitN(first, "+", 3)
	number, _ := strconv.Atoi(filepath.Base(folder))
	if number == 0 || filepath.Base(filepath.Dir(folder)) != successors || len(parts) < 3 {
		return first, nil
	}
	public, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil {
		return "", err
	}
	return note.NewEd25519VerifierKey(SuccessorOrigin(parts[0], number), public[1:])
}
