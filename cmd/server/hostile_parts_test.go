package main_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
)

// parts returns tiny parts with different names that fill so many bytes.
func parts(bytes int, format string) string {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	var b strings.Builder
	for i := 0; ; i++ {
		name := string([]byte{digits[i%36], digits[i/36%36]})
		if i >= 36*36 {
			name += string(digits[i/(36*36)%36])
		}
		part := fmt.Sprintf(format, name)
		if b.Len()+len(part) > bytes {
			return b.String()
		}
		b.WriteString(part)
	}
}

// many returns repetitions of a part that fill so many bytes between two texts.
func many(bytes int, from, part, to string) string {
	return from + strings.Repeat(part, (bytes-len(from)-len(to))/len(part)) + to
}

// posted returns a POST with header fields, without the last bytes of its body.
func posted(path, fields, body string, held int) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n%s\r\n%s", path, len(body), fields, body[:len(body)-held])
}

// completed is posted with the last byte held back until all connections are open: it follows a NUL.
func completed(path, fields, body string) string {
	return posted(path, fields, body, 1) + "\x00" + body[len(body)-1:]
}

const (
	asJSON     = "Content-Type: application/json\r\n"
	asForm     = "Content-Type: application/x-www-form-urlencoded\r\n"
	asParts    = "Content-Type: multipart/form-data; boundary=x\r\n"
	longHeader = 12<<10 - 200 // net/http's limit, less the other lines of these requests
	longBody   = 64 << 10
)

var blank = strings.Repeat(" ", 8<<10)

// manyParts are requests with as many tiny parts as permitted, of every kind. SHOE and DECK are
// replaced by the paths of a shoe and of a deck. All run with everyHostile, which takes two minutes.
var manyParts = []struct {
	name   string
	memory int  // of small attacks, in MiB
	keys   bool // callers need keys
	locked bool // commits are slow, so requests wait for the shoe or for the commit
	text   string
}{
	{"fields, body held", 8, false, false, posted("/shuffle", asJSON+parts(longHeader, "%s:\n"), blank, 1)},
	{"fields, body held, 401", 8, true, false, posted("/shuffle", asJSON+parts(longHeader, "%s:\n"), blank, len(blank))},
	{"fields, header held", 8, false, false, "GET / HTTP/1.1\r\nHost: localhost\r\n" + parts(longHeader, "%s:\n")},
	{"values, header held", 8, false, false, "GET / HTTP/1.1\r\nHost: localhost\r\n" + strings.Repeat("a:\n", longHeader/3)},
	{"cookies, body held", 8, false, false, posted("/", many(longHeader, "Cookie: ", "a=;", "\r\n"), blank, len(blank))},
	{"parameters, body held", 8, false, false, posted("/shuffle?"+parts(longHeader, "%s&"), asJSON, blank, len(blank))},
	{"parameters, deck locked", 8, false, true, posted("DECK/draw/?"+parts(longHeader, "%s&"), "", " ", 0)},
	{"trailers, deck locked", 8, false, true, "POST DECK/draw/ HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n" +
		many(longHeader-4<<10, "X: ", "x", "\r\n") + "\r\n0\r\n" + parts(4<<10-200, "%s:\n") + "\r\n\r\n"},
	{"form values, deck locked", 256, false, true, posted("DECK/draw/", asForm, parts(longBody, "%s&"), 0)},
	{"parts of a form, deck locked", 256, false, true, posted("DECK/draw/", asParts,
		parts(longBody-20, "--x\r\nContent-Disposition: form-data; name=%s\r\n\r\n\r\n")+"--x--\r\n", 0)},
	{"members, deck locked", 256, false, true, posted("DECK/draw/", asJSON, "{"+parts(longBody-20, `"%s":1,`)+`"count":1}`, 0)},
	{"nested members, deck locked", 256, false, true, posted("DECK/draw/", asJSON, `{"x":{`+parts(longBody-20, `"%s":1,`)+`"":1}}`, 0)},
	{"cards, shoe locked", 64, false, true, posted("SHOE/return", asJSON, many(8<<10, `{"cards":[0`, ",0", "]}"), 0)},
	{"codes, shoe locked", 64, false, true, posted("SHOE/return", asJSON, many(12<<10, `{"cards":[""`, `,""`, "]}"), 0)},
	{"hands, last byte held", 64, false, false, posted("/shuffle", asJSON, many(longBody, `{"size":52,"hands":[1`, ",1", "]}"), 1)},
	{"items, commit awaited", 64, false, true, posted("/shuffle", asJSON, many(2<<10, `{"items":[1`, ",1", "]}"), 0)},
	{"members of an item, commit awaited", 256, false, true, posted("/shuffle", asJSON, `{"items":[1,{`+parts(longBody-40, `"%s":1,`)+`"":1}]}`, 0)},
	{"members, completed", 64, false, true, completed("/api/deck/new/", asJSON, "{"+parts(longBody-20, `"%s":1,`)+`"count":1}`)},
	{"lists, completed", 64, false, true, completed("/api/deck/new/", asJSON, many(longBody, `{"cards":[1`, ",1", "]}"))},
	{"codes, completed", 64, false, true, completed("/api/deck/new/draw/", asJSON, many(longBody, `{"cards":"AS`, ",AS", `"}`))},
	{"form values, completed", 64, false, true, completed("/api/deck/new/", asForm, parts(longBody, "%s&"))},
	{"parts of a form, completed", 64, false, true, completed("/api/deck/new/", asParts,
		parts(longBody-20, "--x\r\nContent-Disposition: form-data; name=%s\r\n\r\n\r\n")+"--x--\r\n")},
	{"fields of a part, completed", 64, false, true, completed("/api/deck/new/", asParts, "--x\r\n"+parts(longBody-20, "%s:\r\n")+"\r\n\r\n--x--\r\n")},
	{"hands, completed", 64, false, true, completed("/shuffle", asJSON, many(longBody, `{"size":52,"hands":[1`, ",1", "]}"))},
	{"members of an item, completed", 64, false, true, completed("/shuffle", asJSON, `{"items":[1,{`+parts(longBody-40, `"%s":1,`)+`"":1}]}`)},
}

