package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Unknown ids, malformed ids and ids of another log get the same answer, so that nobody can tell
// which ids exist.
func TestUnknownIDsAreIndistinguishable(t *testing.T) {
	s, other := start(t, setup{}), start(t, setup{})
	mustShuffle(t, s, `{"size":3}`)
	own := mustShuffle(t, s, `{"size":3}`)
	foreign := mustShuffle(t, other, `{"size":3}`)
	seed := `{"seed":"` + foreign.Seed + `"}`
	for _, ask := range []func(id string) *http.Request{
		func(id string) *http.Request { return get(t, "/audits/"+id) },
		func(id string) *http.Request { return get(t, "/audits/"+id+"/proof") },
		func(id string) *http.Request { return get(t, "/audits/"+id+"/picture.png") },
		func(id string) *http.Request { return post(t, "/audits/"+id+"/reveal", seed) },
		func(id string) *http.Request { return get(t, "/commitments/"+id) },
	} {
		unknown := s.send(t, ask("01890a5d-ac96-774b-bcce-b302099a8057"))
		require.Equal(t, http.StatusNotFound, unknown.status, unknown.body)
		for _, id := range []string{
			foreign.AuditID, "1", "%20", "..", "proof", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
			strings.ReplaceAll(own.AuditID, "-", ""), "%7B" + own.AuditID + "%7D", "urn:uuid:" + own.AuditID,
			own.AuditID + "0", own.AuditID[:35], own.AuditID + "%00", own.AuditID + "%0A", "%2F" + own.AuditID, "%FF",
			strings.Repeat("a", 4000),
		} {
			request := ask(id)
			assert.Equalf(t, unknown, s.send(t, request), "%s %.100s", request.Method, request.URL.Path)
		}
	}
}
