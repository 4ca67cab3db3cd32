package api_test

import (
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/timelock"
)

// startBeforeLock starts a service whose clock is 13 seconds before round 1000: a commitment for
// three seconds can open at it, and no later one.
func startBeforeLock(t *testing.T) *service {
	t.Helper()
	c := &clock{now: beacon.Round(1000).Time().Add(-13 * time.Second)}
	return start(t, setup{now: c.Now})
}

// What a commitment with a time lock seals is the seed of what uses it; of a book, of each round.
func TestTimeLock(t *testing.T) {
	s := startBeforeLock(t)
	for _, request := range []string{
		`{"size":9,"expires_in":3,"opens_at_round":1000}`,
		`{"deck":"standard52","decks":8,"expires_in":3,"opens_at_round":1000,"beacon":{"chain":"quicknet","round":996}}`,
		`{"size":9,"count":3,"expires_in":3,"opens_at_round":1000}`,
	} {
		made := mustCommit(t, s, request)
		got := s.send(t, get(t, "/commitments/"+made.CommitmentID))
		assert.Contains(t, got.body, `"opens_at":{"chain":"quicknet","round":1000,"time":"2023-08-23T15:59:24Z"}`, request)
		record, err := audit.ParseRecord(getAudit(t, s, made.CommitmentID).Record)
		require.NoError(t, err)
		assert.Equal(t, "quicknet 1000", record.OpensAt)
		sealed, err := base64.StdEncoding.DecodeString(record.SealedSeed)
		require.NoError(t, err)
		seed, err := timelock.Open(1000, signature, sealed)
		require.NoError(t, err)
		require.NoError(t, record.CheckSeed(seed), request)
		if record.Beacon != "" {
			continue // whose round is not published here
		}
		for round := range max(record.Count, 1) {
			dealt := s.send(t, post(t, "/shuffle", `{"commitment_id":"`+made.CommitmentID+`","client_seed":"seven","reveal":"now"}`))
			require.Equal(t, http.StatusOK, dealt.status, dealt.body)
			want := seed
			if record.Count > 0 {
				want = audit.RoundSeed(seed, round+1)
			}
			assert.Contains(t, dealt.body, `"seed":"`+hex.EncodeToString(want)+`"`)
		}
	}
}

// A round before the deadline would show the seed of a commitment that can be used, and one that is
// far away is a mistake.
func TestTimeLockOpensAfterTheDeadline(t *testing.T) {
	s := startBeforeLock(t)
	last := beacon.From(time.Date(2033, 8, 23, 15, 59, 15, 0, time.UTC)) // too late by a second or more
	for round, detail := range map[string]string{
		"999":                    "opens_at_round must be published from 10s to 10 years after the deadline, which is at 2023-08-23T15:59:14Z: quicknet 999 is at 2023-08-23T15:59:21Z.",
		"1":                      "quicknet 1 is at 2023-08-23T15:09:27Z.",
		"0":                      "quicknet 0 is at 2023-08-23T15:09:24Z.",
		"01":                     "",
		fmt.Sprint(uint64(last)): last.String(),
		"9007199254740991":       "from 10s to 10 years after the deadline",
		"6148914691236518205":    "from 10s to 10 years after the deadline",
		"18446744073709551616":   "opens_at_round",
		"1000.5":                 "opens_at_round",
		`"1000"`:                 "opens_at_round must be an integer",
		"-1":                     "opens_at_round",
		"null":                   "opens_at_round",
	} {
		got := s.send(t, post(t, "/commitments", `{"size":9,"expires_in":3,"opens_at_round":`+round+`}`))
		assert.Contains(t, []int{http.StatusBadRequest, http.StatusUnprocessableEntity}, got.status, "%s: %s", round, got.body)
		assert.Contains(t, got.body, detail, round)
		assert.Equal(t, round != "01", strings.Contains(got.body, `"pointer":"/opens_at_round"`), got.body) // which is not JSON
	}
	mustCommit(t, s, fmt.Sprintf(`{"size":9,"expires_in":3,"opens_at_round":%d}`, last-1))
	for path, body := range map[string]string{"/shuffle": `{"size":9,"opens_at_round":1000}`, "/shoes": `{"size":9,"opens_at_round":1000}`} {
		got := s.send(t, post(t, path, body))
		assert.Equal(t, http.StatusBadRequest, got.status, got.body)
	}
}
