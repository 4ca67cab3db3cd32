package ledger

import (
	"bytes"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

func TestSubkeyIsReplacedAfterItsLastUse(t *testing.T) {
	v, err := OpenVault(Head{}, make([]byte, SeedKeySize))
	if err != nil {
		t.Fatal(err)
	}
	var list []Stored
	encrypt := func(sidecar byte) {
		e := Stored{Entry: Entry{Hash: tlog.Hash{sidecar}}}
		e.Sidecar = v.encrypt(e.Hash, []byte{sidecar})
		list = append(list, e)
	}
	encrypt(0)
	v.current.Load().remaining.Store(1)
	for i := byte(1); i < 4; i++ {
		encrypt(i)
	}
	if encrypted := v.encrypt(tlog.Hash{}, nil); encrypted != nil {
		t.Errorf("no sidecar is encrypted as %x", encrypted)
	}
	for i := range list {
		if sidecar, err := v.Decrypt(&list[i]); err != nil || !bytes.Equal(sidecar, []byte{byte(i)}) {
			t.Errorf("sidecar %d is %x, %v", i, sidecar, err)
		}
		if same := bytes.Equal(list[i].Sidecar[:saltSize], list[0].Sidecar[:saltSize]); same != (i < 2) {
			t.Errorf("sidecar %d has the first salt: %t", i, same)
		}
	}
}
