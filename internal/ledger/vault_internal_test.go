package ledger

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
)

func TestSubkeyIsReplacedAfterItsLastUse(t *testing.T) {
	v, err := OpenVault(Head{}, make(SeedKey, SeedKeySize))
	require.NoError(t, err)
	var list []StoredEntry
	encrypt := func(sidecar byte) {
		e := StoredEntry{Entry: Entry{Hash: tlog.Hash{sidecar}}}
		e.Sidecar = v.encrypt(e.Hash, []byte{sidecar})
		list = append(list, e)
	}
	encrypt(0)
	v.current.Load().remaining.Store(1)
	for i := byte(1); i < 4; i++ {
		encrypt(i)
	}
	encrypted := v.encrypt(tlog.Hash{}, nil)
	assert.Nilf(t, encrypted, "no sidecar is encrypted as %x", encrypted)
	for i := range list {
		sidecar, err := v.Decrypt(&list[i])
		assert.Truef(t, err == nil && bytes.Equal(sidecar, []byte{byte(i)}), "sidecar %d is %x, %v", i, sidecar, err)
		assert.Equalf(t, (i < 2), bytes.Equal(list[i].Sidecar[:saltSize], list[0].Sidecar[:saltSize]),
			"sidecar %d has the first salt", i)
	}
}
