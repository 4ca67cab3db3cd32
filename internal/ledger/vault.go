package ledger

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"
)

// SeedKeySize is the length of the key that secrets are encrypted under, in bytes.
const SeedKeySize = 32

// A Vault encrypts and decrypts what is kept beside records.
//
// Every record has a key of its own: HMAC-SHA-256 of its hash under the seed key. It encrypts one text, by AES-256-GCM
// with a nonce of zeros (NIST SP 800-38D), and what it encrypts for one record opens beside no other. Nonces at random
// under one key would be used up after 2³² records, which is a day at full speed.
type Vault struct {
	macs sync.Pool     // of HMACs under the key
	name []byte        // names the key, and says nothing about it
	from atomic.Uint64 // the first entry whose secret is encrypted
}

// ParseSeedKey reads a key: 64 hex digits.
func ParseSeedKey(text string) ([]byte, error) {
	key, err := hex.DecodeString(strings.TrimSuffix(text, "\n"))
	if err != nil || len(key) != SeedKeySize {
		return nil, fmt.Errorf("the key that seeds are encrypted under is %d hex digits", 2*SeedKeySize)
	}
	return key, nil
}

// ReadSeedKey reads the key in a file. The error wraps [fs.ErrNotExist] if there is none.
func ReadSeedKey(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the key of the seeds: %w", err)
	}
	key, err := ParseSeedKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// OpenVault returns the vault of a store with this head. The error says that the key is not the store's.
func OpenVault(head Head, key []byte) (*Vault, error) {
	if len(key) != SeedKeySize {
		return nil, fmt.Errorf("a seed key of %d bytes, where %d are needed", len(key), SeedKeySize)
	}
	key = bytes.Clone(key)
	v := &Vault{macs: sync.Pool{New: func() any { return hmac.New(sha256.New, key) }}}
	v.name = v.derive([]byte("riffle seed key"))[:8]
	v.from.Store(head.Size)
	return v, v.follow(head)
}

// mark has the head name the key.
func (v *Vault) mark(h *Head) { h.SeedKey, h.SeedsFrom = v.name, v.from.Load() }

// follow takes over from a head where encryption begins. An error says that another key is in use.
func (v *Vault) follow(h Head) error {
	if len(h.SeedKey) == 0 {
		return nil
	}
	if !bytes.Equal(h.SeedKey, v.name) {
		return fmt.Errorf("the seeds of the store are encrypted under the key %x, and the key given is %x", h.SeedKey, v.name)
	}
	v.from.Store(h.SeedsFrom)
	return nil
}

// derive returns the HMAC-SHA-256 of a message under the key. The state that has taken in the key is kept for the next.
func (v *Vault) derive(message []byte) []byte {
	mac := v.macs.Get().(hash.Hash)
	mac.Reset()
	mac.Write(message)
	derived := mac.Sum(nil)
	v.macs.Put(mac)
	return derived
}

// aead returns the cipher of the record with the hash.
func (v *Vault) aead(record tlog.Hash) cipher.AEAD {
	block, err := aes.NewCipher(v.derive(record[:]))
	if err != nil {
		panic("ledger: " + err.Error()) // the key has the right length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("ledger: " + err.Error()) // AES has the right block size
	}
	return aead
}

var zeroNonce [12]byte

// seal encrypts what is to be kept beside the record with the hash.
func (v *Vault) seal(record tlog.Hash, secret []byte) []byte {
	if secret == nil {
		return nil
	}
	return v.aead(record).Seal(nil, zeroNonce[:], secret, nil) //nolint:gosec // the key is used once
}

// Secret returns what is kept beside the record of an entry, in the clear; nil if nothing is. The error is [ErrCorrupt].
func (v *Vault) Secret(e *Stored) ([]byte, error) {
	if e.Secret == nil || e.Index < v.from.Load() {
		return e.Secret, nil
	}
	secret, err := v.aead(e.Hash).Open(nil, zeroNonce[:], e.Secret, nil)
	if err != nil {
		return nil, fmt.Errorf("%w: the seed beside record %d, or what is kept with it, does not decrypt", ErrCorrupt, e.Index)
	}
	return secret, nil
}

// openVault obtains the key of the store with this head, and makes one for a store that has nothing encrypted.
func (l *Log) openVault(head Head) (*Vault, error) {
	o := &l.options
	key, where := o.SeedKey, "the one given"
	if key == nil {
		where = o.SeedKeyFile
		var err error
		key, err = ReadSeedKey(o.SeedKeyFile)
		missing := errors.Is(err, fs.ErrNotExist)
		switch {
		case missing && len(head.SeedKey) == 0:
			if key, err = makeSeedKey(o.SeedKeyFile, o.Random); err != nil {
				return nil, err
			}
		case missing:
			return nil, fmt.Errorf("the seeds of the store are encrypted, and their key is not there (%s): put it back from a backup. Without it no earlier shuffle can be checked or revealed", o.SeedKeyFile)
		case err != nil:
			return nil, err
		}
	}
	v, err := OpenVault(head, key)
	if err != nil {
		return nil, fmt.Errorf("%w (%s). Start with the key that the store was written with", err, where)
	}
	return v, nil
}

// makeSeedKey makes a key in a new file, readable by its owner alone. If somebody else has made it in the meantime, theirs
// is the key.
func makeSeedKey(path string, random io.Reader) ([]byte, error) {
	var key [SeedKeySize]byte
	if _, err := io.ReadFull(random, key[:]); err != nil {
		return nil, fmt.Errorf("reading randomness for a key: %w", err)
	}
	if err := makeKeyFile(path, hex.EncodeToString(key[:])); err != nil {
		return nil, err
	}
	return ReadSeedKey(path)
}
