package api_test

import (
	"net/http"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"riffle/internal/audit/prooffile"
	"riffle/internal/beacon"
)

// signature is what quicknet published in its round 1000.
const signature = "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39"

// startBefore starts a service whose clock is ten seconds before round 1000.
func startBefore(t testing.TB) (*service, *clock) {
	t.Helper()
	c := &clock{now: beacon.Round(1000).Time().Add(-10 * time.Second)}
	return start(t, setup{now: c.Now}), c
}

// The client seed of a commitment with a beacon is the signature of its round and nothing else, for
// a shuffle, a shoe and each round of a book.
func TestBeaconIsTheClientSeed(t *testing.T) {
	s, c := startBefore(t)
	for name, v := range map[string]struct{ commitment, path, members string }{
		"a shuffle, by its round": {`{"size":9,"beacon":{"chain":"quicknet","round":1000}}`, "/shuffle", ``},
		"a shuffle, by its time":  {`{"size":9,"beacon":{"after":"9.5s","chain":"quicknet"}}`, "/shuffle", `,"reveal":"now"`},
		"a shoe":                  {`{"size":9,"beacon":{"chain":"quicknet","after":"8s"}}`, "/shoes", ``},
		"a round of a book":       {`{"size":9,"count":2,"beacon":{"chain":"quicknet","round":1000}}`, "/shuffle", ``},
	} {
		c.Set(beacon.Round(1000).Time().Add(-10 * time.Second))
		made := mustCommit(t, s, v.commitment)
		use := func(members string) response {
			return s.send(t, post(t, v.path, `{"commitment_id":"`+made.CommitmentID+`"`+members+v.members+`}`))
		}
		got := s.send(t, get(t, "/commitments/"+made.CommitmentID))
		assert.Contains(t, got.body, `"beacon":{"chain":"quicknet","round":1000,"time":"2023-08-23T15:59:24Z"}`, name)
		early := use(`,"beacon_signature":"` + signature + `"`)
		assert.Contains(t, early.body, "The commitment waits for quicknet 1000, which is published at 2023-08-23T15:59:24Z.", name)
		c.Set(beacon.Round(1000).Time())
		for members, detail := range map[string]string{
			``: "beacon_signature is required: the commitment waits for the signature of quicknet 1000.",
			`,"client_seed":"seven","beacon_signature":"` + signature + `"`: "client_seed must be omitted: it is the signature of quicknet 1000, so that nobody chooses it.",
			`,"client_seed":"` + signature + `"`:                            "client_seed must be omitted: it is the signature of quicknet 1000, so that nobody chooses it.",
			`,"beacon_signature":"00` + signature[2:] + `"`:                 "beacon_signature is not the signature of quicknet 1000",
		} {
			refused := use(members)
			assert.Equal(t, http.StatusUnprocessableEntity, refused.status, "%s: %s", name, refused.body)
			assert.Contains(t, refused.body, detail, name)
		}
		dealt := use(`,"beacon_signature":"` + signature + `"`)
		assert.Equal(t, http.StatusOK, dealt.status, "%s: %s", name, dealt.body)
		id := regexp.MustCompile(`"audit_id":"([^"]+)"`).FindStringSubmatch(dealt.body)[1]
		record := getAudit(t, s, id)
		assert.Contains(t, string(record.Record), `"client_seed":"`+signature+`","`, name)
		proof := readBody(t, s.do(get(t, "/audits/"+id+"/proof")))
		v := prooffile.Verify(proof, &prooffile.Inputs{})
		assert.True(t, v.Steps.Has(prooffile.StepCommitted, prooffile.OK), "%s: %+v", name, v.Steps)
	}
}
