package ledger

import (
	"bytes"
	"testing"

	"golang.org/x/mod/sumdb/tlog"
)

// TestRunsEnd seals more than is left of a run, whose secrets open all the same.
func TestRunsEnd(t *testing.T) {
	v, err := OpenVault(Head{}, make([]byte, SeedKeySize))
	if err != nil {
		t.Fatal(err)
	}
	var sealed []Stored
	seal := func(secret byte) {
		e := Stored{Entry: Entry{Hash: tlog.Hash{secret}}}
		e.Sidecar = v.encrypt(e.Hash, []byte{secret})
		sealed = append(sealed, e)
	}
	seal(0)
	v.current.Load().remaining.Store(1)
	for i := byte(1); i < 4; i++ {
		seal(i)
	}
	for i := range sealed {
		if secret, err := v.Secret(&sealed[i]); err != nil || !bytes.Equal(secret, []byte{byte(i)}) {
			t.Errorf("secret %d is %x, %v", i, secret, err)
		}
		if same := bytes.Equal(sealed[i].Sidecar[:saltSize], sealed[0].Sidecar[:saltSize]); same != (i < 2) {
			t.Errorf("secret %d is of the first run: %v", i, same)
		}
	}
}
