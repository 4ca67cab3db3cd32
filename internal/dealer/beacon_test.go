package dealer

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/journal"
	"riffle/internal/ledger"
	"riffle/internal/plan"
	"riffle/internal/relay"
)

// A signature that is left out comes from a relay, once its round was published. Until then, and
// while no relay has it, nothing is used. A retry and a restart change nothing.
func TestSignatureComesFromARelay(t *testing.T) {
	const signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
	answer, asked := "{}", 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked++
		_, err := w.Write([]byte(answer))
		assert.NoError(t, err)
	}))
	defer server.Close()
	now := beacon.Round(1000).Time().Add(-time.Second)
	options := Options{Relays: relay.Relays{server.URL}}
	d, s := newDealer(t, options)
	s.Now = func() time.Time { return now }
	c, err := d.Commit(t.Context(), ask(plan.Request{Size: ptr(9), Beacon: 1000}))
	require.NoError(t, err)
	use := keyed("one", plan.Request{CommitmentID: c.ID})
	_, err = d.Shuffle(t.Context(), use)
	require.ErrorContains(t, err, "the commitment waits for quicknet 1000")
	assert.Zero(t, asked, "a relay was asked before the round")
	now = now.Add(time.Second)
	for _, wrong := range []plan.Request{{Size: ptr(8)}, {PlayerSeeds: map[string]string{"ann": "a"}}} {
		wrong.CommitmentID = c.ID
		var invalid *plan.Invalid
		_, err = d.Shuffle(t.Context(), ask(wrong))
		require.ErrorAs(t, err, &invalid, "a relay is asked for a request that is wrong with any signature")
	}
	_, err = d.Shuffle(t.Context(), use)
	require.ErrorIs(t, err, relay.ErrNone)
	answer = `{"signature":"` + signature + `"}`
	d = New(s.Journal(t), d.rules, options) // restarted
	made := mustShuffle(t, d, use)
	assert.Equal(t, made.ID, mustShuffle(t, d, use).ID)
	assert.Equal(t, 2, asked)
	d = New(s.Journal(t), d.rules, options)
	var closed *CommitmentClosedError
	_, err = d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: c.ID}))
	require.ErrorAs(t, err, &closed, "a relay is asked for a commitment that was used")
	assert.Equal(t, 2, asked)
	stored, err := d.journal.ByID(t.Context(), made.ID)
	require.NoError(t, err)
	assert.Equal(t, []any{signature, audit.KindShuffle}, []any{stored.ClientSeed, stored.Kind})
	s.Check(t, d.journal)
}

// A signature takes long to check, so that is for a request that may take long, of a commitment that
// is open: once for each round.
func TestSignatureIsCheckedAsWork(t *testing.T) {
	const signature = "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92"
	now := beacon.Round(123).Time().Add(-time.Second)
	d, s := newDealer(t, Options{})
	s.Now = func() time.Time { return now }
	ids := [3]uuid.UUID{}
	for i := range ids {
		c, err := d.Commit(t.Context(), ask(plan.Request{Size: ptr(9), Beacon: 123}))
		require.NoError(t, err)
		ids[i] = c.ID
	}
	now = beacon.Round(123).Time()
	full := errors.New("full")
	use := func(id uuid.UUID, signature string, mayWork bool) error {
		r := ask(plan.Request{CommitmentID: id, BeaconSignature: signature})
		r.Work = func(_ context.Context, steps uint64, work func()) error {
			assert.GreaterOrEqual(t, steps, uint64(checkSteps))
			if !mayWork {
				return full
			}
			work()
			return nil
		}
		_, err := d.Shuffle(t.Context(), r)
		return err
	}
	wrong := "a" + signature[1:]
	require.ErrorIs(t, use(ids[0], wrong, false), full)
	var invalid *plan.Invalid
	require.ErrorAs(t, use(ids[0], wrong, true), &invalid)
	assert.Equal(t, "/beacon_signature", invalid.Pointer)
	_, err := d.Shuffle(t.Context(), ask(plan.Request{CommitmentID: ids[0]}))
	require.ErrorContains(t, err, "beacon_signature is required")
	require.NoError(t, d.void(t.Context(), &ledger.Claim{Name: journal.CommitmentClaim(ids[0])}))
	var closed *CommitmentClosedError
	require.ErrorAs(t, use(ids[0], wrong, false), &closed)
	require.NoError(t, use(ids[1], signature, true))
	require.NoError(t, use(ids[2], signature, false), "it is known")
	s.Check(t, d.journal)
}
