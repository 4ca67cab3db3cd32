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
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/journal/journaltest"
	"riffle/internal/tracing"
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
	require.NoError(t, err)
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

// bytesSecret returns a secret for bytes: raw, in hex and in base64.
func bytesSecret(what string, raw []byte) secret {
	s := secret{what: what}
	s.add(raw, hex.AppendEncode(nil, raw), bytes.ToUpper(hex.AppendEncode(nil, raw)))
	for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		s.add([]byte(encoding.EncodeToString(raw[:len(raw)/3*3])))
	}
	return s
}

// keySecrets returns the secrets of an idempotency key and of the digest that is stored for it.
func keySecrets(key string) (bare, digest secret) {
	hash := sha256.Sum256([]byte(key))
	return bytesSecret("the key "+key, []byte(key)), bytesSecret("the digest of the key "+key, hash[:16])
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
func shoeSecret(id string) secret {
	raw := uuid.MustParse(id)
	s := bytesSecret("the shoe "+id, raw[:])
	s.add([]byte(id), []byte(strings.ToUpper(id)))
	return s
}

// saltSecret returns the secret of the salt of a sealed card.
func saltSecret(salt []byte) secret { return bytesSecret(fmt.Sprintf("the salt %x", salt), salt) }

// sealedSecrets returns the secrets of a shoe of a standard deck after some draws: its seed, and the
// order and salts of the remaining cards.
func sealedSecrets(t *testing.T, s *service, id string, seed []byte, after int) []secret {
	t.Helper()
	shown := getAudit(t, s, id)
	v := audit.Verify(shown.Record, seed, 52)
	deck := ask[struct{ Cards []struct{ Code string } }](t, s, get(t, "/decks/standard52/cards"))
	require.Truef(t, v.OK, "%+v %+v", v, deck)
	require.Lenf(t, deck.Cards, 52, "%+v %+v", v, deck)
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
	require.Equal(t, *v.Record.Root, tree.Root(), "the seed does not give the root of the shoe")
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
// the whole log, the metrics, log lines, the access log, traces, error responses, and responses to
// those who have only an audit id. None may contain a seed, an order, an idempotency key, or the id, a
// salt or an undrawn card of a shoe. Neither may any file of the data folder, the write-ahead
// log of the store included, while the service runs and after it was stopped.
func TestSecretsAreNotPublished(t *testing.T) {
	p := newPublication(t)
	p.shuffle()
	p.commit()
	p.dealFromShoe()
	p.reveal()
	p.readEverything()
	p.fail()
	p.addLogs()
	for where, text := range p.public {
		for _, secret := range append(p.digests, p.secrets...) {
			assert.Falsef(t, secret.in(text), "%s contains %s:\n%.2000q", where, secret.what, text)
		}
	}
	t.Logf("%d secrets in none of %d places", len(p.secrets), len(p.public))
	p.searchFiles("riffle.db-wal")
	require.NoError(t, p.s.log.Close())
	p.searchFiles("riffle.db")
}

// A publication is a service in use, with what must stay secret and what others can read.
type publication struct {
	t      *testing.T
	s      *service
	logged *journaltest.Buffer
	traced *journaltest.Buffer // what the collector received
	tracer *tracing.Tracer
	drawn  *bytes.Buffer // what was read from the source of randomness
	clock  *clock

	secrets  []secret
	stored   []secret          // may be published, and are encrypted in files all the same
	digests  []secret          // may be in files
	public   map[string][]byte // by where it was read
	problems int               // in public

	made             []shuffleResult
	revealed         []shuffleResult // their seeds are public
	void, open, used commitmentResult
	shoe             shoeState
	shoeRecords      []string
}

// Idempotency keys, which are secrets: whoever has one gets the answer that it belongs to.
const (
	keyOfShuffle    = "secret-key-6hR2"
	keyOfCommitment = "secret-key-Lw0x"
	keyOfReveal     = "secret-key-Qz7b"
	keyOfShoe       = "secret-key-Vn4s"
	keyOfDraw       = "secret-key-8tGe"
)

func newPublication(t *testing.T) *publication {
	t.Helper()
	p := &publication{
		t: t, logged: &journaltest.Buffer{}, traced: &journaltest.Buffer{}, drawn: &bytes.Buffer{}, clock: &clock{now: time.Now()},
		public: map[string][]byte{},
	}
	collector := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(p.traced, r.Body) }))
	t.Cleanup(collector.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.URL)
	t.Setenv("OTEL_TRACES_SAMPLER", "always_on")
	t.Setenv("OTEL_BSP_MAX_QUEUE_SIZE", "1000000") // all spans
	var err error
	p.tracer, err = tracing.New(t.Context(), os.Getenv, "test", slog.New(slog.NewTextHandler(p.logged, nil)))
	require.NoError(t, err)
	p.s = start(t, setup{output: p.logged, random: io.TeeReader(rand.Reader, p.drawn), now: p.clock.Now, tracer: p.tracer})
	for _, key := range []string{keyOfShuffle, keyOfCommitment, keyOfReveal, keyOfShoe, keyOfDraw} {
		bare, digest := keySecrets(key)
		p.secrets, p.digests = append(p.secrets, bare), append(p.digests, digest)
	}
	return p
}

