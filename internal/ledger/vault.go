package ledger

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"
)

// SeedKeySize is the length of the key that secrets are encrypted under, in bytes.
const SeedKeySize = 32

// A Vault encrypts and decrypts what is kept beside records, by AES-256-GCM (NIST SP 800-38D).
//
// A run of secrets has a salt at random, which stands before each, and the key HMAC-SHA-256 of that under the seed key. The
// nonce is the beginning of the record's hash, which is as good as random: a run ends after 2²⁸ secrets, when two of
// them have had the same nonce with a probability of 2⁻⁴¹. The hash is the additional data, so that what was encrypted for
// one record opens beside no other.
type Vault struct {
	key    []byte
	name   []byte              // names the key, and says nothing about it
	from   atomic.Uint64       // the first entry whose secret is encrypted
	now    atomic.Pointer[run] // what is encrypted in; nil before the first
	opened atomic.Pointer[run] // what was last decrypted from, if not that
}

// A run is of secrets that are encrypted under one key.
type run struct {
	salt [saltSize]byte
	aead cipher.AEAD
	left atomic.Int64 // how many secrets it still takes
}

const (
	saltSize  = 16
	nonceSize = 12
	longest   = 1 << 28 // a run, in secrets
)

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
	v := &Vault{key: bytes.Clone(key)}
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

// derive returns the HMAC-SHA-256 of a message under the key.
func (v *Vault) derive(message []byte) []byte {
	mac := hmac.New(sha256.New, v.key)
	mac.Write(message)
	return mac.Sum(nil)
}

// newRun returns the run with a salt.
func (v *Vault) newRun(salt [saltSize]byte) *run {
	r := &run{salt: salt, aead: newAEAD(v.derive(append([]byte("riffle salt "), salt[:]...)))}
	r.left.Store(longest)
	return r
}

func newAEAD(key []byte) cipher.AEAD {
	block, err := aes.NewCipher(key)
	if err != nil {
		panic("ledger: " + err.Error()) // the key has the right length
	}
	aead, err := cipher.NewGCM(block)
	if err != nil {
		panic("ledger: " + err.Error()) // AES has the right block size
	}
	return aead
}

// seal encrypts what is to be kept beside the record with the hash.
func (v *Vault) seal(record tlog.Hash, secret []byte) []byte {
	if secret == nil {
		return nil
	}
	r := v.now.Load()
	if r == nil || r.left.Add(-1) < 0 {
		var salt [saltSize]byte
		_, _ = rand.Read(salt[:]) // which ends the process rather than fail
		r = v.newRun(salt)
		v.now.Store(r)
	}
	sealed := append(make([]byte, 0, saltSize+len(secret)+r.aead.Overhead()), r.salt[:]...)
	return r.aead.Seal(sealed, record[:nonceSize], secret, record[:])
}

// Secret returns what is kept beside the record of an entry, in the clear; nil if nothing is. The error is [ErrCorrupt].
func (v *Vault) Secret(e *Stored) ([]byte, error) {
	if e.Sidecar == nil || e.Index < v.from.Load() {
		return e.Sidecar, nil
	}
	if len(e.Sidecar) >= saltSize {
		r := v.runOf([saltSize]byte(e.Sidecar))
		if secret, err := r.aead.Open(nil, e.Hash[:nonceSize], e.Sidecar[saltSize:], e.Hash[:]); err == nil {
			return secret, nil
		}
	}
	secret, err := v.openOlder(e)
	if err != nil {
		return nil, fmt.Errorf("%w: the seed beside record %d, or what is kept with it, does not decrypt", ErrCorrupt, e.Index)
	}
	return secret, nil
}

// runOf returns the run with a salt, which mostly is that of the last call.
func (v *Vault) runOf(salt [saltSize]byte) *run {
	for _, r := range []*run{v.now.Load(), v.opened.Load()} {
		if r != nil && r.salt == salt {
			return r
		}
	}
	r := v.newRun(salt)
	v.opened.Store(r)
	return r
}

var zeroNonce [nonceSize]byte

// openOlder opens what was encrypted before there were runs: under a key for each record, HMAC-SHA-256 of its hash.
func (v *Vault) openOlder(e *Stored) ([]byte, error) {
	return newAEAD(v.derive(e.Hash[:])).Open(nil, zeroNonce[:], e.Sidecar, nil)
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
