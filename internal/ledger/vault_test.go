package ledger_test

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
	"riffle/internal/ledger/sqlite"
)

// stored opens the store of a folder and returns its entries as they are kept.
func stored(t *testing.T, folder string) []ledger.Stored {
	t.Helper()
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	list, err := s.Range(t.Context(), 0, 1000)
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestSecretsRestEncrypted(t *testing.T) {
	folder := t.TempDir()
	l, err := openFolder(t.Context(), folder, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	entries := ledgertest.Entries("secret", 5)
	secret := []byte("the seed of a shuffle that nobody may read but whose it is")
	entries[2].Sidecar, entries[3].Sidecar = secret, nil
	for _, e := range entries {
		if _, err := l.Append(e); err != nil {
			t.Fatal(err)
		}
	}
	for _, e := range entries {
		got, err := l.ByID(t.Context(), e.ID)
		if err != nil {
			t.Fatal(err)
		}
		if opened, err := l.Sidecar(got); err != nil || !bytes.Equal(opened, e.Sidecar) || (opened == nil) != (e.Sidecar == nil) {
			t.Errorf("the secret %x came back as %x, %v", e.Sidecar, opened, err)
		}
	}
	closeLog(t, l)
	for _, part := range [][]byte{secret, secret[:16], []byte(hex.EncodeToString(secret[:16]))} {
		for _, name := range []string{"riffle.db", "checkpoint"} {
			if text, err := os.ReadFile(filepath.Join(folder, name)); err != nil || bytes.Contains(text, part) {
				t.Errorf("%s has %q in it (%v)", name, part, err)
			}
		}
	}
	info, err := os.Stat(filepath.Join(folder, ledger.SeedKeyName))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the key file is %v, %v, want its owner's alone", info, err)
	}
}

// gcm is AES-256-GCM under HMAC-SHA-256 of a message.
func gcm(t *testing.T, key, message []byte) cipher.AEAD {
	t.Helper()
	mac := hmac.New(sha256.New, key)
	mac.Write(message)
	block, err := aes.NewCipher(mac.Sum(nil))
	if err != nil {
		t.Fatal(err)
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		t.Fatal(err)
	}
	return aead
}

// What is kept is what any program can decrypt that has the key, as docs/ledger.md says.
func TestSecretsDecryptAsDocumented(t *testing.T) {
	folder, key := t.TempDir(), bytes.Repeat([]byte{7}, ledger.SeedKeySize)
	l, err := openFolder(t.Context(), folder, ledger.Options{SeedKey: key})
	if err != nil {
		t.Fatal(err)
	}
	entry := ledgertest.Entries("documented", 1)[0]
	entry.Sidecar = bytes.Repeat([]byte{9}, 32)
	if _, err := l.Append(entry); err != nil {
		t.Fatal(err)
	}
	closeLog(t, l)
	hash := tlog.RecordHash(entry.Record)
	kept := stored(t, folder)[0].Sidecar
	aead := gcm(t, key, append([]byte("riffle salt "), kept[:16]...))
	if got, err := aead.Open(nil, hash[:12], kept[16:], hash[:]); err != nil || !bytes.Equal(got, entry.Sidecar) {
		t.Errorf("%x decrypts to %x, %v", kept, got, err)
	}
	if _, err := os.Stat(filepath.Join(folder, ledger.SeedKeyName)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a key file was made beside the key that was given (%v)", err)
	}
}

// What was encrypted by the earlier rule, under a key for each record, still opens.
func TestOlderSecretsOpen(t *testing.T) {
	key := bytes.Repeat([]byte{7}, ledger.SeedKeySize)
	vault, err := ledger.OpenVault(ledger.Head{}, key)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range [][]byte{{}, []byte("seed"), bytes.Repeat([]byte{9}, 32), bytes.Repeat([]byte{9}, 5000)} {
		hash := tlog.RecordHash(secret)
		e := ledger.Stored{Entry: ledger.Entry{Hash: hash, Sidecar: gcm(t, key, hash[:]).Seal(nil, make([]byte, 12), secret, nil)}}
		if got, err := vault.Secret(&e); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("%x decrypts to %x, %v", e.Sidecar, got, err)
		}
		e.Hash[31] ^= 1
		if got, err := vault.Secret(&e); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("beside another record it decrypts to %x, %v", got, err)
		}
	}
}

