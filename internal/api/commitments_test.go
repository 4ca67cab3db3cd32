package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"riffle/internal/ledger"
)

// The answer has the form that the commitment asks for, whatever the request that uses it says of
// it, and what was shown before is opened by its seed.
func TestCommittedShuffleHasTheCommittedForm(t *testing.T) {
	s := start(t, setup{})
	for name, v := range map[string]struct{ request, use, has string }{
		"repeat":         {`{"size":5,"repeat":3}`, ``, "shuffles"},
		"repeat hands":   {`{"deck":"piquet32","hands":"skat","repeat":2}`, ``, "shuffles"},
		"repeat said":    {`{"size":5}`, `,"repeat":1`, "shuffles"}, // as a list, which is asked for by naming it
		"repeat of one":  {`{"size":5,"repeat":1}`, ``, "items"},
		"hands":          {`{"deck":"standard52","hands":"bridge"}`, ``, "hands"},
		"hands the same": {`{"deck":"standard52","hands":"bridge"}`, `,"hands":[13,13,13,13]`, "hands"},
		"parameters":     {`{"deck":"undercover","parameters":{"players":9},"decks":2}`, `,"deck":"undercover"`, "items"},
		"items":          {`{"items":[1, {"a":2.50}]}`, `,"items":[ 1,{ "a" : 2.50 } ]`, "items"},
		"all":            {`{"size":5,"draw":2,"algorithm":"sattolo","reference":"r"}`, `,"size":5,"draw":2,"algorithm":"sattolo","reference":"r"`, "items"},
	} {
		c := mustCommit(t, s, v.request)
		shown := getCommitment(t, s, c.CommitmentID)
		if shown.Status != "open" || shown.AuditID != "" || shown.commitmentResult != c {
			t.Errorf("%s: the commitment is shown as %+v", name, shown)
		}
		got := s.send(t, useCommitment(t, c, v.use))
		var made struct {
			shuffleResult
			Commitment string
		}
		var members map[string]json.RawMessage
		if err := json.Unmarshal([]byte(got.body), &members); err != nil || json.Unmarshal([]byte(got.body), &made) != nil || got.status != http.StatusOK {
			t.Fatalf("%s: %d %s", name, got.status, got.body)
		}
		if members[v.has] == nil {
			t.Errorf("%s: there is no %s: %s", name, v.has, got.body)
		}
		opened := sha256.Sum256([]byte(shown.Statement + "seed " + made.Seed + "\n"))
		if made.Commitment != c.Commitment || hex.EncodeToString(opened[:]) != c.Commitment || made.LogIndex <= c.LogIndex {
			t.Errorf("%s: committed to %+v, and answered %s", name, shown, got.body)
		}
		if name == "items" && !strings.Contains(got.body, `{ "a" : 2.50 }`) {
			t.Errorf("items are not as the use has sent them: %s", got.body)
		}
		shown = getCommitment(t, s, c.CommitmentID)
		if shown.Status != "used" || shown.AuditID != made.AuditID || shown.commitmentResult != c {
			t.Errorf("%s: after its use the commitment is %+v", name, shown)
		}
	}
}