// fewParts are the attacks without everyHostile: a header, a query, a form and JSON bodies.
var fewParts = []string{"fields, body held", "parameters, deck locked", "parts of a form, deck locked", "members of an item, commit awaited", "members, completed"}

// TestManyPartsStayWithinMemory has thousands of connections, of one address, of ten and of two dozen, send
// requests of thousands of tiny parts (H10).
func TestManyPartsStayWithinMemory(t *testing.T) {
	t.Parallel()
	connections := attackSize(1_700, 9_500)
	canOpen(t, connections+500)
	for _, attack := range manyParts {
		for _, peers := range []int{1, 10, 24} {
			if !everyHostile && (peers != 10 || !slices.Contains(fewParts, attack.name)) {
				continue
			}
			t.Run(fmt.Sprintf("%s, of %d", attack.name, peers), func(t *testing.T) {
				t.Parallel()
				l := launch{args: []string{"-deckofcards", "-memory", fmt.Sprint(attack.memory << 20), "-max-body", fmt.Sprint(1 << 20), "-max-items", "5000", "-header-timeout=1m"}}
				promised := 2*attack.memory + 256
				if everyHostile {
					l, promised = launch{args: []string{"-deckofcards", "-header-timeout=1m"}}, 2*512+256
				}
				if attack.locked {
					data, _, wal := newStore(t)
					l.data = data
					l.wrapper, _ = strace(t, "fsync:delay_enter=2000000", wal)
				}
				if attack.keys {
					with, _ := configured(t, fmt.Sprintf("keys:\n  - {name: table, sha256: %x, may: [shuffle]}\n", access.NewToken().Digest()))
					l.args = append(l.args, with.args...)
				}
				s := l.start(t)
				text := attack.text
				if attack.locked {
					shoe := textMember(t, s.post("/shoes", `{"deck":"standard52","decks":78}`), "shoe_id")
					text = strings.NewReplacer("SHOE", "/shoes/"+shoe, "DECK", "/api/deck/"+strings.ReplaceAll(shoe, "-", "")).Replace(text)
				}
				text, last, _ := strings.Cut(text, "\x00")
				open := s.attackFrom(peers, connections, text)
				if last != "" {
					complete(open, last)
				}
				a, err := s.from("127.0.0.2", false).ask(http.MethodGet, "/healthz", "")
				assert.Truef(t, err == nil && a.status == http.StatusOK, "another caller is answered %v, %v", a, err)
				if peak := s.memory("VmHWM"); peak > promised {
					t.Errorf("%s: %d connections take %d MiB, want at most %d", t.Name(), len(open), peak, promised)
				} else {
					t.Logf("%s: %d connections take %d of %d MiB", t.Name(), len(open), peak, promised)
				}
			})
		}
	}
}

