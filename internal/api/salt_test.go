package api_test

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

const itemsSalt = "c0ffee00112233445566778899aabbcc"

// inputInRecord returns the input and the items_digest in the record with the audit id.
func inputInRecord(t *testing.T, s *service, auditID string) (input, rule string) {
	t.Helper()
	shown := ask[struct {
		Record struct {
			Input string `json:"input"`
			Rule  string `json:"items_digest"`
		} `json:"record"`
	}](t, s, get(t, "/audits/"+auditID))
	return shown.Record.Input, shown.Record.Rule
}

// TestSaltHidesItems salts every kind of request with items: the record has the digest that the
// specification gives, and without a salt the one that it always had.
func TestSaltHidesItems(t *testing.T) {
	s := start(t, setup{})
	plain := fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(`["4711","0815"]`)))
	salted := fmt.Sprintf("items sha256:%x", sha256.Sum256([]byte("riffle/1 items\nsalt "+itemsSalt+"\n"+plain+"\n")))
	creators := map[string]func(body string) string{
		"/shuffle":     func(body string) string { return mustShuffle(t, s, body).AuditID },
		"/commitments": func(body string) string { return mustCommit(t, s, body).CommitmentID },
		"/shoes":       func(body string) string { return mustCreateShoe(t, s, body).AuditID },
	}
	for path, create := range creators {
		for body, want := range map[string][2]string{
			`{"items":[ "4711", "0815" ]}`:                                         {"items " + plain, ""},
			`{"items":[ "4711", "0815" ],"items_salt":"` + itemsSalt + `"}`:        {salted, "salted/1"},
			`{"items_salt":"` + itemsSalt + `","items":["4711","0815"]}`:           {salted, "salted/1"},
			`{"items_salt":"\u0063` + itemsSalt[1:] + `","items":["4711","0815"]}`: {salted, "salted/1"},
		} {
			input, rule := inputInRecord(t, s, create(body))
			assert.Truef(t, input == want[0] && rule == want[1], "POST %s %s: the record has the input %s and the rule %q, want %q", path, body, input, rule, want)
		}
	}
}

// TestSaltOfACommitmentIsNeededAgain uses a commitment to salted items: with the same salt alone.
func TestSaltOfACommitmentIsNeededAgain(t *testing.T) {
	s := start(t, setup{})
	for path, use := range map[string]string{"/shuffle": "audit_id", "/shoes": "shoe_id"} {
		id := mustCommit(t, s, `{"items":[1,2,3],"items_salt":"`+itemsSalt+`"}`).CommitmentID
		body := func(items string) string {
			return `{"commitment_id":"` + id + `","client_seed":"x","items":` + items + `}`
		}
		for _, wrong := range []string{`[1,2,3]`, `[1,2,3],"items_salt":"` + strings.ToUpper(itemsSalt) + `"`, `[1,3,2],"items_salt":"` + itemsSalt + `"`} {
			answer := s.send(t, post(t, path, body(wrong)))
			assert.Equalf(t, http.StatusUnprocessableEntity, answer.status, "POST %s with %s: %s", path, wrong, answer.body)
		}
		answer := s.send(t, post(t, path, body(`[1,2,3],"items_salt":"`+itemsSalt+`"`)))
		assert.Truef(t, answer.status == http.StatusOK && strings.Contains(answer.body, use), "POST %s with items and salt: %d %s", path, answer.status, answer.body)
	}
	plain := mustCommit(t, s, `{"items":[1,2,3]}`).CommitmentID
	answer := s.send(t, post(t, "/shuffle", `{"commitment_id":"`+plain+`","client_seed":"x","items":[1,2,3],"items_salt":"`+itemsSalt+`"}`))
	assert.Truef(t, answer.status == http.StatusUnprocessableEntity && strings.Contains(answer.body, "/items_salt"), "a salt for a commitment without: %d %s", answer.status, answer.body)
}
