package api_test

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"riffle/internal/audit"
)

// A secret is a value that must not leak, in every form in which it could be written.
type secret struct {
	what  string
	forms [][]byte
}

// seedSecrets returns a secret for each 8 bytes of a seed, since a leak may have only a part of it.
func seedSecrets(t *testing.T, text string) (list []secret) {
	t.Helper()
	seed, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	for number := range len(seed) / 8 {
		piece := seed[8*number : 8*number+8]
		s := secret{what: fmt.Sprintf("bytes %d to %d of the seed %s", 8*number, 8*number+7, text)}
		s.add(piece, hex.AppendEncode(nil, piece), bytes.ToUpper(hex.AppendEncode(nil, piece)), bytes.Trim(fmt.Append(nil, piece), "[]"),
			bytes.Trim(strconv.AppendQuote(nil, string(piece)), `"`)) // as log/slog quotes it
		for shift := range 3 { // base64 depends on the offset modulo 3
			for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				whole := encoding.EncodeToString(append(make([]byte, shift), piece...))
				s.add([]byte(whole[(8*shift+5)/6 : (8*shift+64)/6])) // the digits that depend on the piece alone
			}
		}
		list = append(list, s)
	}
	return list
}

// keySecret returns the secret of an idempotency key and of the digest that is stored for it.
func keySecret(key string) secret {
	digest := sha256.Sum256([]byte(key))
	of := secret{what: "the key " + key}
	of.add([]byte(key), digest[:16], hex.AppendEncode(nil, digest[:16]))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		of.add([]byte(encoding.EncodeToString(digest[:15])))
	}
	return of
}

func (s *secret) add(forms ...[]byte) { s.forms = append(s.forms, forms...) }

// orderSecret returns the secret of the first eight elements of an order.
func orderSecret(order []json.RawMessage) secret {
	s := secret{what: fmt.Sprintf("the order %s", order)}
	var quoted, bare, positions []string
	for _, item := range order[:8] {
		quoted = append(quoted, string(item))
		bare = append(bare, strings.Trim(string(item), `"`))
		positions = append(positions, strings.TrimPrefix(strings.Trim(string(item), `"`), "item "))
	}
	for _, list := range [][]string{quoted, bare, positions} {
		for _, separator := range []string{",", ", ", " ", "\n", ""} {
			s.add([]byte(strings.Join(list, separator)))
		}
	}
	s.add([]byte(strings.ReplaceAll(strings.Join(quoted, ","), `"`, `\"`)))
	return s
}

// shoeSecret returns the secret of a shoe's id, which lets its bearer draw from the shoe.
func shoeSecret(t *testing.T, id string) secret {
	t.Helper()
	raw, err := hex.DecodeString(strings.ReplaceAll(id, "-", ""))
	if err != nil {
		t.Fatal(err)
	}
	s := saltSecret(raw)
	s.what = "the shoe " + id
	s.add([]byte(id), []byte(strings.ToUpper(id)))
	return s
}

// saltSecret returns the secret of the salt of a sealed card.
func saltSecret(salt []byte) secret {
	s := secret{what: fmt.Sprintf("the salt %x", salt)}
	s.add(salt, hex.AppendEncode(nil, salt), bytes.ToUpper(hex.AppendEncode(nil, salt)))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		s.add([]byte(encoding.EncodeToString(salt[:len(salt)/3*3])))
	}
	return s
}

// sealedSecrets returns the secrets of a shoe of a standard deck of which the first cards were
// drawn: its seed, and the order and the salts of the cards after them.
func sealedSecrets(t *testing.T, s *service, id string, seed []byte, after int) []secret {
	t.Helper()
	var shown struct{ Record json.RawMessage }
	if err := json.Unmarshal(readBody(t, s.do(get(t, "/audits/"+id))), &shown); err != nil {
		t.Fatal(err)
	}
	v, _ := audit.Verify(shown.Record, seed, 52, nil)
	var deck struct{ Cards []struct{ Code string } }
	if err := json.Unmarshal(readBody(t, s.do(get(t, "/decks/standard52/cards"))), &deck); err != nil || !v.OK || len(deck.Cards) != 52 {
		t.Fatalf("%+v %+v (%v)", v, deck, err)
	}
	var texts [][]byte
	var left []json.RawMessage
	for i, position := range v.Orders[0] {
		code := deck.Cards[position].Code
		texts = append(texts, []byte(code))
		if i >= after {
			left = append(left, json.RawMessage(strconv.Quote(code)))
		}
	}
	list := append(seedSecrets(t, hex.EncodeToString(seed)), orderSecret(left))
	tree := audit.Seal(seed, v.Record.Commitment, texts)
	if tree.Root() != *v.Record.Root {
		t.Fatal("the seed does not give the root of the shoe")
	}
	for i := after; i < len(texts); i++ {
		salt := tree.Open(uint64(i)).Salt
		list = append(list, saltSecret(salt[:]))
	}
	return list
}

