package proof_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/ledger/proof"
)

// TestPolicyOfMLDSA has a witness cosign by ML-DSA-44. The vectors in witnesses.json have
// everything else, for all verifiers.
func TestPolicyOfMLDSA(t *testing.T) {
	secret, public, err := cosignature.GenerateMLDSAKey("witness.example/w1")
	require.NoError(t, err)
	witness, err := cosignature.NewSignerForCosignatureV1(secret)
	require.NoError(t, err)
	policy, err := proof.ParsePolicy(fmt.Appendf(nil, "witness one %s\nquorum one\n", public))
	require.NoError(t, err)
	log, _ := newKey(t, "example.com/log", 1)
	signed, err := note.Sign(&note.Note{Text: proof.Checkpoint{Origin: "example.com/log", Size: 3}.Text()}, log, witness)
	require.NoError(t, err)
	unverified := proof.Unverified(signed)
	by, suffice, err := policy.Cosignatures(unverified)
	assert.NoError(t, err)
	assert.Len(t, by, 1)
	assert.True(t, suffice)
	unverified.Text = proof.Checkpoint{Origin: "example.com/log", Size: 4}.Text()
	_, _, err = policy.Cosignatures(unverified)
	assert.EqualError(t, err, "the cosignature of \"one\" is wrong")
}