// rejected sends a request of somebody who must not have it answered.
func (p *publication) rejected(r *http.Request, status int) {
	p.t.Helper()
	got := p.s.send(p.t, r)
	assert.Truef(p.t, got.status == status, "%d, want %d: %s", got.status, status, got.body)
	p.public[fmt.Sprint("problem ", p.problems)] = []byte(got.body)
	p.problems++
}

// mustShuffle sends a shuffle, whose seed and orders are secrets. It returns the answer as well.
func (p *publication) mustShuffle(r *http.Request) (shuffleResult, []byte) {
	p.t.Helper()
	body := readBody(p.t, p.s.do(r))
	var result struct {
		shuffleResult
		Items    []json.RawMessage
		Hands    [][]json.RawMessage
		Shuffles [][]json.RawMessage
	}
	err := json.Unmarshal(body, &result)
	require.Truef(p.t, err == nil && result.Seed != "", "%v: %s", err, body)
	p.secrets = append(p.secrets, seedSecrets(p.t, result.Seed)...)
	for _, order := range append(append(result.Hands, result.Shuffles...), result.Items) {
		if order != nil {
			p.secrets = append(p.secrets, orderSecret(order))
		}
	}
	p.made = append(p.made, result.shuffleResult)
	return result.shuffleResult, body
}

// shuffle makes shuffles of all kinds, and checks that the search finds their secrets where they are.
func (p *publication) shuffle() {
	t := p.t
	t.Helper()
	var items []string
	for i := range 52 {
		items = append(items, fmt.Sprintf(`"item %d"`, i))
	}
	before := len(p.secrets)
	var answers []byte
	for range 3 {
		for _, r := range []*http.Request{
			post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`),
			post(t, "/shuffle", `{"deck":"standard52","hands":"bridge","client_seed":"Nora"}`),
			post(t, "/shuffle", `{"items":[`+strings.Join(items, ",")+`]}`),
			post(t, "/shuffle", `{"size":1000,"repeat":3,"algorithm":"sattolo"}`),
			post(t, "/shuffle", `{"size":9007199254740991,"draw":10}`),
			get(t, "/decks/mahjong136?decks=2"),
		} {
			_, answer := p.mustShuffle(r)
			answers = append(answers, answer...)
		}
	}
	found := p.secrets[before:]
	require.True(t, found[0].in(answers) && found[len(found)-1].in(answers), "the search does not find a seed and an order in the answers that have them")
	seed, err := hex.DecodeString(p.made[0].Seed)
	require.NoError(t, err)
	for shift := range 3 {
		text := append(make([]byte, shift), seed...)
		if !found[1].in([]byte(base64.StdEncoding.EncodeToString(text))) || !found[1].in([]byte(base64.URLEncoding.EncodeToString(text))) || !found[1].in(text) {
			t.Fatalf("the search does not find the seed in base64, %d bytes in", shift)
		}
	}
	p.mustShuffle(keyed(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`), keyOfShuffle))
	p.rejected(keyed(post(t, "/shuffle", `{"deck":"standard52"}`), keyOfShuffle), 422)
	p.rejected(post(t, "/shuffle", `{"deck":"standard52","reference":"game","unique_reference":true}`), 409)
}

