package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// A proofVector is one of proofs.json and salted.json in testdata/riffle1, which the command is run
// with.
type proofVector struct {
	Name, Proof, Key, Items, Verdict string
	Orders                           [][]int
}

func readProofVectors(t testing.TB, name string) []proofVector {
	t.Helper()
	var v struct{ Verdicts []proofVector }
	text, err := os.ReadFile("../../testdata/riffle1/" + name + ".json")
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	require.NoError(t, err)
	return slices.DeleteFunc(v.Verdicts, func(v proofVector) bool { return v.Verdict == "false" })
}

// makeProofs writes the valid vectors into a folder, deck.json and so on, with the keys of their
// log and the other files of the scripts.
func makeProofs(t testing.TB, parent string) {
	t.Helper()
	folder := filepath.Join(parent, "proofs")
	require.NoError(t, os.Mkdir(folder, 0o755))
	for _, v := range slices.Concat(readProofVectors(t, "proofs"), readProofVectors(t, "salted")) {
		name := strings.NewReplacer(" ", "-", ",", "").Replace(v.Name)
		write(t, filepath.Join(folder, name+".json"), v.Proof)
		if v.Items != "" {
			write(t, filepath.Join(folder, name+".items"), v.Items)
		}
		write(t, filepath.Join(folder, "log.pub"), v.Key+"\n")
		if v.Name == "items with hands, twice" {
			write(t, filepath.Join(folder, "answer"), answer(v.Orders))
			last := v.Orders[1]
			last[3], last[4] = last[4], last[3]
			write(t, filepath.Join(folder, "other"), answer(v.Orders))
		}
	}
	private, _, err := note.GenerateKey(bytes.NewReader(bytes.Repeat([]byte{1}, 32)), "example.com/log")
	require.NoError(t, err)
	write(t, filepath.Join(folder, "log.key"), private+"\n")
	write(t, filepath.Join(folder, "crlf"), "a\r\nb")
	write(t, filepath.Join(folder, "latin1"), "a\nZo\xeb\n")
}

// answer returns the answer of the service to two shuffles of five, dealt in two hands of two.
func answer(orders [][]int) string {
	fruit := []string{"apple", "pear", "fig", "plum", "quince"}
	var shuffles []string
	for _, o := range orders {
		shuffles = append(shuffles, fmt.Sprintf("[[%q,%q],[%q,%q],[%q]]", fruit[o[0]], fruit[o[1]], fruit[o[2]], fruit[o[3]], fruit[o[4]]))
	}
	return `{"log_index":3,"shuffles":[` + strings.Join(shuffles, ",") + "]}\n"
}

func write(t testing.TB, path, text string) string {
	t.Helper()
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// A proof from a URL is trusted no more than a file.
func TestVerifyURL(t *testing.T) {
	v := readProofVectors(t, "proofs")[0]
	key := write(t, filepath.Join(t.TempDir(), "log.pub"), v.Key)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/audits/1/proof":
			_, _ = io.WriteString(w, v.Proof)
		case "/wrong":
			_, _ = io.WriteString(w, strings.Replace(v.Proof, "03:04", "03:05", 1))
		case "/long":
			_, _ = io.WriteString(w, strings.Repeat(" ", prooffile.MaxText+1))
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/audits/1/proof": {0, "Verified"},
		"/wrong":          {exitFindings, "it fails at the step inclusion"},
		"/long":           {exitUnchecked, "it is longer than 64 MiB"},
		"/nothing":        {exitUnchecked, "the server answers 404 Not Found, and no proof"},
	} {
		var out strings.Builder
		code := 0
		err := run(t.Context(), append([]string{"verify", "--key", key}, strings.Fields(server.URL+path)...), &out, io.Discard)
		if err != nil {
			code = exitCode(err)
		}
		assert.Equalf(t, want.code, code, "%s: %v\n%s", path, err, &out)
		assert.Containsf(t, out.String()+fmt.Sprint(err), want.text, "%s: %v\n%s", path, err, &out)
	}
}

// Terminals get colours.
func TestVerifyOnATerminal(t *testing.T) {
	v := readProofVectors(t, "proofs")[0]
	folder := t.TempDir()
	command := verify{Key: write(t, filepath.Join(folder, "log.pub"), v.Key), Proof: write(t, filepath.Join(folder, "p"), v.Proof)}
	var out strings.Builder
	require.NoError(t, command.Run(t.Context(), &console{out: &out, colour: true}))
	assert.Contains(t, out.String(), "\norder        \x1b[32mok\x1b[0m: ")
}

// A long replay ends with the program.
func TestVerifyIsInterrupted(t *testing.T) {
	file := write(t, filepath.Join(t.TempDir(), "p"), longProof(t))
	stop := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(time.Second, func() { cancel(stop) }) // some seconds before the replay ends
	var out strings.Builder
	err := (&verify{Proof: file}).Run(ctx, &console{out: &out})
	assert.Truef(t, errors.Is(err, stop) && exitCode(err) == exitUnchecked && out.String() == "", "%v\n%s", err, &out)
}

// longProof returns a proof whose replay takes some seconds.
func longProof(t *testing.T) string {
	t.Helper()
	s := audit.Statement{
		Algorithm: shuffle.AlgorithmFisherYates, Size: 2, Draw: 2, Repeat: 9_000_000, Input: audit.RangeInput, Seed: make(rng.Seed, rng.BlockSize),
	}
	record := audit.Record{ID: uuid.Must(uuid.NewV7()), Time: time.Unix(0, 0).UTC(), Kind: audit.KindShuffle, Statement: s, Commitment: s.Commitment()}
	file := filepath.Join(t.TempDir(), "proof.json")
	require.NoError(t, (&shuffleCmd{Proof: file}).prove(&console{messages: io.Discard}, &record, s.Seed))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	return string(text)
}
