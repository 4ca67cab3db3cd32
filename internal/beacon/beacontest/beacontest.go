// Package beacontest has a chain in place of quicknet, for tests that need a signature of a round
// when it is published. Programs that are built with its overlay take its key for quicknet's.
package beacontest

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/cloudflare/circl/sign/bls"

	"riffle/internal/beacon"
)

// key is the secret key of the chain.
var key, _ = bls.KeyGen[bls.KeyG2SigG1]([]byte("a chain for tests, of 32 bytes or more"), nil, nil) // no error

// Signature returns the signature of a round.
func Signature(r beacon.Round) string { return hex.EncodeToString(bls.Sign(key, r.Message())) }

// Relay answers as a relay of drand does.
func Relay(w http.ResponseWriter, r *http.Request) {
	number, isRound := strings.CutPrefix(r.URL.Path, "/"+beacon.Hash+"/public/")
	n, err := strconv.ParseUint(number, 10, 53)
	if round := beacon.Round(n); !isRound || err != nil || n == 0 || time.Now().Before(round.Time()) {
		http.Error(w, "there is no such round yet", http.StatusTooEarly)
	} else {
		_, _ = fmt.Fprintf(w, `{"round":%d,"signature":"%s"}`, n, Signature(round))
	}
}

// Replace replaces the key of quicknet in a text by the key of the chain.
func Replace(text string) string {
	public, _ := key.PublicKey().MarshalBinary() // no error
	own, theirs := hex.EncodeToString(public), hex.EncodeToString(beacon.Key())
	const half = 96
	return strings.NewReplacer(theirs[:half], own[:half], theirs[half:], own[half:]).Replace(text)
}

// Overlay writes copies of the files of the repository with the key of the chain into a folder, and
// the file that go build -overlay takes, whose path it returns.
func Overlay(repository, folder string) (path string, err error) {
	files, err := filepath.Glob(filepath.Join(repository, "internal/web/static/*.js"))
	if err != nil {
		return "", err
	}
	replaced := map[string]string{}
	for _, file := range append(files, filepath.Join(repository, "internal/beacon/beacon.go")) {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		other := Replace(string(text))
		if other == string(text) {
			continue
		}
		from, err := filepath.Abs(file)
		if err != nil {
			return "", err
		}
		replaced[from] = filepath.Join(folder, filepath.Base(file))
		if err := os.WriteFile(replaced[from], []byte(other), 0o600); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replaced})
	path = filepath.Join(folder, "overlay.json")
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	return path, err
}