// mustCommit makes a commitment, whose seed is secret from the caller too.
func (p *publication) mustCommit(r *http.Request) commitmentResult {
	p.t.Helper()
	p.drawn.Reset()
	body := readBody(p.t, p.s.do(r))
	var made commitmentResult
	err := json.Unmarshal(body, &made)
	require.Truef(p.t, err == nil && made.CommitmentID != "" && p.drawn.Len()%32 == 10, "%v, %d bytes were drawn: %s", err, p.drawn.Len(), body)
	p.addDrawnSeed(10) // the id
	p.public["answer with the commitment "+made.CommitmentID] = body
	return made
}

// addDrawnSeed makes the drawn random bytes a secret, without their end.
func (p *publication) addDrawnSeed(end int) {
	p.t.Helper()
	p.secrets = append(p.secrets, seedSecrets(p.t, hex.EncodeToString(p.drawn.Bytes()[:p.drawn.Len()-end]))...)
}

// commit makes three commitments: one becomes void, one is used and one stays open.
func (p *publication) commit() {
	t := p.t
	t.Helper()
	p.void = p.mustCommit(post(t, "/commitments", `{"deck":"standard52","reference":"game"}`))
	p.clock.Set(p.void.Deadline)
	p.s.expireCommitments(t, 1)
	p.open = p.mustCommit(post(t, "/commitments", `{"deck":"standard52","hands":"bridge"}`))
	p.used = p.mustCommit(keyed(post(t, "/commitments", `{"size":1000,"reference":"game"}`), keyOfCommitment))
	p.mustShuffle(useCommitment(t, p.used, ""))
	p.rejected(useCommitment(t, p.used, ""), 409)
	p.rejected(useCommitment(t, p.void, ""), 409)
	p.rejected(useCommitment(t, p.open, `,"draw":3`), 422)
	p.rejected(keyed(post(t, "/commitments", `{"size":1001}`), keyOfCommitment), 422)
	p.rejected(keyed(get(t, "/decks/standard52"), keyOfCommitment+" "+keyOfShuffle), 400)
	p.rejected(post(t, "/audits/"+p.used.CommitmentID+"/reveal", `{"seed":"`+p.made[0].Seed+`"}`), 422)
}

