package api_test

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
)

// The answer has the form that was committed to, and its seed opens the commitment.
func TestCommittedShuffleHasTheCommittedForm(t *testing.T) {
	s := start(t, setup{})
	for name, v := range map[string]struct{ request, members, want string }{
		"repeat":             {`{"size":5,"repeat":3}`, ``, "shuffles"},
		"repeat and hands":   {`{"deck":"piquet32","hands":"skat","repeat":2}`, ``, "shuffles"},
		"repeat in the use":  {`{"size":5}`, `,"repeat":1`, "shuffles"}, // naming repeat asks for a list
		"repeat of one":      {`{"size":5,"repeat":1}`, ``, "items"},
		"hands":              {`{"deck":"standard52","hands":"bridge"}`, ``, "hands"},
		"hands in the use":   {`{"deck":"standard52","hands":"bridge"}`, `,"hands":[13,13,13,13]`, "hands"},
		"parameters":         {`{"deck":"undercover","parameters":{"players":9},"decks":2}`, `,"deck":"undercover"`, "items"},
		"items":              {`{"items":[1, {"a":2.50}]}`, `,"items":[ 1,{ "a" : 2.50 } ]`, "items"},
		"all members in use": {`{"size":5,"draw":2,"algorithm":"sattolo","reference":"r"}`, `,"size":5,"draw":2,"algorithm":"sattolo","reference":"r"`, "items"},
	} {
		c := mustCommit(t, s, v.request)
		before := getCommitment(t, s, c.CommitmentID)
		assert.Truef(t, before.Status == "open" && before.AuditID == "" && before.commitmentResult == c, "%s: the new commitment is %+v, want it open", name, before)
		got := s.send(t, useCommitment(t, c, v.members))
		var made struct {
			shuffleResult
			Commitment string
		}
		var members map[string]json.RawMessage
		err := errors.Join(json.Unmarshal([]byte(got.body), &members), json.Unmarshal([]byte(got.body), &made))
		require.Truef(t, err == nil && got.status == http.StatusOK, "%s: %d %s (%v)", name, got.status, got.body, err)
		assert.NotNilf(t, members[v.want], "%s: the answer has no %s: %s", name, v.want, got.body)
		hash := sha256.Sum256([]byte(before.Statement + "seed " + made.Seed + "\n"))
		assert.Truef(t, made.Commitment == c.Commitment && hex.EncodeToString(hash[:]) == c.Commitment && made.LogIndex > c.LogIndex,
			"%s: the seed does not open the commitment %+v: %s", name, before, got.body)
		assert.Truef(t, name != "items" || strings.Contains(got.body, `{ "a" : 2.50 }`), "the items are not those of the use: %s", got.body)
		after := getCommitment(t, s, c.CommitmentID)
		assert.Truef(t, after.Status == "used" && after.AuditID == made.AuditID && after.commitmentResult == c,
			"%s: the commitment is %+v, want it used by %s", name, after, made.AuditID)
	}
}

// Pages have limit commitments and name the one that the next begins after.
func TestCommitmentsArePaged(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	s := start(t, setup{now: c.Now})
	want := map[string][]string{}
	for i := range 15 {
		c.Set(c.Now().Add(time.Millisecond)) // ids of the same millisecond have no order
		made := mustCommit(t, s, `{"size":3}`)
		status := "open"
		if i%3 == 0 {
			status = "used"
			readBody(t, s.do(useCommitment(t, made, "")))
		}
		want[status] = append(want[status], made.CommitmentID)
		want[""] = append(want[""], made.CommitmentID)
	}
	for status, ids := range want {
		for _, limit := range []int{1, 2, 3, 5, 100} {
			query := fmt.Sprintf("?limit=%d", limit)
			if status != "" {
				query += "&status=" + status
			}
			var got []string
			for after := ""; len(got) <= len(ids); {
				body := readBody(t, s.do(get(t, "/commitments"+query+after)))
				var page struct {
					Commitments []commitmentState
					Next        *string
				}
				err := json.Unmarshal(body, &page)
				require.Truef(t, err == nil && page.Commitments != nil, "%v: %s", err, body)
				for _, shown := range page.Commitments {
					if shown != getCommitment(t, s, shown.CommitmentID) || status != "" && shown.Status != status {
						t.Errorf("status %q lists %+v", status, shown)
					}
					got = append(got, shown.CommitmentID)
				}
				if page.Next == nil {
					break
				}
				require.Lenf(t, page.Commitments, limit, "a page of %d: %s", limit, body)
				require.Equalf(t, got[len(got)-1], *page.Next, "a page of %d: %s", limit, body)
				after = "&after=" + *page.Next
			}
			assert.Equalf(t, ids, got, "status %q in pages of %d", status, limit)
		}
	}
}

func TestCommitmentMetrics(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	unavailable := false
	s := start(t, setup{now: c.Now, faults: &journaltest.Faults{Looking: func() error {
		if unavailable {
			return ledger.ErrUnavailable
		}
		return nil
	}}})
	s.checkMetrics(t, `riffle_commitments_total{event="made"} 0`, `riffle_commitments_total{event="late"} 0`, `riffle_commitments{status="open"} 0`, `riffle_commitments{status="late"} 0`)
	used, late := mustCommit(t, s, `{"size":3}`), mustCommit(t, s, `{"size":3}`)
	readBody(t, s.do(useCommitment(t, used, "")))
	readBody(t, s.do(useCommitment(t, used, "")))
	s.checkMetrics(t, `riffle_commitments_total{event="made"} 2`, `riffle_commitments_total{event="used"} 1`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 0`)
	c.Set(late.Deadline)
	mustCommit(t, s, `{"size":3}`)
	readBody(t, s.do(useCommitment(t, late, "")))
	s.checkMetrics(t, `riffle_commitments_total{event="late"} 1`, `riffle_commitments_total{event="void"} 0`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 1`)
	s.expireCommitments(t, 1)
	s.checkMetrics(t, `riffle_commitments_total{event="made"} 3`, `riffle_commitments_total{event="void"} 1`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 0`)
	s.waitPublished(t)
	unavailable = true
	text := s.checkMetrics(t, `riffle_commitments_total{event="made"} 3`)
	assert.NotContains(t, text, "riffle_commitments{", "the metrics count open commitments while the store is unavailable")
}