// Secrets of several starts, each with a salt of its own, open in any order.
func TestSecretsOfSeveralRunsOpen(t *testing.T) {
	folder := t.TempDir()
	for _, name := range []string{"first", "second", "third"} {
		grow(t, folder, name, 3)
	}
	l, err := openFolder(t.Context(), folder, ledger.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer closeLog(t, l)
	last := ledgertest.Entries("last", 1)[0]
	if _, err := l.Append(last); err != nil {
		t.Fatal(err)
	}
	salts := map[string]bool{}
	for _, i := range []uint64{9, 0, 4, 8, 1, 3, 3, 9, 7, 2, 5, 6} {
		e, err := l.At(t.Context(), i)
		if err != nil {
			t.Fatal(err)
		}
		if secret, err := l.Sidecar(e); err != nil || len(secret) == 0 {
			t.Errorf("the secret of record %d: %x, %v", i, secret, err)
		}
		salts[string(e.Sidecar[:16])] = true
	}
	if len(salts) != 4 {
		t.Errorf("%d salts in four starts", len(salts))
	}
}

func TestDamagedSecretIsNotOpened(t *testing.T) {
	folder := t.TempDir()
	grow(t, folder, "damaged", 3)
	list := stored(t, folder)
	text, err := os.ReadFile(filepath.Join(folder, ledger.SeedKeyName))
	if err != nil {
		t.Fatal(err)
	}
	key, err := ledger.ParseSeedKey(string(text))
	if err != nil {
		t.Fatal(err)
	}
	vault, err := ledger.OpenVault(ledger.Head{}, key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := vault.Secret(&list[0]); err != nil {
		t.Fatal(err)
	}
	for i := range list[0].Sidecar {
		e := list[0]
		e.Sidecar = bytes.Clone(e.Sidecar)
		e.Sidecar[i] ^= 1
		if _, err := vault.Secret(&e); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("with byte %d changed: %v, want ErrCorrupt", i, err)
		}
	}
	moved := list[0]
	moved.Hash = list[1].Hash
	for name, e := range map[string]ledger.Stored{
		"beside another record": moved,
		"cut off":               {Entry: ledger.Entry{Hash: list[0].Hash, Sidecar: list[0].Sidecar[:15]}},
		"empty":                 {Entry: ledger.Entry{Hash: list[0].Hash, Sidecar: []byte{}}},
	} {
		if _, err := vault.Secret(&e); !errors.Is(err, ledger.ErrCorrupt) {
			t.Errorf("%s: %v, want ErrCorrupt", name, err)
		}
	}
}

func TestSeedKeyBelongsToTheStore(t *testing.T) {
	folder, key := t.TempDir(), []byte("0123456789abcdef0123456789abcdef")
	grow(t, folder, "mine", 2)
	file := filepath.Join(folder, ledger.SeedKeyName)
	refused(t, folder, ledger.Options{SeedKey: key}, "are encrypted under the key", "Start with the key that the store was written with")
	refused(t, folder, ledger.Options{SeedKey: key[:31]}, "31 bytes")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for what, words := range map[string]string{
		strings.Repeat("0", 64) + "\n": "are encrypted under the key",
		string(text[:63]) + "\n":       "64 hex digits",
		"":                             "64 hex digits",
		string(text) + "\n":            "64 hex digits",
	} {
		if err := os.WriteFile(file, []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
		refused(t, folder, ledger.Options{}, words)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	refused(t, folder, ledger.Options{}, "their key is not there", file, "put it back from a backup")
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a refused start made a key (%v)", err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	grow(t, folder, "again", 1)
}

// A replica with another seed key would write what the others cannot read.
func TestReplicasShareTheSeedKey(t *testing.T) {
	s := &overtaken{Store: store(t).Store}
	keyFile := filepath.Join(t.TempDir(), ledger.KeyName)
	var first *ledger.Log
	s.by = func() { first = open(t, s.Store, ledger.Options{KeyFile: keyFile}) }
	other := bytes.Repeat([]byte{1}, ledger.SeedKeySize)
	if _, err := ledger.Open(t.Context(), s, ledger.Options{Folder: t.TempDir(), KeyFile: keyFile, SeedKey: other}); err == nil || !strings.Contains(err.Error(), "are encrypted under the key") {
		t.Errorf("a second process with another seed key: %v", err)
	}
	closeLog(t, first)
}

// Entries from before secrets were encrypted are read as they are, and those that follow are encrypted.
func TestStoreFromBeforeTheSeedKeyGoesOn(t *testing.T) {
	folder := t.TempDir()
	key, err := ledger.ParseKey(ledgertest.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, ledger.KeyName), []byte(ledgertest.PrivateKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(t.Context(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	chain := ledgertest.NewChain(t)
	before := ledgertest.Entries("before", 3)
	for _, b := range []ledger.Batch{chain.Next(), chain.Next(before...)} {
		if err := s.Append(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second time it goes by what the head says
		l, err := openFolder(t.Context(), folder, ledger.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if l.Verifier() != key.Public {
			t.Fatal("it is another log")
		}
		after := ledgertest.Entries(t.TempDir(), 1)[0]
		if _, err := l.Append(after); err != nil {
			t.Fatal(err)
		}
		for _, e := range append(before, after) {
			got, err := l.ByID(t.Context(), e.ID)
			if err != nil {
				t.Fatal(err)
			}
			if secret, err := l.Sidecar(got); err != nil || !bytes.Equal(secret, e.Sidecar) {
				t.Errorf("the secret of record %d is %x, %v, want %x", got.Index, secret, err, e.Sidecar)
			}
			if encrypted := !bytes.Equal(got.Sidecar, e.Sidecar); encrypted != (got.Index >= 3) {
				t.Errorf("the secret of record %d rests as %x", got.Index, got.Sidecar)
			}
		}
		closeLog(t, l)
	}
}
