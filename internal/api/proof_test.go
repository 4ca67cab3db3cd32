package api_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strings"
	"sync"
	"testing"

	"golang.org/x/mod/sumdb/note"

	"riffle/internal/audit"
	"riffle/internal/ledger"
	"riffle/internal/ledger/proof"
)

// A proofFile is what GET /audits/{id}/proof answers, as a stranger reads it.
type proofFile struct {
	Spec       string
	Record     string
	Seed       *string
	ClientSeed *string `json:"client_seed"`
	TlogProof  string  `json:"tlog_proof"`
	LogKey     string  `json:"log_key"`
}

func fetchProof(t *testing.T, s *service, id string) (file proofFile) {
	t.Helper()
	answer := s.do(get(t, "/audits/"+id+"/proof"))
	body := readBody(t, answer)
	if answer.StatusCode != http.StatusOK || answer.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v %s", answer.StatusCode, answer.Header, body)
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil || file.Spec != "riffle/1" || file.ClientSeed == nil {
		t.Fatalf("%v: %s", err, body)
	}
	return file
}

// check checks a proof with nothing but what is in it, and returns the place of the record in the
// log.
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

func TestProofsVerifyOffline(t *testing.T) {
	s := start(t, setup{})
	s.mustShuffleMany(t, 300) // so that hashes of two levels of tiles stand in the proofs
	key := readBody(t, s.do(get(t, "/log/key")))
	prove := func(made shuffleResult) (proofFile, *audit.Record) {
		t.Helper()
		file := fetchProof(t, s, made.AuditID)
		record, err := audit.ParseRecord([]byte(file.Record))
		if err != nil {
			t.Fatal(err)
		}
		index, err := file.check()
		if err != nil || index != made.LogIndex || record.ID.String() != made.AuditID || file.LogKey+"\n" != string(key) {
			t.Errorf("record %d, proven as %d, with the key %s of %s: %v: %s", made.LogIndex, index, file.LogKey, key, err, file.Record)
		}
		if *file.ClientSeed != record.ClientSeed {
			t.Errorf("the client seed is %q, and in the record %q", *file.ClientSeed, record.ClientSeed)
		}
		if shown := getAudit(t, s, made.AuditID); string(shown.Record) != file.Record || !reflect.DeepEqual(shown.Seed, file.Seed) {
			t.Errorf("the proof is of\n%s (%v)\nand the audit shows\n%s (%v)", file.Record, file.Seed, shown.Record, shown.Seed)
		}
		return file, record
	}
	replays := func(file proofFile, made shuffleResult) {
		t.Helper()
		if file.Seed == nil || *file.Seed != made.Seed {
			t.Fatalf("the seed is %v, and was answered as %s", file.Seed, made.Seed)
		}
		seed, err := hex.DecodeString(*file.Seed)
		if err != nil {
			t.Fatal(err)
		}
		if v := audit.Verify([]byte(file.Record), seed, 0); !v.OK {
			t.Errorf("the record does not replay: %+v", v.Steps)
		}
	}

	made := mustShuffle(t, s, `{"deck":"standard52","client_seed":"Nora & Erik ♥ <\u2028>","reference":"table 7"}`)
	heldBack, _ := prove(made)
	if heldBack.Seed != nil {
		t.Fatal("the seed is shown before it is revealed")
	}
	answer := s.do(post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`))
	if body := readBody(t, answer); answer.StatusCode != http.StatusOK {
		t.Fatalf("%d %s", answer.StatusCode, body)
	}
	s.waitPublished(t) // so that the proof is under the checkpoint that covers the reveal as well
	revealed, _ := prove(made)
	replays(revealed, made)
	if _, err := heldBack.check(); err != nil || heldBack.Record != revealed.Record {
		t.Errorf("the earlier proof: %v", err)
	}

	now := mustShuffle(t, s, `{"size":1000,"reveal":"now"}`)
	file, _ := prove(now)
	replays(file, now)

	var list struct{ Audits []shuffleResult }
	if err := json.Unmarshal(readBody(t, s.do(get(t, "/audits?reference=table%207"))), &list); err != nil || len(list.Audits) != 2 {
		t.Fatalf("%d audits of the reference, %v", len(list.Audits), err)
	}
	file, record := prove(list.Audits[1])
	if record.Kind != audit.KindReveal || record.AuditID.String() != made.AuditID || file.Seed != nil || *file.ClientSeed != "" {
		t.Errorf("the record of the reveal is proven with %+v", file)
	}

	// What a proof proves, it proves of one record, in one place, of one log.
	_, public, err := note.GenerateKey(nil, "shuffles.example.com/2026")
	if err != nil {
		t.Fatal(err)
	}
	for what, v := range map[string]struct {
		change func(*proofFile)
		err    error
	}{
		"another record": {func(f *proofFile) { f.Record = file.Record }, proof.ErrNotIncluded},
		"another time":   {func(f *proofFile) { f.Record = strings.Replace(f.Record, "Z", "1Z", 1) }, proof.ErrNotIncluded},
		"another place":  {func(f *proofFile) { f.TlogProof = strings.Replace(f.TlogProof, "index 300", "index 301", 1) }, proof.ErrNotIncluded},
		"another size":   {func(f *proofFile) { f.TlogProof = strings.Replace(f.TlogProof, "\n302\n", "\n303\n", 1) }, proof.ErrSignature},
		"another key":    {func(f *proofFile) { f.LogKey = public }, proof.ErrSignature},
		"a space":        {func(f *proofFile) { f.TlogProof += " " }, proof.ErrMalformed},
	} {
		changed := revealed
		v.change(&changed)
		if changed == revealed {
			t.Errorf("%s: nothing was changed: %+v", what, revealed)
		}
		if _, err := changed.check(); !errors.Is(err, v.err) {
			t.Errorf("%s: %v, want %v", what, err, v.err)
		}
	}
}

// An id that nobody was given, one that is none, and one of another log look alike from outside, in
// every byte.
func TestUnknownIDsAreIndistinguishable(t *testing.T) {
	s, other := start(t, setup{}), start(t, setup{})
	mustShuffle(t, s, `{"size":3}`)
	own := mustShuffle(t, s, `{"size":3}`)
	foreign := mustShuffle(t, other, `{"size":3}`)
	seed := `{"seed":"` + foreign.Seed + `"}`
	for _, ask := range []func(id string) *http.Request{
		func(id string) *http.Request { return get(t, "/audits/"+id) },
		func(id string) *http.Request { return get(t, "/audits/"+id+"/proof") },
		func(id string) *http.Request { return get(t, "/audits/"+id+"/verify") },
		func(id string) *http.Request { return post(t, "/audits/"+id+"/reveal", seed) },
		func(id string) *http.Request { return get(t, "/commitments/"+id) },
	} {
		unknown := s.do(ask("01890a5d-ac96-774b-bcce-b302099a8057"))
		want := readBody(t, unknown)
		if unknown.StatusCode != http.StatusNotFound {
			t.Fatalf("%d %s", unknown.StatusCode, want)
		}
		for _, id := range []string{
			foreign.AuditID, "1", "%20", "..", "proof", "00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff",
			strings.ToUpper(own.AuditID), strings.ReplaceAll(own.AuditID, "-", ""), "%7B" + own.AuditID + "%7D", "urn:uuid:" + own.AuditID,
			own.AuditID + "0", own.AuditID[:35], own.AuditID + "%00", own.AuditID + "%0A", "%2F" + own.AuditID, "%FF",
			strings.Repeat("a", 4000),
		} {
			request := ask(id)
			answer := s.do(request)
			body := readBody(t, answer)
			if answer.StatusCode != http.StatusNotFound || !bytes.Equal(body, want) || !reflect.DeepEqual(answer.Header, unknown.Header) {
				t.Errorf("%s %.100s: %d %v %s", request.Method, request.URL.Path, answer.StatusCode, answer.Header, body)
			}
		}
	}
}

// A record that no checkpoint covers is not proven, and its audit is shown all the same.
func TestProofWaitsForTheCheckpoint(t *testing.T) {
	held := make(chan struct{})
	readOn := sync.OnceFunc(func() { close(held) })
	s := start(t, setup{store: func(s ledger.Store) ledger.Store {
		return &faultyStore{Store: s, beforeReadBack: func() error { <-held; return nil }}
	}})
	t.Cleanup(readOn)
	made := mustShuffle(t, s, `{"size":3}`)
	getAudit(t, s, made.AuditID)
	if checkpoint := readBody(t, s.do(get(t, "/log/checkpoint"))); !bytes.Contains(checkpoint, []byte("\n0\n")) {
		t.Errorf("the checkpoint covers what was not read back: %s", checkpoint)
	}
	if answer := s.do(get(t, "/log/tile/entries/000.p/1")); answer.StatusCode != http.StatusNotFound {
		t.Errorf("a record that is not published: %d", answer.StatusCode)
	}
	asked := make(chan *http.Response)
	go func() { asked <- s.do(get(t, "/audits/"+made.AuditID+"/proof")) }()
	readOn()
	answer := <-asked
	var file proofFile
	if err := json.Unmarshal(readBody(t, answer), &file); err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	if _, err := file.check(); err != nil {
		t.Error(err)
	}
}
