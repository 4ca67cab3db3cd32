package relay_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/beacon"
	"riffle/internal/relay"
)

// What quicknet published in its rounds 1000 and 1001.
const (
	signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"
	next      = "b33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41"
)

// start starts a relay.
func start(t *testing.T, answer http.HandlerFunc) string {
	t.Helper()
	s := httptest.NewServer(answer)
	t.Cleanup(s.Close)
	return s.URL
}

func check(round beacon.Round) func(context.Context, string) error {
	return func(_ context.Context, signature string) error { return round.Check(signature) }
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

// honest answers as a relay of drand does.
func honest(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != "/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971/public/1000" {
		http.NotFound(w, r)
		return
	}
	fmt.Fprintf(w, `{"round":1000,"randomness":"fe290beca10872ef2fb164d2aa4442de4566183ec51c56ff3cd603d930e54fdd","signature":"%s"}`, signature)
}

func TestSignature(t *testing.T) {
	liars := map[string]http.HandlerFunc{
		"lies":              says(`{"round":1000,"signature":"` + next + `"}`),
		"answers HTML":      says("<html>sign in to this network</html>"),
		"has not the round": http.NotFound,
		"never ends":        says(`{"x":"` + strings.Repeat("x", 1<<20)),
		"hangs":             func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"closes":            func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
		"answers nothing":   says("{}"),
	}
	var all relay.Relays
	for name, liar := range liars {
		url := strings.Replace(start(t, liar), "//", "//me:secret@", 1)
		all = append(all, url)
		_, err := relay.Relays{url}.Signature(t.Context(), 1000, check(1000))
		require.ErrorIs(t, err, relay.ErrNone, name)
		assert.NotContains(t, err.Error(), "secret", name)
	}
	got, err := append(all, start(t, honest)).Signature(t.Context(), 1000, check(1000))
	require.NoError(t, err)
	assert.Equal(t, signature, got)
	got, err = all.Signature(t.Context(), 1000, check(1000))
	assert.True(t, err == nil && got == signature, "a signature that is known: %q, %v", got, err)
	_, err = relay.Relays{start(t, honest)}.Signature(t.Context(), 1001, check(1001))
	require.ErrorIs(t, err, relay.ErrNone)
	got, err = relay.Relays{}.Signature(t.Context(), 1001, check(1001))
	assert.ErrorIs(t, err, relay.ErrNone, "without relays: %q", got)
}

func TestRelaysAreURLs(t *testing.T) {
	var r relay.Relays
	require.NoError(t, r.UnmarshalText([]byte("https://api.drand.sh/, http://localhost:9000/relay")))
	assert.Equal(t, relay.Relays{"https://api.drand.sh", "http://localhost:9000/relay"}, r)
	for _, text := range []string{"api.drand.sh", "ftp://api.drand.sh", "https://", "https://a.example?x=1", "https://a.example?", "https://a.example#x", "https://a.example,b"} {
		assert.ErrorContains(t, r.UnmarshalText([]byte(text)), "is not the URL of a relay", text)
	}
}
