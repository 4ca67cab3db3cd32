package ledger

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/fips140"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"golang.org/x/mod/sumdb/tlog"
)

// SeedKeySize is the length in bytes of the key that encrypts sidecars.
const SeedKeySize = 32

// A Vault encrypts and decrypts sidecars. An encrypted sidecar is a salt of 16 bytes, followed by
// the output of AES-256-GCM (NIST SP 800-38D) with
//
//   - key: HMAC-SHA-256 of "riffle salt " and the salt, under the seed key,
//   - nonce: the first 12 bytes of the record's hash,
//   - additional data: the whole hash, so that only this record's sidecar decrypts.
//
// A salt is random and encrypts at most 2²⁸ sidecars. Record hashes are pseudorandom, so the
// probability of a repeated nonce under one salt is at most 2⁻⁴¹.
//
// In FIPS 140-3 mode (GODEBUG=fips140=on or only) the module's random generator draws the nonce, as
// SP 800-38D, 8.2.2 demands, and it is stored between salt and output. Each mode decrypts the
// sidecars of both modes.
type Vault struct {
	key     SeedKey
	name    []byte                 // identifies the key and reveals nothing about it
	current atomic.Pointer[subkey] // encrypts; nil before the first sidecar
	cached  atomic.Pointer[subkey] // the last other subkey that decrypted; may be nil
}

// A subkey is the key that belongs to one salt.
type subkey struct {
	salt      [saltSize]byte
	aead      cipher.AEAD
	remaining atomic.Int64 // number of sidecars it may still encrypt
}

const (
	saltSize  = 16
	nonceSize = 12
	maxUses   = 1 << 28 // of a subkey
)

// OpenVault returns the vault of a store with this head, or an error if the store has another key.
func OpenVault(head Head, key SeedKey) (*Vault, error) {
	if len(key) != SeedKeySize {
		return nil, fmt.Errorf("a seed key has %d bytes; this one has %d bytes", SeedKeySize, len(key))
	}
	v := &Vault{key: key}
	v.name = v.derive([]byte("riffle seed key"))[:8]
	return v, v.check(head)
}

// check returns an error if a head names another seed key.
func (v *Vault) check(h Head) error {
	if len(h.SeedKey) > 0 && !bytes.Equal(h.SeedKey, v.name) {
		return fmt.Errorf("the seeds of the store are encrypted under the key %x, and the key given is %x", h.SeedKey, v.name)
	}
	return nil
}

// encrypt returns the encrypted sidecar of the record with the hash; nil for nil.
func (v *Vault) encrypt(record tlog.Hash, sidecar []byte) []byte {
	if sidecar == nil {
		return nil
	}
	k := v.current.Load()
	if k == nil || k.remaining.Add(-1) < 0 {
		var salt [saltSize]byte
		_, _ = rand.Read(salt[:]) // never fails
		k = v.subkey(salt)
		v.current.Store(k)
	}
	out := append(make([]byte, 0, saltSize+len(sidecar)+k.aead.Overhead()), k.salt[:]...)
	return k.aead.Seal(out, record[:k.aead.NonceSize()], sidecar, record[:])
}

// Decrypt returns the entry's decrypted sidecar, or nil if it has none. [ErrCorrupt]: the sidecar
// was changed or belongs to another record.
func (v *Vault) Decrypt(e *StoredEntry) ([]byte, error) {
	if e.Sidecar == nil {
		return nil, nil
	}
	if len(e.Sidecar) >= saltSize {
		k, sealed := v.cachedSubkey([saltSize]byte(e.Sidecar)), e.Sidecar[saltSize:]
		if sidecar, err := open(k.aead, e.Hash[:nonceSize], sealed, e.Hash[:]); err == nil {
			return sidecar, nil
		}
		if len(sealed) >= nonceSize { // from FIPS 140-3 mode
			if sidecar, err := open(k.aead, sealed[:nonceSize], sealed[nonceSize:], e.Hash[:]); err == nil {
				return sidecar, nil
			}
		}
	}
	return nil, fmt.Errorf("%w: the sidecar of record %d, which has its seed, does not decrypt", ErrCorrupt, e.Index)
}

// cachedSubkey returns the salt's subkey, which is mostly the one used last.
func (v *Vault) cachedSubkey(salt [saltSize]byte) *subkey {
	for _, k := range []*subkey{v.current.Load(), v.cached.Load()} {
		if k != nil && k.salt == salt {
			return k
		}
	}
	k := v.subkey(salt)
	v.cached.Store(k)
	return k
}

func (v *Vault) subkey(salt [saltSize]byte) *subkey {
	k := &subkey{salt: salt, aead: newAEAD(v.derive(append([]byte("riffle salt "), salt[:]...)))}
	k.remaining.Store(maxUses)
	return k
}

// derive returns HMAC-SHA-256 of a message under the seed key.
func (v *Vault) derive(message []byte) []byte {
	mac := hmac.New(sha256.New, v.key)
	mac.Write(message)
	return mac.Sum(nil)
}

// newAEAD returns AES-256-GCM. In FIPS 140-3 mode it draws its own nonces, and its NonceSize is 0.
func newAEAD(key []byte) cipher.AEAD {
	block, _ := aes.NewCipher(key) // fails only for keys of other lengths than derive returns
	newGCM := cipher.NewGCM
	if fips140.Enabled() {
		newGCM = cipher.NewGCMWithRandomNonce
	}
	aead, _ := newGCM(block) // fails only for other ciphers
	return aead
}

// open decrypts a ciphertext with its nonce, in either mode.
func open(aead cipher.AEAD, nonce, sealed, hash []byte) ([]byte, error) {
	if aead.NonceSize() == 0 {
		nonce, sealed = nil, slices.Concat(nonce, sealed)
	}
	return aead.Open(nil, nonce, sealed, hash)
}

// A SeedKey encrypts the sidecars of one log.
type SeedKey []byte

// ParseSeedKey parses a seed key, 64 hex digits.
func ParseSeedKey(text string) (SeedKey, error) {
	key, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(key) != SeedKeySize {
		return nil, fmt.Errorf("the key that seeds are encrypted under is %d hex digits", 2*SeedKeySize)
	}
	return key, nil
}

// ReadSeedKey reads the seed key in a file. The error wraps [fs.ErrNotExist] if the file does not
// exist.
func ReadSeedKey(path string) (SeedKey, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the seed key: %w", err)
	}
	key, err := ParseSeedKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return key, nil
}

// makeSeedKey generates a seed key and writes it to a new file. If another process has created the
// file in the meantime, makeSeedKey returns that file's key.
func makeSeedKey(path string) (SeedKey, error) {
	var key [SeedKeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	if err := makeKeyFile(path, hex.EncodeToString(key[:])); err != nil {
		return nil, err
	}
	return ReadSeedKey(path)
}
