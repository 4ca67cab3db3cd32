package api_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger/proof"
)

// A proofFile is the answer to GET /audits/{id}/proof.
type proofFile struct {
	Spec       string
	Record     string
	Seed       *string
	ClientSeed *string `json:"client_seed"`
	TlogProof  string  `json:"tlog_proof"`
	LogKey     string  `json:"log_key"`
}

// fetchProof fetches the proof of a record, which must have no unknown members.
func fetchProof(t *testing.T, s *service, id string) (file proofFile) {
	t.Helper()
	answer := s.do(get(t, "/audits/"+id+"/proof"))
	body := readBody(t, answer)
	require.Truef(t, answer.StatusCode == http.StatusOK && answer.Header.Get("Cache-Control") == "no-store", "%d %v %s", answer.StatusCode, answer.Header, body)
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	err := d.Decode(&file)
	require.Truef(t, err == nil && file.Spec == "riffle/1" && file.ClientSeed != nil, "%v: %s", err, body)
	answer = s.do(get(t, "/audits/"+id+"/proof?format=tlog-proof"))
	same, err := prooffile.Parse(prooffile.Split(readBody(t, answer))[0])
	require.Truef(t, err == nil && string(same.Record) == file.Record && answer.Header.Get("Cache-Control") == "no-store", "%v %v", answer, err)
	return file
}

// check verifies the proof offline, and returns the index of the record in the log.
func (f proofFile) check() (index uint64, err error) {
	inclusion, err := proof.ParseInclusion(f.TlogProof)
	if err != nil {
		return 0, err
	}
	verifier, err := note.NewVerifier(f.LogKey)
	if err != nil {
		return 0, err
	}
	_, err = inclusion.Check([]byte(f.Record), verifier)
	return inclusion.Index, err
}

// A proof verifies without the service, and proves one record at one index of one log.
func TestProofsVerifyOffline(t *testing.T) {
	s := start(t, setup{})
	s.mustShuffleMany(t, 300) // so that proofs have hashes of two levels of tiles
	key := readBody(t, s.do(get(t, "/log/key")))
	prove := func(made shuffleResult) (proofFile, *audit.Record) {
		t.Helper()
		file := fetchProof(t, s, made.AuditID)
		record, err := audit.ParseRecord([]byte(file.Record))
		require.NoError(t, err)
		index, err := file.check()
		assert.Truef(t, err == nil && index == made.LogIndex && record.ID.String() == made.AuditID && file.LogKey+"\n" == string(key),
			"record %d is proven at %d with the key %s, the log's is %s: %v: %s", made.LogIndex, index, file.LogKey, key, err, file.Record)
		assert.Equal(t, record.ClientSeed, *file.ClientSeed, "the client seed")
		if shown := getAudit(t, s, made.AuditID); string(shown.Record) != file.Record || !reflect.DeepEqual(shown.Seed, file.Seed) {
			t.Errorf("the proof has\n%s (%v)\nand the audit\n%s (%v)", file.Record, file.Seed, shown.Record, shown.Seed)
		}
		return file, record
	}
	checkReplay := func(file proofFile, made shuffleResult) {
		t.Helper()
		require.Truef(t, file.Seed != nil && *file.Seed == made.Seed, "the seed is %v, want %s", file.Seed, made.Seed)
		seed, err := hex.DecodeString(*file.Seed)
		require.NoError(t, err)
		v := audit.Verify([]byte(file.Record), seed, 0)
		assert.Truef(t, v.OK, "the record does not replay: %+v", v.Steps)
	}

	made := mustShuffle(t, s, `{"deck":"standard52","client_seed":"Nora & Erik ♥ <\u2028>","reference":"table 7"}`)
	unrevealed, _ := prove(made)
	require.Nil(t, unrevealed.Seed, "the seed is shown before it is revealed")
	answer := s.send(t, post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`))
	require.Equal(t, http.StatusOK, answer.status, answer.body)
	s.waitPublished(t) // so that the checkpoint of the proof covers the reveal
	revealed, _ := prove(made)
	checkReplay(revealed, made)
	_, err := unrevealed.check()
	assert.Truef(t, err == nil && unrevealed.Record == revealed.Record, "the proof from before the reveal: %v", err)

	now := mustShuffle(t, s, `{"size":1000,"reveal":"now"}`)
	file, _ := prove(now)
	checkReplay(file, now)

	var list struct{ Audits []shuffleResult }
	require.NoError(t, json.Unmarshal(readBody(t, s.do(get(t, "/audits?reference=table%207"))), &list))
	require.Len(t, list.Audits, 2)
	file, record := prove(list.Audits[1])
	assert.Truef(t, record.Kind == audit.KindReveal && record.AuditID.String() == made.AuditID && file.Seed == nil && *file.ClientSeed == "",
		"the proof of the reveal is %+v", file)
}

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