// dealFromShoe uses a shoe. Only its owner sees its id and the drawn cards; nobody sees cards before
// they are drawn.
func (p *publication) dealFromShoe() {
	t := p.t
	t.Helper()
	var sealed []secret // secret from the owner too
	var owners []byte
	askAsOwner := func(r *http.Request) (a shoeState) {
		t.Helper()
		got := p.s.send(t, r)
		err := json.Unmarshal([]byte(got.body), &a)
		require.Truef(t, err == nil && got.status == http.StatusOK, "%d %s (%v)", got.status, got.body, err)
		owners = append(owners, got.body...)
		return a
	}
	change := func(r *http.Request) shoeState {
		t.Helper()
		a := askAsOwner(r)
		p.shoeRecords = append(p.shoeRecords, a.AuditID)
		return a
	}
	p.drawn.Reset()
	shoe := change(keyed(post(t, "/shoes", `{"deck":"standard52","reference":"shoe"}`), keyOfShoe))
	p.shoe = shoe
	first := bytes.Clone(p.drawn.Bytes()[:p.drawn.Len()-16-10]) // followed by the ids of the shoe and of the record
	p.secrets = append(p.secrets, shoeSecret(shoe.ShoeID))
	sealed = append(sealed, sealedSecrets(t, p.s, shoe.AuditID, first, 5)...)
	hand := change(keyed(post(t, shoe.path()+"/draw?proof=true", `{"count":4,"to":"alice"}`), keyOfDraw))
	for _, card := range hand.Cards {
		salt, err := hex.DecodeString(card.Salt)
		require.NoError(t, err)
		p.secrets = append(p.secrets, saltSecret(salt))
	}
	require.True(t, p.secrets[len(p.secrets)-1].in(owners), "the search does not find a salt")
	change(post(t, shoe.path()+"/draw", `{}`))
	change(post(t, shoe.path()+"/return", `{"cards":"all"}`))
	p.drawn.Reset()
	change(post(t, shoe.path()+"/piles/alice/shuffle", `{}`))
	p.addDrawnSeed(10)
	p.drawn.Reset()
	change(post(t, shoe.path()+"/reshuffle", `{"cards":"all"}`))
	sealed = append(sealed, seedSecrets(t, hex.EncodeToString(p.drawn.Bytes()[:p.drawn.Len()-10]))...)
	bottom := change(post(t, shoe.path()+"/draw?proof=true", `{"from":"bottom","to":"bob"}`))
	ended := change(post(t, "/shoes", `{"size":9}`))
	p.drawn.Reset()
	change(post(t, ended.path()+"/draw", `{"from":"random"}`))
	p.stored = append(p.stored, seedSecrets(t, hex.EncodeToString(p.drawn.Bytes()[:p.drawn.Len()-10]))...)
	p.secrets = append(p.secrets, shoeSecret(ended.ShoeID))
	change(del(t, ended.path()))
	askAsOwner(get(t, shoe.path()))
	askAsOwner(get(t, shoe.path()+"/piles/bob?proof=true"))
	askAsOwner(get(t, shoe.path()+"/cards/51/proof"))
	p.rejected(get(t, shoe.path()+"/cards/0/proof"), 409)
	p.rejected(get(t, shoe.path()+"/cards/9/proof?sealed_by="+shoe.AuditID), 409)
	p.rejected(post(t, shoe.path()+"/draw", `{"count":52}`), 422)
	p.rejected(post(t, shoe.path()+"/piles/alice/draw", `{}`), 404)
	p.rejected(post(t, shoe.path()+"/return", fmt.Sprintf(`{"cards":[%d,0]}`, bottom.Cards[0].Card)), 422)
	p.rejected(ifMatch(post(t, shoe.path()+"/close", `{}`), `"1"`), 412)
	p.rejected(keyed(post(t, shoe.path()+"/close", `{}`), keyOfDraw), 422)
	p.rejected(post(t, "/audits/"+shoe.AuditID+"/reveal", `{"seed":"`+hex.EncodeToString(first)+`"}`), 422)
	p.public["proof of the shoe"] = readBody(t, p.s.do(get(t, shoe.path()+"/proof")))
	for _, of := range sealed {
		assert.Falsef(t, of.in(owners), "the owner of the shoe was shown %s", of.what)
	}
	p.secrets = append(p.secrets, sealed...)
}

