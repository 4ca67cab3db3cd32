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
// sidecars of both modes and of earlier versions: see decrypt.
type Vault struct {
	keys    SeedKeys               // the first one encrypts
	name    []byte                 // identifies the first key and reveals nothing about it
	from    atomic.Uint64          // index of the first entry with an encrypted sidecar
	old     []*Vault               // of further keys, which only decrypt
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

// OpenVault returns the vault of a store with this head, or an error if the store has another key. The first
// key encrypts, and all decrypt.
func OpenVault(head Head, keys SeedKeys) (*Vault, error) {
	vaults := make([]*Vault, len(keys))
	for i, key := range keys {
		if len(key) != SeedKeySize {
			return nil, fmt.Errorf("a seed key has %d bytes; this one has %d bytes", SeedKeySize, len(key))
		}
		vaults[i] = &Vault{keys: keys[i:]}
		vaults[i].name = vaults[i].derive([]byte("riffle seed key"))[:8]
	}
	v := vaults[0]
	v.old = vaults[1:]
	v.from.Store(head.Size)
	return v, v.adopt(head)
}

// identify sets SeedKey and SeedsFrom of a new head.
func (v *Vault) identify(h *Head) { h.SeedKey, h.SeedsFrom = v.name, v.from.Load() }

// adopt copies SeedsFrom from h. It fails if h names another seed key.
func (v *Vault) adopt(h Head) error {
	if len(h.SeedKey) == 0 {
		return nil
	}
	named := func(v *Vault) bool { return bytes.Equal(h.SeedKey, v.name) }
	if !named(v) && !slices.ContainsFunc(v.old, named) {
		return fmt.Errorf("the seeds of the store are encrypted under the key %x, and the key given is %x", h.SeedKey, v.name)
	}
	v.from.Store(h.SeedsFrom)
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
// was changed or belongs to another record. [ErrForgotten]: the store keeps none.
func (v *Vault) Decrypt(e *StoredEntry) ([]byte, error) {
	if e.Forgotten {
		return nil, ErrForgotten
	}
	if e.Sidecar == nil || e.Index < v.from.Load() {
		return e.Sidecar, nil
	}
	sidecar, err := v.decrypt(e)
	for i := 0; err != nil && i < len(v.old); i++ {
		sidecar, err = v.old[i].decrypt(e)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: the sidecar of record %d, which has its seed, does not decrypt", ErrCorrupt, e.Index)
	}
	return sidecar, nil
}

// decrypt decrypts a sidecar under the first key alone.
func (v *Vault) decrypt(e *StoredEntry) ([]byte, error) {
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
	// An earlier version has no salt: AES-256-GCM under HMAC-SHA-256 of the record's hash, with a zero nonce
	// and no additional data.
	var nonce [nonceSize]byte
	return open(newAEAD(v.derive(e.Hash[:])), nonce[:], e.Sidecar, nil)
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

// derive returns HMAC-SHA-256 of a message under the first seed key.
func (v *Vault) derive(message []byte) []byte {
	mac := hmac.New(sha256.New, v.keys[0])
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

// SeedKeys are the keys that sidecars may be encrypted under, the current one first.
type SeedKeys [][]byte

// ParseSeedKeys parses seed keys: 64 hex digits each, separated by white space.
func ParseSeedKeys(text string) (keys SeedKeys, err error) {
	for _, word := range strings.Fields(text) {
		key, err := hex.DecodeString(word)
		if err != nil || len(key) != SeedKeySize {
			return nil, errSeedKey
		}
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, errSeedKey
	}
	return keys, nil
}

var errSeedKey = fmt.Errorf("the key that seeds are encrypted under is %d hex digits", 2*SeedKeySize)

// String returns the text that [ParseSeedKeys] parses, a key on each line.
func (keys SeedKeys) String() string {
	var text strings.Builder
	for _, key := range keys {
		_, _ = fmt.Fprintf(&text, "%x\n", key)
	}
	return text.String()
}

// ReadSeedKeys reads the seed keys in a file. The error wraps [fs.ErrNotExist] if the file does not
// exist.
func ReadSeedKeys(path string) (SeedKeys, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading the seed key: %w", err)
	}
	keys, err := ParseSeedKeys(string(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

// makeSeedKey generates a seed key and writes it to a new file. If another process has created the
// file in the meantime, makeSeedKey returns that file's keys.
func makeSeedKey(path string) (SeedKeys, error) {
	var key [SeedKeySize]byte
	_, _ = rand.Read(key[:]) // never fails
	if err := makeKeyFile(path, hex.EncodeToString(key[:])); err != nil {
		return nil, err
	}
	return ReadSeedKeys(path)
}