func TestWhatIsNotAsCommittedIsNamed(t *testing.T) {
	s := start(t, setup{})
	roles := `{"deck":"undercover","parameters":{"players":8},"decks":2,"draw":9,"hands":[3],"repeat":2,"reference":"r"}`
	for _, v := range []struct{ request, more, pointer string }{
		{roles, `,"deck":"werewolf12"`, "/deck"},
		{roles, `,"decks":3`, "/decks"},
		{roles, `,"parameters":{"players":9}`, "/parameters"},
		{roles, `,"algorithm":"durstenfeld"`, "/algorithm"},
		{roles, `,"draw":8`, "/draw"},
		{roles, `,"repeat":3`, "/repeat"},
		{roles, `,"hands":[4]`, "/hands"},
		{roles, `,"reference":"s"`, "/reference"},
		{roles, `,"items":[1]`, "/items"},
		{`{"size":7}`, `,"size":8`, "/size"},
		{`{"size":7}`, `,"deck":"standard52"`, "/deck"},
		{`{"size":7}`, `,"reference":"s"`, "/reference"},
		{`{"items":[1,2]}`, `,"items":[2,1]`, "/items"},
		{`{"items":[1,2]}`, ``, "/items"},
	} {
		c := mustCommit(t, s, v.request)
		got := s.send(t, useCommitment(t, c, v.more))
		if pointer, id := got.problem(t); got.status != http.StatusUnprocessableEntity || pointer != v.pointer || id != "" {
			t.Errorf("%s used with %s: %d %s", v.request, v.more, got.status, got.body)
		}
		if shown := getCommitment(t, s, c.CommitmentID); shown.Status != "open" {
			t.Errorf("%s used with %s is %s", v.request, v.more, shown.Status)
		}
	}
	c := mustCommit(t, s, roles)
	for _, body := range []string{`{"commitment_id":"` + c.CommitmentID + `"}`, `{"commitment_id":"` + c.CommitmentID + `","client_seed":""}`} {
		got := s.send(t, post(t, "/shuffle", body))
		if pointer, _ := got.problem(t); got.status != http.StatusUnprocessableEntity || pointer != "/client_seed" {
			t.Errorf("%s: %d %s", body, got.status, got.body)
		}
	}
}

// Of those who use a commitment at the same time one gets the shuffle, through whichever process,
// and the others are told that they came second.
func TestTwoCannotUseOneCommitment(t *testing.T) {
	s := start(t, setup{})
	servers := []*recordingServer{serve(t, s), serve(t, s.replica(t))}
	for round := range 10 {
		c := mustCommit(t, s, `{"size":52}`)
		answers := make([]response, 6)
		var asking sync.WaitGroup
		for i := range answers {
			asking.Go(func() {
				server := servers[round%2*(i%2)] // one of them, or both
				body := fmt.Sprintf(`{"commitment_id":%q,"client_seed":"%d"}`, c.CommitmentID, i)
				answer, err := server.Client().Post(server.URL+"/shuffle", "application/json", strings.NewReader(body))
				if err != nil {
					t.Error(err)
					return
				}
				answers[i] = response{answer.StatusCode, answer.Header, string(readBody(t, answer))}
			})
		}
		asking.Wait()
		won := ""
		for _, got := range answers {
			switch got.status {
			case http.StatusOK:
				var made shuffleResult
				if err := json.Unmarshal([]byte(got.body), &made); err != nil || won != "" {
					t.Errorf("two have won (%v): %s", err, got.body)
				}
				won = made.AuditID
			case http.StatusConflict:
			default:
				t.Errorf("%d %s", got.status, got.body)
			}
		}
		for _, got := range answers {
			if got.status != http.StatusConflict {
				continue
			}
			if _, id := got.problem(t); id != "" && id != won { // none while the other was at it
				t.Errorf("%s has won, and another was answered %s", won, got.body)
			}
		}
		got := s.send(t, useCommitment(t, c, ""))
		if pointer, id := got.problem(t); got.status != http.StatusConflict || pointer != "/commitment_id" || id != won || won == "" {
			t.Errorf("%s has won, and afterwards %d %s", won, got.status, got.body)
		}
		if shown := getCommitment(t, s, c.CommitmentID); shown.Status != "used" || shown.AuditID != won {
			t.Errorf("%s has won, and the commitment is %+v", won, shown)
		}
	}
}