// reveal makes the seeds of two shuffles public, and tries to with wrong seeds for others.
func (p *publication) reveal() {
	t := p.t
	t.Helper()
	revealed, _ := p.mustShuffle(post(t, "/shuffle", `{"deck":"standard52","reveal":"now"}`))
	later, _ := p.mustShuffle(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`))
	p.revealed = []shuffleResult{revealed, later}
	reveal := func(of shuffleResult, seed string) *http.Request {
		return post(t, "/audits/"+of.AuditID+"/reveal", `{"seed":"`+seed+`"}`)
	}
	readBody(t, p.s.do(keyed(reveal(later, later.Seed), keyOfReveal)))
	p.rejected(reveal(p.made[0], p.made[1].Seed), 403) // the seed of another record
	p.rejected(reveal(p.made[0], p.made[0].Seed[:64]), 403)
}

// fetch reads what everybody may.
func (p *publication) fetch(path string) []byte {
	p.t.Helper()
	r := get(p.t, path)
	r.Header.Set("Accept", "*/*")
	p.public[path] = readBody(p.t, p.s.do(r))
	return p.public[path]
}

// fetchAudit reads all there is for those who have an audit id.
func (p *publication) fetchAudit(id string) {
	p.t.Helper()
	for _, path := range []string{"", "/proof"} {
		p.fetch("/audits/" + id + path)
	}
}

// readEverything reads the log in every width and all that was recorded.
func (p *publication) readEverything() {
	t := p.t
	t.Helper()
	p.s.waitPublished(t)
	for _, path := range []string{
		"/log/checkpoint", "/log/key", "/metrics", "/openapi.yaml", "/healthz", "/readyz", "/decks", "/commitments", "/commitments?status=used",
	} {
		p.fetch(path)
	}
	size, _ := p.s.log.Sizes()
	records := 0
	for width := range size {
		p.fetch(fmt.Sprintf("/log/tile/0/000.p/%d", width+1))
		records = bytes.Count(p.fetch(fmt.Sprintf("/log/tile/entries/000.p/%d", width+1)), []byte(`"spec":`))
	}
	want := len(p.made) + 1 + 3 + 1 + len(p.shoeRecords)
	require.Truef(t, uint64(want) == size && records == want, "the log has %d records of %d, want %d", records, size, want)
	for _, c := range []commitmentResult{p.void, p.open, p.used} {
		p.fetch("/commitments/" + c.CommitmentID)
		p.fetchAudit(c.CommitmentID)
	}
	p.fetch("/audits/" + getCommitment(t, p.s, p.void.CommitmentID).AuditID)
	for _, id := range p.shoeRecords {
		p.fetchAudit(id)
	}
	p.fetch("/audits?reference=shoe")
	for _, m := range p.made {
		if !slices.Contains(p.revealed, m) {
			p.fetchAudit(m.AuditID)
		}
	}
}

// fail asks services whose stores fail, and one that panics, which is logged with details.
func (p *publication) fail() {
	t := p.t
	t.Helper()
	unavailable := unavailableStore(t)
	unreadable := start(t, setup{output: p.logged, faults: failingReads, tracer: p.tracer})
	p.secrets = append(p.secrets, seedSecrets(t, unavailable.first.Seed)...)
	hidden := mustShuffle(t, unreadable, `{"size":52}`)
	p.secrets = append(p.secrets, seedSecrets(t, hidden.Seed)...)
	show := func(where string, s *service, r *http.Request) {
		t.Helper()
		p.public[where] = readBody(t, s.do(r))
	}
	for _, path := range []string{"", "/proof"} {
		show("unavailable"+path, unavailable, get(t, "/audits/"+unavailable.first.AuditID+path))
		show("unreadable"+path, unreadable, get(t, "/audits/"+hidden.AuditID+path))
	}
	show("unreadable/reveal", unreadable, keyed(post(t, "/audits/"+hidden.AuditID+"/reveal", `{"seed":"`+hidden.Seed+`"}`), keyOfShuffle))
	shoe := p.shoe.path()
	for _, path := range []string{"", "/dealt", "/piles/bob", "/cards/0/proof", "/proof"} {
		show("unreadable shoe"+path, unreadable, get(t, shoe+path))
		show("panic of shoe"+path, p.s.panicking(), get(t, shoe+path))
	}
	show("unreadable shoe/draw", unreadable, keyed(post(t, shoe+"/draw", `{}`), keyOfDraw))
	show("unavailable shoe/draw", unavailable, post(t, shoe+"/draw", `{}`))
	show("unreadable/shuffle", unreadable, useCommitment(t, p.used, ""))
	show("panic", p.s.panicking(), keyed(post(t, "/audits/"+p.made[0].AuditID+"/reveal", `{"seed":"`+p.made[0].Seed+`"}`), keyOfShuffle+"-4"))
}

// addLogs adds the texts that operators read: the log, the access log and traces.
func (p *publication) addLogs() {
	p.t.Helper()
	p.tracer.Shutdown(p.t.Context())
	p.public["log lines"], p.public["traces"] = []byte(p.logged.String()), []byte(p.traced.String())
	for where, texts := range map[string][]string{
		"log lines": {"request failed", "panic", `"route":"/shoes/{id}/draw"`, `"trace_id":`},
		"traces":    {"POST /shoes/{id}/draw", "wait for commit", "store.Append", "store.ByID", "riffle.audit_id"},
	} {
		for _, text := range texts {
			assert.Truef(p.t, bytes.Contains(p.public[where], []byte(text)), "there is no %s in the %s", text, where)
		}
	}
}

// searchFiles searches every file of the data folder. The file named want must have the records.
func (p *publication) searchFiles(want string) {
	t := p.t
	t.Helper()
	files, found := 0, false
	err := filepath.WalkDir(p.s.setup.folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		found = found || filepath.Base(path) == want && bytes.Contains(text, []byte(`"client_seed":"Nora"`))
		for _, secret := range append(p.stored, p.secrets...) {
			assert.Falsef(t, secret.in(text), "%s contains %s", path, secret.what)
		}
		return err
	})
	assert.Truef(t, err == nil && files >= 4 && found, "the search does not find the records in %s: %d files, %v", want, files, err)
}
