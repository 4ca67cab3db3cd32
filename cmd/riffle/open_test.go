package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
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

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/rng"
)

// What quicknet published in its rounds 995, which a vector has as a beacon, and 1000.
const signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"

// makeLocks writes the proofs of vectors with time locks, in a folder for each of these names.
func makeLocks(t *testing.T, names map[string]string) (folder string) {
	t.Helper()
	text, err := os.ReadFile("../../testdata/riffle1/timelocks.json")
	require.NoError(t, err)
	var vectors struct {
		Verdicts []struct {
			Name  string
			Texts []struct{ Name, Text string }
			Key   string
		}
		Opened []struct{ Name, Record string }
	}
	require.NoError(t, json.Unmarshal(text, &vectors))
	folder = t.TempDir()
	for _, v := range vectors.Verdicts {
		if short := names[v.Name]; short != "" {
			for _, file := range v.Texts {
				require.NoError(t, os.WriteFile(filepath.Join(folder, short+"-"+file.Name), []byte(file.Text), 0o600))
			}
			require.NoError(t, os.WriteFile(filepath.Join(folder, "key"), []byte(v.Key), 0o600))
		}
	}
	for _, v := range vectors.Opened {
		if short := names[v.Name]; short != "" {
			file := prooffile.File{Record: []byte(v.Record)}
			good, err := prooffile.Parse(mustRead(t, filepath.Join(folder, "held-commitment.json")))
			require.NoError(t, err)
			file.Inclusion, file.LogKey = good.Inclusion, good.LogKey
			require.NoError(t, os.WriteFile(filepath.Join(folder, short+".json"), file.Text(), 0o600))
		}
	}
	return folder
}

func mustRead(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return text
}