// complete sends the last byte on all connections concurrently, and waits for their answers or ends.
func complete(open []net.Conn, last string) {
	var group sync.WaitGroup
	for _, c := range open {
		group.Go(func() {
			_ = c.SetDeadline(time.Now().Add(waitLimit))
			_, _ = io.WriteString(c, last)
			_, _ = c.Read(make([]byte, 1))
		})
	}
	group.Wait()
}

// TestUnreadBodies holds back bodies of requests whose answers do not depend on them. The answers
// arrive, and then the connection ends. A short, complete body leaves the connection open.
func TestUnreadBodies(t *testing.T) {
	t.Parallel()
	l, _ := configured(t, fmt.Sprintf("keys:\n  - {name: table, sha256: %x, may: [shuffle]}\nanonymous: {may: [read]}\n", access.NewToken().Digest()), "-deckofcards", "-read-timeout=1h")
	s := l.start(t)
	var group sync.WaitGroup
	for _, c := range []struct {
		request string
		fields  string
		want    int
	}{
		{"POST /shuffle", asJSON, 401},
		{"POST /api/deck/new/", asJSON, 401},
		{"POST /nothing", asJSON, 404},
		{"DELETE /shuffle", "", 405},
		{"POST /shuffle", strings.Repeat("X: \r\n", 101), 431},
		{"GET /decks", "", 200},
		{"GET /", "Accept: text/html\r\n", 200},
		{"GET /healthz", "", 200},
	} {
		for _, v := range []struct {
			length string
			body   string
			keeps  bool
		}{
			{"Content-Length: 65536", "{", false},
			{"Content-Length: 2", "{", false},
			{"Transfer-Encoding: chunked", "1\r\n{", false},
			{"Content-Length: 2\r\nExpect: 100-continue", "", false},
			{"Content-Length: 2", "{}", true},
		} {
			text := c.request + " HTTP/1.1\r\nHost: localhost\r\n" + c.fields + v.length + "\r\n\r\n" + v.body
			group.Go(func() { s.leaveBody(text, c.want, v.keeps) })
		}
	}
	group.Wait()
}

// leaveBody sends a request whose body is not read, and checks the answer and whether the connection
// can be reused.
func (s *server) leaveBody(text string, want int, keeps bool) {
	conn, err := dialer("127.0.0.3").DialContext(s.t.Context(), "tcp", s.addr)
	if err != nil {
		s.t.Error(err)
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(waitLimit))
	in := bufio.NewReader(conn)
	for range 2 {
		_, _ = io.WriteString(conn, text)
		answer, err := http.ReadResponse(in, nil)
		if err != nil || answer.StatusCode != want || answer.Close == keeps {
			s.t.Errorf("%q is answered %v, %v", text, answer, err)
			return
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if !keeps {
			break
		}
	}
	if keeps {
		return
	}
	_, err = in.ReadByte()
	assert.NotErrorIsf(s.t, err, os.ErrDeadlineExceeded, "%q: the connection stays", text)
}