// An id that no commitment has is answered like any other, in the body and in the path.
func TestUnknownCommitmentIDsAreRejected(t *testing.T) {
	s, other := start(t, setup{}), start(t, setup{})
	own, foreign := mustCommit(t, s, `{"size":3}`), mustCommit(t, other, `{"size":3}`)
	audit := mustShuffle(t, s, `{"size":3}`)
	size := s.logSize()
	for _, id := range []string{
		foreign.CommitmentID, audit.AuditID, "", "1", "00000000-0000-0000-0000-000000000000", strings.ToUpper(own.CommitmentID),
		strings.ReplaceAll(own.CommitmentID, "-", ""), "{" + own.CommitmentID + "}", "urn:uuid:" + own.CommitmentID, own.CommitmentID + "0",
		own.CommitmentID[:35], " " + own.CommitmentID, `\u0000`, strings.Repeat("a", 4000),
	} {
		got := s.send(t, post(t, "/shuffle", `{"size":3,"client_seed":"x","commitment_id":"`+id+`"}`))
		if pointer, _ := got.problem(t); got.status != http.StatusNotFound || pointer != "/commitment_id" {
			t.Errorf("%q: %d %s", id, got.status, got.body)
		}
	}
	for _, id := range []string{"null", "1", "[]", "{}", "true"} {
		got := s.send(t, post(t, "/shuffle", `{"size":3,"client_seed":"x","commitment_id":`+id+`}`))
		if pointer, _ := got.problem(t); got.status != http.StatusBadRequest || pointer != "/commitment_id" {
			t.Errorf("%s: %d %s", id, got.status, got.body)
		}
	}
	if s.logSize() != size {
		t.Errorf("%d records were made", s.logSize()-size)
	}
}

// A commitment can be used to the last microsecond before its deadline, and says afterwards what
// has become of it.
func TestCommitmentHasADeadline(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 123456789, time.UTC)}
	s := start(t, setup{now: c.Now})
	inTime, late := mustCommit(t, s, `{"size":3}`), mustCommit(t, s, `{"size":3}`)
	if want := time.Date(2026, 11, 21, 12, 10, 0, 123456000, time.UTC); !inTime.Deadline.Equal(want) {
		t.Errorf("the deadline is %s, not %s", inTime.Deadline, want)
	}
	c.Set(inTime.Deadline.Add(-time.Microsecond))
	if got := s.send(t, useCommitment(t, inTime, "")); got.status != http.StatusOK {
		t.Errorf("in time: %d %s", got.status, got.body)
	}
	c.Set(late.Deadline)
	refused := func(status, audit string) {
		t.Helper()
		for _, s := range []*service{s, s.replica(t)} {
			got := s.send(t, useCommitment(t, late, ""))
			pointer, id := got.problem(t)
			if got.status != http.StatusConflict || pointer != "/commitment_id" || id != audit {
				t.Errorf("%s: %d %s", status, got.status, got.body)
			}
			if shown := getCommitment(t, s, late.CommitmentID); shown.Status != status {
				t.Errorf("it is %s, not %s", shown.Status, status)
			}
		}
	}
	refused("late", "")
	s.expireCommitments(t, 1)
	shown := getCommitment(t, s, late.CommitmentID)
	if shown.AuditID == "" {
		t.Fatalf("no record says that it is void: %+v", shown)
	}
	refused("void", shown.AuditID)
	record, _ := json.Marshal(getAudit(t, s, shown.AuditID).Record)
	if !bytes.Contains(record, []byte(`"kind":"void"`)) || !bytes.Contains(record, []byte(`"commitment_id":"`+late.CommitmentID+`"`)) {
		t.Errorf("the record is %s", record)
	}
}

