package api_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// A sink takes what several goroutines write.
type sink struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *sink) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *sink) bytes() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.text.Bytes())
}

// A secret is something that must not be read anywhere, with the ways in which it could be written.
type secret struct {
	what  string
	forms [][]byte
}

// seedSecrets returns the blocks of a seed, each by itself: a long seed may be cut anywhere.
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
			bytes.Trim(strconv.AppendQuote(nil, string(piece)), `"`)) // as text in a log
		for shift := range 3 { // base64 depends on where in a group of three bytes it begins
			for _, encoding := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
				whole := encoding.EncodeToString(append(make([]byte, shift), piece...))
				s.add([]byte(whole[(8*shift+5)/6 : (8*shift+64)/6])) // digits that hold nothing but the piece
			}
		}
		list = append(list, s)
	}
	return list
}

func (s *secret) add(forms ...[]byte) { s.forms = append(s.forms, forms...) }

// orderSecret returns the head of an order, in the ways in which it could be listed.
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

// in returns whether the secret can be read in a text.
func (s secret) in(text []byte) bool {
	for _, form := range s.forms {
		if bytes.Contains(text, form) {
			return true
		}
	}
	return false
}

// TestNothingSecretIsPublic shuffles in every way, asks in every way, and looks for seeds and orders in all that others
// can read: the log to its last byte, the metrics, what the service logs, and its answers to those who only have the id.
func TestNothingSecretIsPublic(t *testing.T) {
	logged := &sink{}
	s := start(t, setup{output: logged})
	var items []string
	for i := range 52 {
		items = append(items, fmt.Sprintf(`"item %d"`, i))
	}
	var secrets []secret
	var answers []byte
	var made []shuffled
	shuffle := func(r *http.Request) shuffled {
		t.Helper()
		body := read(t, s.answer(r))
		var result struct {
			shuffled
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
		made = append(made, result.shuffled)
		return result.shuffled
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
		t.Fatal("the search does not find what is there")
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
	revealed := shuffle(post(t, "/shuffle", `{"deck":"standard52","reveal":"now"}`))
	later := shuffle(post(t, "/shuffle", `{"deck":"standard52","reference":"game"}`))
	reveal := func(of shuffled, seed string) {
		read(t, s.answer(post(t, "/audits/"+of.AuditID+"/reveal", `{"seed":"`+seed+`"}`)))
	}
	reveal(later, later.Seed)
	reveal(made[0], made[1].Seed) // which is not its seed
	reveal(made[0], made[0].Seed[:64])
	s.published(t)

	public := map[string][]byte{}
	fetch := func(path string) []byte {
		t.Helper()
		r := get(t, path)
		r.Header.Set("Accept", "*/*")
		public[path] = read(t, s.answer(r))
		return public[path]
	}
	for _, path := range []string{"/log/checkpoint", "/log/key", "/metrics", "/openapi.yaml", "/healthz", "/readyz", "/decks"} {
		fetch(path)
	}
	size, _ := s.log.Sizes()
	records := 0
	for width := range size {
		fetch(fmt.Sprintf("/log/tile/0/000.p/%d", width+1))
		records = bytes.Count(fetch(fmt.Sprintf("/log/tile/entries/000.p/%d", width+1)), []byte(`"commitment"`))
	}
	if want := len(made) + 1; uint64(want) != size || records != want {
		t.Fatalf("of %d records, %d are in the log of %d", want, records, size)
	}
	for _, m := range made {
		if m == revealed || m == later {
			continue
		}
		for _, path := range []string{"", "/proof", "/verify"} {
			fetch("/audits/" + m.AuditID + path)
		}
	}

	// Errors of every kind are logged with what they know.
	lost := outOfReach(t)
	broken := start(t, setup{output: logged, store: unreadable})
	secrets = append(secrets, seedSecrets(t, lost.first.Seed)...)
	hidden := shuffleOnce(t, broken, `{"size":52}`)
	secrets = append(secrets, seedSecrets(t, hidden.Seed)...)
	for _, path := range []string{"", "/proof", "/verify"} {
		public["lost"+path] = read(t, lost.answer(get(t, "/audits/"+lost.first.AuditID+path)))
		public["broken"+path] = read(t, broken.answer(get(t, "/audits/"+hidden.AuditID+path)))
	}
	public["broken/reveal"] = read(t, broken.answer(post(t, "/audits/"+hidden.AuditID+"/reveal", `{"seed":"`+hidden.Seed+`"}`)))
	public["defect"] = read(t, s.answerWithDefect(post(t, "/audits/"+made[0].AuditID+"/reveal", `{"seed":"`+made[0].Seed+`"}`)))
	public["what is logged"] = logged.bytes()
	if !bytes.Contains(public["what is logged"], []byte("request failed")) || !bytes.Contains(public["what is logged"], []byte("panic")) {
		t.Errorf("the errors are not logged: %s", public["what is logged"])
	}

	for where, text := range public {
		for _, secret := range secrets {
			if secret.in(text) {
				t.Errorf("%s has %s:\n%.2000q", where, secret.what, text)
			}
		}
	}
	t.Logf("%d secrets in none of %d places", len(secrets), len(public))
}
