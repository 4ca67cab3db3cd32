package ledger_test

import (
	"bytes"
	"crypto/fips140"
	"encoding/hex"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

func TestStoredFormsDecrypt(t *testing.T) {
	vault, err := ledger.OpenVault(ledger.Head{}, bytes.Repeat([]byte{7}, ledger.SeedKeySize))
	require.NoError(t, err)
	for name, text := range map[string]string{
		"with a nonce of the record": "a752d2e9a1b07cb892b64dbde5e6c5b22d83b68ce3b1c056eb5eb7cabb16e1b5722c5592fd87c1d7fe6fa29ce6676d",
		"with a nonce of its own":    "a752d2e9a1b07cb892b64dbde5e6c5b23b62a529c078aa736c7428954cd6451fbd36b7537f3587ddc054c7fb9f2378a654117dd8768a4313bd49bf",
	} {
		sidecar, err := hex.DecodeString(text)
		require.NoError(t, err)
		e := ledger.StoredEntry{Entry: ledger.Entry{Hash: tlog.RecordHash([]byte("a record")), Sidecar: sidecar}}
		got, err := vault.Decrypt(&e)
		assert.Truef(t, err == nil && string(got) == "a seed and more", "%s: %s decrypts to %q, %v", name, text, got, err)
		e.Hash[31] ^= 1
		got, err = vault.Decrypt(&e)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%s: beside another record it decrypts to %q", name, got)
	}
	for _, short := range [][]byte{{}, make([]byte, 15), make([]byte, 16), make([]byte, 28)} {
		e := ledger.StoredEntry{Entry: ledger.Entry{Hash: tlog.RecordHash([]byte("a record")), Sidecar: short}}
		got, err := vault.Decrypt(&e)
		assert.ErrorIsf(t, err, ledger.ErrCorrupt, "%d bytes decrypt to %q", len(short), got)
	}
}

// TestSidecarsInFIPSMode runs the sidecar tests again in FIPS mode, which a process cannot change.
func TestSidecarsInFIPSMode(t *testing.T) {
	if fips140.Enabled() {
		t.Skip("this is FIPS 140-3 mode")
	}
	for _, mode := range []string{"on", "only"} {
		command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=Sidecar|Subkey|StoredForms|SeedKey")
		command.Env = append(os.Environ(), "GODEBUG=fips140="+mode)
		out, err := command.CombinedOutput()
		assert.NoErrorf(t, err, "fips140=%s: %v\n%s", mode, err, out)
	}
}

// Each start draws a new salt.
func TestSidecarsOfSeveralStartsDecrypt(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"first", "second", "third"} {
		grow(t, folder, name, 3)
	}
	l := openFolder(t, folder)
	last := ledgertest.Entries("last", 1)[0]
	appendEntry(t, l, last)
	salts := map[string]bool{}
	for _, i := range []uint64{9, 0, 4, 8, 1, 3, 3, 9, 7, 2, 5, 6} {
		e, err := l.At(t.Context(), i)
		require.NoError(t, err)
		sidecar, err := l.Sidecar(e)
		assert.Truef(t, err == nil && len(sidecar) > 0, "the sidecar of record %d: %x, %v", i, sidecar, err)
		salts[string(e.Sidecar[:16])] = true
		overhead := 16 + 16 // the salt, and the tag of AES-GCM
		if fips140.Enabled() {
			overhead += 12 // the nonce
		}
		plain, _ := l.Sidecar(e)
		assert.Lenf(t, e.Sidecar, len(plain)+overhead,
			"the sidecar of record %d has %d bytes, want %d and %d", i, len(e.Sidecar), len(plain), overhead)
	}
	assert.Len(t, salts, 4)
}

func TestOpenRejectsAnotherSeedKey(t *testing.T) {
	folder, key := t.TempDir(), []byte("0123456789abcdef0123456789abcdef")
	grow(t, folder, "mine", 2)
	file := filepath.Join(folder, ledger.SeedKeyName)
	wantOpenError(t, folder, ledger.Options{SeedKey: key[:31]}, "31 bytes")
	text := readFile(t, file)
	for content, text := range map[string]string{
		strings.Repeat("0", 64) + "\n": "are encrypted under the key",
		string(text[:63]) + "\n":       "64 hex digits",
		"":                             "64 hex digits",
		string(text) + "0":             "64 hex digits",
	} {
		writeFile(t, file, []byte(content))
		wantOpenError(t, folder, ledger.Options{}, text)
	}
	must(t, os.Remove(file))
	wantOpenError(t, folder, ledger.Options{SeedKey: key}, "are encrypted under the key", "Start with the key that the store was written with")
	wantOpenError(t, folder, ledger.Options{}, "their key is not there", file, "put it back from a backup")
	_, err := os.Stat(file)
	assert.ErrorIs(t, err, os.ErrNotExist, "a rejected start made a key")
	writeFile(t, file, text)
	grow(t, folder, "again", 1)
}

// A replica with another seed key would write sidecars that the others cannot decrypt.
func TestReplicasShareTheSeedKey(t *testing.T) {
	s := &faultyStore{Store: newStore(t).Store, shared: true}
	keyFile := filepath.Join(t.TempDir(), ledger.KeyName)
	s.race = func() { open(t, s.Store, ledger.Options{KeyFile: keyFile}) }
	other := bytes.Repeat([]byte{1}, ledger.SeedKeySize)
	_, err := ledger.Open(t.Context(), s, ledger.Options{Folder: t.TempDir(), KeyFile: keyFile, SeedKey: other})
	assert.Truef(t, err != nil && strings.Contains(err.Error(), "are encrypted under the key"), "a second process with another seed key: %v", err)
}