// in reports whether a text contains the secret.
func (s secret) in(text []byte) bool {
	for _, form := range s.forms {
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}

// TestSecretsAreNotPublished uses every feature and then searches everything that others can read:
// the whole log, the metrics, log lines, error responses, and responses to those who have only an
// audit id. None may contain a seed, an order, an idempotency key, or the id, a salt or an undrawn
// card of a shoe.
func TestSecretsAreNotPublished(t *testing.T) {
	logged := &logBuffer{}
	var drawn bytes.Buffer
	c := &clock{now: time.Now()}
	s := start(t, setup{output: logged, random: io.TeeReader(rand.Reader, &drawn), now: c.Now})
	var items []string
	for i := range 52 {
		items = append(items, fmt.Sprintf(`"item %d"`, i))
	}
	var secrets []secret
	var answers []byte       // to the client that shuffled
	var errorBodies [][]byte // to other clients
	var made []shuffleResult
	public := map[string][]byte{}
	shuffle := func(r *http.Request) shuffleResult {
		t.Helper()
		body := readBody(t, s.do(r))
		var result struct {
			shuffleResult
			Items    []json.RawMessage
			Hands    [][]json.RawMessage
			Shuffles [][]json.RawMessage
		}
		if err := json.Unmarshal(body, &result); err != nil || result.Seed == "" {
			t.Fatalf("%v: %s", err, body)
		}
		answers = append(answers, body...)
		secrets = append(secrets, seedSecrets(t, result.Seed)...)
		for _, order := range append(append(result.Hands, result.Shuffles...), result.Items) {
			if order != nil {
				secrets = append(secrets, orderSecret(order))
			}
		}
		made = append(made, result.shuffleResult)
		return result.shuffleResult
	}
	for range 3 {
		shuffle(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`))
		shuffle(post(t, "/shuffle", `{"deck":"standard52","hands":"bridge","client_seed":"Nora"}`))
		shuffle(post(t, "/shuffle", `{"items":[`+strings.Join(items, ",")+`]}`))
		shuffle(post(t, "/shuffle", `{"size":1000,"repeat":3,"algorithm":"sattolo"}`))
		shuffle(post(t, "/shuffle", `{"size":9007199254740991,"draw":10}`))
		shuffle(get(t, "/decks/mahjong136?decks=2"))
	}
	if !secrets[0].in(answers) || !secrets[len(secrets)-1].in(answers) {
		t.Fatal("the search does not find a seed and an order in the answers that have them")
	}
	seed, err := hex.DecodeString(made[0].Seed)
	if err != nil {
		t.Fatal(err)
	}
	for shift := range 3 {
		text := append(make([]byte, shift), seed...)
		if !secrets[1].in([]byte(base64.StdEncoding.EncodeToString(text))) || !secrets[1].in([]byte(base64.URLEncoding.EncodeToString(text))) || !secrets[1].in(text) {
			t.Fatalf("the search does not find the seed in base64, %d bytes in", shift)
		}
	}
	commit := func(r *http.Request) commitmentResult {
		t.Helper()
		drawn.Reset()
		body := readBody(t, s.do(r))
		var made commitmentResult
		if err := json.Unmarshal(body, &made); err != nil || made.CommitmentID == "" || drawn.Len()%32 != 10 {
			t.Fatalf("%v, %d bytes were drawn: %s", err, drawn.Len(), body)
		}
		seed := drawn.Bytes()[:drawn.Len()-10] // followed by the id
		secrets = append(secrets, seedSecrets(t, hex.EncodeToString(seed))...)
		errorBodies = append(errorBodies, body)
		return made
	}
	const key, keyOfCommitment, keyOfReveal = "secret-key-6hR2", "secret-key-Lw0x", "secret-key-Qz7b"
	for _, key := range []string{key, keyOfCommitment, keyOfReveal} {
		secrets = append(secrets, keySecret(key))
	}
	void := commit(post(t, "/commitments", `{"deck":"standard52","reference":"game"}`))
	c.Set(void.Deadline)
	s.expireCommitments(t, 1)
	open := commit(post(t, "/commitments", `{"deck":"standard52","hands":"bridge"}`))
	used := commit(keyed(post(t, "/commitments", `{"size":1000,"reference":"game"}`), keyOfCommitment))
	shuffle(useCommitment(t, used, ""))
	shuffle(keyed(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`), key))
	rejected := func(r *http.Request, status int) {
		t.Helper()
		got := s.send(t, r)
		if got.status != status {
			t.Errorf("%d, want %d: %s", got.status, status, got.body)
		}
		errorBodies = append(errorBodies, []byte(got.body))
	}
	rejected(useCommitment(t, used, ""), 409)
	rejected(useCommitment(t, void, ""), 409)
	rejected(useCommitment(t, open, `,"draw":3`), 422)
	rejected(keyed(post(t, "/shuffle", `{"deck":"standard52"}`), key), 422)
	rejected(keyed(post(t, "/commitments", `{"size":1001}`), keyOfCommitment), 422)
	rejected(keyed(get(t, "/decks/standard52"), keyOfCommitment+" "+key), 400)
	rejected(post(t, "/shuffle", `{"deck":"standard52","reference":"game","unique_reference":true}`), 409)
	rejected(post(t, "/audits/"+used.CommitmentID+"/reveal", `{"seed":"`+made[0].Seed+`"}`), 422)

	// Only the owner of a shoe sees its id and the drawn cards. Nobody sees cards before they are
	// drawn.
	var sealed []secret // secret from the owner too
	var owners []byte
	var shoeRecords []string
	askAsOwner := func(s *service, r *http.Request) (a shoeState) {
		t.Helper()
		got := s.send(t, r)
		if err := json.Unmarshal([]byte(got.body), &a); err != nil || got.status != http.StatusOK {
			t.Fatalf("%d %s (%v)", got.status, got.body, err)
		}
		owners = append(owners, got.body...)
		return a
	}
	change := func(r *http.Request) shoeState {
		t.Helper()
		a := askAsOwner(s, r)
		shoeRecords = append(shoeRecords, a.AuditID)
		return a
	}
	const keyOfShoe, keyOfDraw = "secret-key-Vn4s", "secret-key-8tGe"
	secrets = append(secrets, keySecret(keyOfShoe), keySecret(keyOfDraw))
	drawn.Reset()
	shoe := change(keyed(post(t, "/shoes", `{"deck":"standard52","reference":"shoe"}`), keyOfShoe))
	first := bytes.Clone(drawn.Bytes()[:drawn.Len()-16-10]) // followed by the ids of the shoe and of the record
	secrets = append(secrets, shoeSecret(t, shoe.ShoeID))
	sealed = append(sealed, sealedSecrets(t, s, shoe.AuditID, first, 5)...)
	hand := change(keyed(post(t, shoe.path()+"/draw?proof=true", `{"count":4,"to":"alice"}`), keyOfDraw))
	for _, card := range hand.Cards {
		salt, err := hex.DecodeString(card.Salt)
		if err != nil {
			t.Fatal(err)
		}
		secrets = append(secrets, saltSecret(salt))
	}
	if !secrets[len(secrets)-1].in(owners) {
		t.Fatal("the search does not find a salt")
	}
	change(post(t, shoe.path()+"/draw", `{}`))
	change(post(t, shoe.path()+"/return", `{}`))
	drawn.Reset()
	change(post(t, shoe.path()+"/piles/alice/shuffle", `{}`))
	secrets = append(secrets, seedSecrets(t, hex.EncodeToString(drawn.Bytes()[:drawn.Len()-10]))...)
	drawn.Reset()
	change(post(t, shoe.path()+"/reshuffle", `{"cards":"all"}`))
	sealed = append(sealed, seedSecrets(t, hex.EncodeToString(drawn.Bytes()[:drawn.Len()-10]))...)
	bottom := change(post(t, shoe.path()+"/draw?proof=true", `{"from":"bottom","to":"bob"}`))
	ended := change(post(t, "/shoes", `{"size":9}`))
	secrets = append(secrets, shoeSecret(t, ended.ShoeID))
	change(del(t, ended.path()))
	askAsOwner(s, get(t, shoe.path()))
	askAsOwner(s, get(t, shoe.path()+"/piles/bob?proof=true"))
	askAsOwner(s, get(t, shoe.path()+"/cards/51/proof"))
	rejected(get(t, shoe.path()+"/cards/0/proof"), 409)
	rejected(get(t, shoe.path()+"/cards/9/proof?sealed_by="+shoe.AuditID), 409)
	rejected(post(t, shoe.path()+"/draw", `{"count":52}`), 422)
	rejected(post(t, shoe.path()+"/piles/alice/draw", `{}`), 404)
	rejected(post(t, shoe.path()+"/return", fmt.Sprintf(`{"cards":[%d,0]}`, bottom.Cards[0].Card)), 422)
	rejected(ifMatch(post(t, shoe.path()+"/close", `{}`), `"1"`), 412)
	rejected(keyed(post(t, shoe.path()+"/close", `{}`), keyOfDraw), 422)
	rejected(post(t, "/audits/"+shoe.AuditID+"/reveal", `{"seed":"`+hex.EncodeToString(first)+`"}`), 422)
	public["proof of the shoe"] = readBody(t, s.do(get(t, shoe.path()+"/proof")))
	for _, of := range sealed {
		if of.in(owners) {
			t.Errorf("the owner of the shoe was shown %s", of.what)
		}
	}
	secrets = append(secrets, sealed...)

	revealed := shuffle(post(t, "/shuffle", `{"deck":"standard52","reveal":"now"}`))
	later := shuffle(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`))
	reveal := func(of shuffleResult, seed string) *http.Request {
		return post(t, "/audits/"+of.AuditID+"/reveal", `{"seed":"`+seed+`"}`)
	}
	readBody(t, s.do(keyed(reveal(later, later.Seed), keyOfReveal)))
	rejected(reveal(made[0], made[1].Seed), 403) // the seed of another record
	rejected(reveal(made[0], made[0].Seed[:64]), 403)
	s.waitPublished(t)

	fetch := func(path string) []byte {
		t.Helper()
		r := get(t, path)
		r.Header.Set("Accept", "*/*")
		public[path] = readBody(t, s.do(r))
		return public[path]
	}
	for i, body := range errorBodies {
		public[fmt.Sprint("answer ", i)] = body
	}
	for _, path := range []string{
		"/log/checkpoint", "/log/key", "/metrics", "/openapi.yaml", "/healthz", "/readyz", "/decks", "/commitments", "/commitments?status=used",
	} {
		fetch(path)
	}
	size, _ := s.log.Sizes()
	records := 0
	for width := range size {
		fetch(fmt.Sprintf("/log/tile/0/000.p/%d", width+1))
		records = bytes.Count(fetch(fmt.Sprintf("/log/tile/entries/000.p/%d", width+1)), []byte(`"spec":`))
	}
	for _, c := range []commitmentResult{void, open, used} {
		for _, path := range []string{"/commitments/", "/audits/"} {
			fetch(path + c.CommitmentID)
		}
		for _, path := range []string{"/proof", "/verify"} {
			fetch("/audits/" + c.CommitmentID + path)
		}
	}
	fetch("/audits/" + getCommitment(t, s, void.CommitmentID).AuditID)
	for _, id := range shoeRecords {
		for _, path := range []string{"", "/proof", "/verify"} {
			fetch("/audits/" + id + path)
		}
	}
	fetch("/audits?reference=shoe")
	if want := len(made) + 1 + 3 + 1 + len(shoeRecords); uint64(want) != size || records != want {
		t.Fatalf("the log has %d records of %d, want %d", records, size, want)
	}
	for _, m := range made {
		if m == revealed || m == later {
			continue
		}
		for _, path := range []string{"", "/proof", "/verify"} {
			fetch("/audits/" + m.AuditID + path)
		}
	}

	// Failures are logged with their details.
	unavailable := unavailableStore(t)
	unreadable := start(t, setup{output: logged, store: failingReads})
	secrets = append(secrets, seedSecrets(t, unavailable.first.Seed)...)
	hidden := mustShuffle(t, unreadable, `{"size":52}`)
	secrets = append(secrets, seedSecrets(t, hidden.Seed)...)
	for _, path := range []string{"", "/proof", "/verify"} {
		public["unavailable"+path] = readBody(t, unavailable.do(get(t, "/audits/"+unavailable.first.AuditID+path)))
		public["unreadable"+path] = readBody(t, unreadable.do(get(t, "/audits/"+hidden.AuditID+path)))
	}
	public["unreadable/reveal"] = readBody(t, unreadable.do(keyed(post(t, "/audits/"+hidden.AuditID+"/reveal", `{"seed":"`+hidden.Seed+`"}`), key)))
	for _, path := range []string{"", "/dealt", "/piles/bob", "/cards/0/proof", "/proof"} {
		public["unreadable shoe"+path] = readBody(t, unreadable.do(get(t, shoe.path()+path)))
		public["panic of shoe"+path] = readBody(t, s.panicking().do(get(t, shoe.path()+path)))
	}
	public["unreadable shoe/draw"] = readBody(t, unreadable.do(keyed(post(t, shoe.path()+"/draw", `{}`), keyOfDraw)))
	public["unavailable shoe/draw"] = readBody(t, unavailable.do(post(t, shoe.path()+"/draw", `{}`)))
	public["unreadable/shuffle"] = readBody(t, unreadable.do(useCommitment(t, used, "")))
	public["panic"] = readBody(t, s.panicking().do(keyed(post(t, "/audits/"+made[0].AuditID+"/reveal", `{"seed":"`+made[0].Seed+`"}`), "secret-key-6hR2-4")))
	public["log lines"] = logged.bytes()
	if !bytes.Contains(public["log lines"], []byte("request failed")) || !bytes.Contains(public["log lines"], []byte("panic")) {
		t.Errorf("the failures are not logged: %s", public["log lines"])
	}

	for where, text := range public {
		for _, secret := range secrets {
			if secret.in(text) {
				t.Errorf("%s contains %s:\n%.2000q", where, secret.what, text)
			}
		}
	}
	t.Logf("%d secrets in none of %d places", len(secrets), len(public))
}

// TestSecretsAreNotOnDisk searches every file of the data folder, the write-ahead log of the store
// included, while the service runs and after it was stopped.
func TestSecretsAreNotOnDisk(t *testing.T) {
	var drawn bytes.Buffer
	c := &clock{now: time.Now()}
	s := start(t, setup{random: io.TeeReader(rand.Reader, &drawn), now: c.Now})
	const key = "secret-key-6hR2"
	var secrets []secret
	send := func(r *http.Request) []byte {
		t.Helper()
		drawn.Reset()
		answer := s.do(r)
		body := readBody(t, answer)
		if answer.StatusCode != http.StatusOK {
			t.Fatalf("%d %s", answer.StatusCode, body)
		}
		if seed := drawn.Bytes()[:max(0, drawn.Len()-10)]; len(seed) > 0 { // followed by the id
			secrets = append(secrets, seedSecrets(t, hex.EncodeToString(seed))...)
		}
		return body
	}
	send(post(t, "/shuffle", `{"deck":"standard52","client_seed":"to be found"}`))
	send(post(t, "/shuffle", `{"deck":"standard52","reveal":"now"}`))
	send(keyed(post(t, "/shuffle", `{"deck":"mahjong144","decks":2}`), key))
	void := commitmentID(t, string(send(keyed(post(t, "/commitments", `{"deck":"standard52"}`), key+"-2"))))
	c.Set(getCommitment(t, s, void).Deadline)
	s.expireCommitments(t, 1)
	send(post(t, "/commitments", `{"size":9}`)) // remains open
	use := send(post(t, "/shuffle", `{"commitment_id":"`+commitmentID(t, string(send(post(t, "/commitments", `{"size":52}`))))+`","client_seed":"x"}`))
	var made shuffleResult
	if err := json.Unmarshal(use, &made); err != nil {
		t.Fatal(err)
	}
	send(keyed(post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`), key+"-3"))
	drawn.Reset()
	shoe := mustCreateShoe(t, s, `{"deck":"standard52"}`)
	seed := bytes.Clone(drawn.Bytes()[:drawn.Len()-16-10]) // followed by the ids of the shoe and of the record
	secrets = append(append(secrets, shoeSecret(t, shoe.ShoeID)), sealedSecrets(t, s, shoe.AuditID, seed, 0)...)
	send(keyed(post(t, shoe.path()+"/draw?proof=true", `{"count":5,"to":"alice"}`), key+"-4"))
	send(post(t, shoe.path()+"/draw", `{"from":"random"}`))
	send(post(t, shoe.path()+"/reshuffle", `{}`))
	if len(secrets) < 4*10 || !slices.ContainsFunc(secrets, func(s secret) bool { return s.in(use) }) {
		t.Fatalf("%d secrets are too few, or the search does not find them in an answer", len(secrets))
	}
	text := secret{what: "the key " + key}
	text.add([]byte(key))
	secrets = append(secrets, text)

	search := func(want string) {
		t.Helper()
		files, found := 0, false
		err := filepath.WalkDir(s.setup.folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			files++
			found = found || filepath.Base(path) == want && bytes.Contains(text, []byte("to be found"))
			for _, secret := range secrets {
				if secret.in(text) {
					t.Errorf("%s contains %s", path, secret.what)
				}
			}
			return err
		})
		if err != nil || files < 4 || !found {
			t.Errorf("the search does not find the records in %s: %d files, %v", want, files, err)
		}
	}
	search("riffle.db-wal")
	if err := s.log.Close(); err != nil {
		t.Fatal(err)
	}
	search("riffle.db")
}