func TestOpen(t *testing.T) {
	folder := makeLocks(t, map[string]string{
		"a shuffle that used it, with its seed":           "open",
		"a shuffle that used it, whose seed is held back": "held",
		"a void commitment with a time lock":              "void",
		"a commitment with a beacon and a time lock":      "beacon",
		"a book with a time lock":                         "book",
		"another seed":                                    "other",
		"not a file of age":                               "garbage",
		"a book of too many rounds":                       "huge",
		"two equal blocks":                                "blocks",
	})
	t.Chdir(folder)
	do := func(args ...string) (string, error) {
		var out bytes.Buffer
		err := run(t.Context(), append([]string{"open"}, args...), &out, &out)
		return out.String(), err
	}

	// A proof whose seed is held back becomes the one with the seed.
	text, err := do("--signature", signature, "held-commitment.json", "held-shuffle.json")
	require.NoError(t, err)
	assert.Equal(t, string(mustRead(t, "open-shuffle.json")), text)

	// The order that a void commitment did not deal is the one that it would have.
	text, err = do("--signature", signature, "--client-seed", "spring", "void-commitment.json")
	require.NoError(t, err)
	var found struct {
		Seed     string
		Shuffles [][]int
	}
	require.NoError(t, json.Unmarshal([]byte(text), &found))
	assert.Contains(t, string(mustRead(t, "open-shuffle.json")), found.Seed)
	require.NoError(t, os.WriteFile("order.json", []byte(strings.ReplaceAll(fmt.Sprint(found.Shuffles[0]), " ", ",")), 0o600))
	require.NoError(t, run(t.Context(), []string{"verify", "--key", "key", "--order", "order.json", "open-shuffle.json", "open-commitment.json"}, new(bytes.Buffer), new(bytes.Buffer)))

	// Proofs are read in any order, one after the other, as an array and as tlog-proofs.
	whole := slices.Concat(mustRead(t, "held-shuffle.json"), mustRead(t, "held-commitment.json"))
	require.NoError(t, os.WriteFile("both.jsonl", whole, 0o600))
	require.NoError(t, os.WriteFile("both.json", []byte("["+strings.Replace(string(whole), "}\n{", "},{", 1)+"]"), 0o600))
	for _, files := range [][]string{{"held-shuffle.json", "held-commitment.json"}, {"both.jsonl"}, {"both.json"}} {
		text, err = do(append([]string{"--signature", signature}, files...)...)
		require.NoError(t, err, files)
		assert.Equal(t, string(mustRead(t, "open-shuffle.json")), text, files)
	}
	text, err = do("--signature", signature, "void-void.json", "void-commitment.json")
	require.NoError(t, err)
	assert.Contains(t, text, found.Seed)

	// Relays have the signature of the beacon as well as the lock's. Without it the seed is there,
	// and no order: no other client seed counts.
	asked := ""
	relay := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = r.URL.Path
		fmt.Fprintf(w, `{"signature":"%s"}`, signature)
	}))
	t.Cleanup(relay.Close)
	for args, want := range map[[2]string]string{
		{"--relays", relay.URL}:   "no relay has the signature of quicknet 995",
		{"--client-seed", "mine"}: "the client seed is not the signature of quicknet 995",
	} {
		text, err = do("--signature", signature, args[0], args[1], "beacon-commitment.json")
		require.NoError(t, err, args)
		assert.Contains(t, text, "riffle: warning: without the order: "+want)
		assert.Contains(t, text, `"seed":"`)
		assert.NotContains(t, text, "shuffles")
	}
	assert.Contains(t, asked, "/public/995")

	// Each round of a book has a seed of its own.
	_, err = do("--signature", signature, "book-commitment.json")
	require.EqualError(t, err, "the commitment is a book: say with --round which of its 3 rounds to open")
	first, err := do("--signature", signature, "--round", "1", "book-commitment.json")
	require.NoError(t, err)
	third, err := do("--signature", signature, "--round", "3", "book-commitment.json")
	require.NoError(t, err)
	assert.NotEqual(t, first, third)
	text, err = do("--signature", signature, "--round", "2", "--client-seed", "spring", "book-commitment.json")
	require.NoError(t, err)
	assert.Regexp(t, `^\{"commitment_id".*"client_seed":"spring","shuffles":\[\[`, text) // and no warning

	seed := strings.Replace(string(mustRead(t, "open-shuffle.json")), found.Seed[:8], "00000000", 1)
	require.NoError(t, os.WriteFile("false-shuffle.json", []byte(seed), 0o600))
	for _, v := range []struct {
		code int
		want string
		args []string
	}{
		{exitFindings, "has another seed than the one that was sealed", []string{"--signature", signature, "held-commitment.json", "false-shuffle.json"}},
		{exitUnchecked, "--client-seed is for", []string{"--signature", signature, "--client-seed", "x", "held-commitment.json", "held-shuffle.json"}},
		{exitUnchecked, "give the signature of quicknet 1000 with --signature", []string{"held-commitment.json"}},
		{exitUnchecked, "not the signature of quicknet 1000", []string{"--signature", signature[2:] + "00", "held-commitment.json"}},
		{exitUnchecked, "there is no proof of a commitment with a time lock", []string{"--signature", signature, "held-shuffle.json"}},
		{exitUnchecked, "has not used the commitment", []string{"--signature", signature, "held-shuffle.json", "book-commitment.json"}},
		{exitUnchecked, "these are two commitments", []string{"--signature", signature, "held-commitment.json", "held-shuffle.json", "book-commitment.json"}},
		{exitUnchecked, "--round is for a book", []string{"--signature", signature, "--round", "1", "held-commitment.json"}},
		{exitUnchecked, "a book of 9007199254740991 rounds is not opened", []string{"--signature", signature, "--round", "1", "huge.json"}},
		{exitUnchecked, "nothing.json: there is no such file", []string{"--signature", signature, "nothing.json"}},
		{exitUnchecked, "key: ", []string{"--signature", signature, "key"}},
		{exitUnchecked, "which of its 3 rounds", []string{"--signature", signature, "--round", "4", "book-commitment.json"}},
		{exitFindings, "the operator sealed something other than the seed", []string{"--signature", signature, "other.json"}},
		{exitFindings, "the operator sealed something other than the seed", []string{"--signature", signature, "garbage.json"}},
		{exitFindings, "the operator sealed something other than the seed", []string{"--signature", signature, "blocks.json"}},
	} {
		out, err := do(v.args...)
		require.ErrorContains(t, err, v.want, v.args)
		assert.Equal(t, v.code, exitCode(err), v.args)
		assert.Empty(t, out, v.args)
	}
}

// TestOpenWithManySeeds opens a commitment whose players' seeds are too long for a client seed: the
// text that joins them leads to the order.
func TestOpenWithManySeeds(t *testing.T) {
	players, seeds := audit.Players{}, map[string]string{}
	for _, name := range []string{"ann", "bob", "cleo", "dan"} {
		seeds[name] = strings.Repeat(name[:1], 64)
		players[name] = fmt.Sprintf("%x", sha256.Sum256([]byte(name+"\n"+seeds[name])))
	}
	_, joined, err := players.Join(seeds)
	require.NoError(t, err)
	seed := rng.Seed(bytes.Repeat([]byte("seed"), 8))
	s := audit.Statement{Algorithm: "fisher-yates", Size: 9, Draw: 9, Repeat: 1, Input: audit.RangeInput, Seed: seed}
	made := &audit.Record{Kind: audit.KindCommitment, ID: uuid.Must(uuid.NewV7()), Time: time.Now(), Players: players, Commitment: s.Commitment()}
	made.Statement, made.Deadline = s, made.Time.Add(time.Hour)
	made.Statement.Seed = nil
	for text, shuffles := range map[string]int{joined: 1, joined[1:]: 0} {
		o := &opened{ClientSeed: text}
		err := o.follow(t.Context(), made, seed)
		assert.Equal(t, shuffles == 1, err == nil, err)
		assert.Len(t, o.Shuffles, shuffles)
	}
}