func TestCommitmentsArePaged(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	s := start(t, setup{now: c.Now})
	var made []string
	byStatus := map[string][]string{}
	commit := func(n int) (list []commitmentResult) {
		for range n {
			c.Set(c.Now().Add(time.Millisecond)) // ids of one millisecond have no order
			one := mustCommit(t, s, `{"size":3}`)
			made, list = append(made, one.CommitmentID), append(list, one)
		}
		return list
	}
	for _, one := range commit(3) {
		byStatus["void"] = append(byStatus["void"], one.CommitmentID)
	}
	c.Set(c.Now().Add(time.Hour))
	s.expireCommitments(t, 3)
	for i, one := range commit(7) {
		status := "late"
		if i%2 == 0 {
			status = "used"
			if got := s.send(t, useCommitment(t, one, "")); got.status != http.StatusOK {
				t.Fatal(got.body)
			}
		}
		byStatus[status] = append(byStatus[status], one.CommitmentID)
	}
	c.Set(c.Now().Add(time.Hour))
	for _, one := range commit(5) {
		byStatus["open"] = append(byStatus["open"], one.CommitmentID)
	}
	byStatus[""] = made
	for status, want := range byStatus {
		for _, limit := range []int{1, 2, 3, 5, 100} {
			var got []string
			query := fmt.Sprintf("?limit=%d", limit)
			if status != "" {
				query += "&status=" + status
			}
			for after := ""; ; {
				body := readBody(t, s.do(get(t, "/commitments"+query+after)))
				var page struct {
					Commitments []commitmentState
					Next        *string
				}
				if err := json.Unmarshal(body, &page); err != nil || page.Commitments == nil {
					t.Fatalf("%v: %s", err, body)
				}
				for _, shown := range page.Commitments {
					if is := getCommitment(t, s, shown.CommitmentID); is.Status != shown.Status || (status != "" && shown.Status != status) {
						t.Errorf("among those that are %s: %+v, which is %s", status, shown, is.Status)
					}
					got = append(got, shown.CommitmentID)
				}
				if len(got) > len(want) {
					t.Fatalf("%s in pages of %d: %v, want %v", status, limit, got, want)
				}
				if page.Next == nil {
					break
				}
				if len(page.Commitments) != limit || *page.Next != got[len(got)-1] {
					t.Fatalf("a page of %d: %s", limit, body)
				}
				after = "&after=" + *page.Next
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s in pages of %d: %v, want %v", status, limit, got, want)
			}
		}
	}
}

func TestCommitmentMetrics(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	lost := false
	s := start(t, setup{now: c.Now, store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, beforeRead: func() error {
			if lost {
				return ledger.ErrUnavailable
			}
			return nil
		}}
	}})
	expect := func(want ...string) string {
		t.Helper()
		got := s.send(t, get(t, "/metrics"))
		for _, line := range want {
			if !strings.Contains(got.body, "\n"+line+"\n") {
				t.Errorf("the metrics do not have %s", line)
			}
		}
		if got.status != http.StatusOK {
			t.Errorf("%d %s", got.status, got.body)
		}
		return got.body
	}
	expect(`riffle_commitments_total{event="made"} 0`, `riffle_commitments_total{event="late"} 0`, `riffle_commitments{status="open"} 0`, `riffle_commitments{status="late"} 0`)
	used, late := mustCommit(t, s, `{"size":3}`), mustCommit(t, s, `{"size":3}`)
	readBody(t, s.do(useCommitment(t, used, "")))
	readBody(t, s.do(useCommitment(t, used, "")))
	expect(`riffle_commitments_total{event="made"} 2`, `riffle_commitments_total{event="used"} 1`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 0`)
	c.Set(late.Deadline)
	mustCommit(t, s, `{"size":3}`)
	readBody(t, s.do(useCommitment(t, late, "")))
	expect(`riffle_commitments_total{event="late"} 1`, `riffle_commitments_total{event="void"} 0`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 1`)
	s.expireCommitments(t, 1)
	expect(`riffle_commitments_total{event="made"} 3`, `riffle_commitments_total{event="void"} 1`, `riffle_commitments{status="open"} 1`, `riffle_commitments{status="late"} 0`)
	s.waitPublished(t)
	lost = true
	if text := expect(`riffle_commitments_total{event="made"} 3`); strings.Contains(text, "riffle_commitments{") {
		t.Error("without the store the metrics know how many commitments are open")
	}
}
