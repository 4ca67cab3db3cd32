package main_test

import (
	"cmp"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/liveshoes"
	shoes "riffle/internal/shoe"
	"riffle/internal/shuffle"
)

// expensive forms the accepted request of each operation that takes most memory, from the limits of
// a service and the cost rule. The service has a deck, records and shoes that are as large as
// permitted.
type expensive struct {
	*server
	items, results, body uint64              // limits
	values               map[string]string   // of parameters, and ids by collection or by the end of the path
	bodies               map[string][]string // by operation
	shoes                []string            // more than are cached, besides the one in values
}

const (
	largestDeck = 10_000 // cards of an operator's deck
	manyShoes   = 50
)

// inOrder are the operations that need the cards of a shoe where the one before left them.
var inOrder = []string{
	"POST /shoes/{id}/draw", "GET /shoes/{id}/piles/{pile}", "GET /shoes/{id}/cards/{position}/proof", "POST /shoes/{id}/piles/{pile}/shuffle",
	"POST /shoes/{id}/piles/{pile}/draw", "GET /shoes/{id}/dealt", "POST /shoes/{id}/piles/{pile}/add", "POST /shoes/{id}/piles/{pile}/return",
	"POST /shoes/{id}/return", "POST /shoes/{id}/reshuffle", "DELETE /shoes/{id}", "POST /shoes/{id}/close",
}

// setting returns a number that a launch sets, or the program's default.
func (l launch) setting(t *testing.T, name string) uint64 {
	t.Helper()
	_, _, help := runToExit(t, nil, "--help")
	text := regexp.MustCompile(`--` + name + `\b[^(]*\(default (\w+)\)`).FindStringSubmatch(help)[1]
	if i := slices.Index(l.args, "-"+name); i >= 0 {
		text = l.args[i+1]
	}
	n, err := humanize.ParseBytes(text)
	require.NoError(t, err)
	return n
}

// texts returns a JSON array of n strings that takes at most so many bytes.
func texts(n, bytes uint64) string {
	return "[" + strings.Repeat(`"`+strings.Repeat("x", int(bytes/n-3))+`",`, int(n-1)) + `""]`
}

// newExpensive starts a service, and makes what the requests are about.
func newExpensive(t *testing.T, l launch) *expensive {
	t.Helper()
	cards := []string{}
	for i := range largestDeck {
		cards = append(cards, fmt.Sprintf(`{"code":"c%d","name":{"en":"%s","zh":"牌"},"glyph":"?","attributes":{}}`, i, strings.Repeat("W@ ", 20)))
	}
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "many.json"), fmt.Appendf(nil,
		`{"type":"many","name":{"en":"Many","zh":"多"},"family":"flags","size":%d,"cards":[%s]}`, largestDeck, strings.Join(cards, ",")), 0o600))
	d := &expensive{items: l.setting(t, "max-items"), results: l.setting(t, "max-results"), body: l.setting(t, "max-body")}
	l.args = append(l.args, "-decks", folder, "-access-log=false")
	d.server = l.start(t)

	one := audit.Statement{Algorithm: shuffle.AlgorithmFisherYates, Size: d.items, Draw: d.items, Repeat: 1, Input: audit.RangeInput}
	repeated := fmt.Sprintf(`{"size":%d,"repeat":%d,"reveal":"now"}`, d.items, min(d.results/d.items, audit.MaxCost/one.Cost()))
	list := fmt.Sprintf(`{"items":%s}`, texts(d.items, d.body-1024))
	hands := fmt.Sprintf(`{"size":%d,"draw":1000,"hands":[1%s]}`, uint64(audit.MaxSize), strings.Repeat(",1", 999))
	reference := strings.Repeat("r", audit.MaxReference)
	sealed := fmt.Sprintf(`{"items":%s,"reference":%q}`, texts(shoes.MaxCards, liveshoes.MaxItemBytes), reference)
	numbers, pile := sequence(0, shoes.MaxCards-1, 1), strings.Repeat("p", liveshoes.MaxNameBytes/shoes.MaxPiles)
	named := func(cards []int) []string {
		return []string{strings.ReplaceAll(fmt.Sprintf(`{"cards":%v}`, cards), " ", ",")}
	}
	all := fmt.Sprintf(`"from":"random","count":%d}`, shoes.MaxCards-shoes.MaxPiles+1)
	drawn := d.shuffle(largeShuffle)
	dealt := d.shuffle(fmt.Sprintf(`{"deck":"many","hands":[20%s],"reveal":"now"}`, strings.Repeat(",20", 9))).AuditID
	d.bodies = map[string][]string{
		"POST /shuffle":                         {list, repeated},
		"POST /commitments":                     {list, hands},
		"POST /audits/{id}/reveal":              {fmt.Sprintf(`{"seed":%q}`, drawn.Seed)},
		"POST /shoes":                           {sealed},
		"POST /shoes/{id}/draw":                 {fmt.Sprintf(`{"to":%q,`, pile) + all},
		"POST /shoes/{id}/piles/{pile}/shuffle": {`{"algorithm":"sattolo"}`},
		"POST /shoes/{id}/piles/{pile}/draw":    {"{" + all},
		"POST /shoes/{id}/piles/{pile}/add":     named(numbers),
		"POST /shoes/{id}/piles/{pile}/return":  named(numbers[:shoes.MaxCards/2]),
		"POST /shoes/{id}/return":               named(numbers[shoes.MaxCards/2:]),
		"POST /shoes/{id}/reshuffle":            {`{"cards":"all","algorithm":"sattolo"}`},
		"POST /shoes/{id}/close":                {`{}`},
	}
	for range manyShoes + 1 {
		d.shoes = append(d.shoes, textMember(t, d.accepted("POST", "/shoes", sealed), "shoe_id"))
	}
	path := "/shoes/" + d.shoes[manyShoes]
	for range attackSize(40, 500) { // twice as many of the longest records, for a tile and a page
		d.accepted("POST", path+"/draw", "{"+all)
		d.accepted("POST", path+"/return", `{"cards":"all"}`)
	}
	for i := range shoes.MaxPiles - 1 {
		d.accepted("POST", path+"/draw", fmt.Sprintf(`{"to":"%0*d"}`, len(pile), i))
	}
	d.values = map[string]string{
		"shoes": d.shoes[manyShoes], "pile": pile, "position": fmt.Sprint(shoes.MaxCards - 1), "tile": "entries/000",
		"type": "many", "file": fmt.Sprintf("c%d.svg", largestDeck-1), "decks": fmt.Sprint(d.items / largestDeck), "reference": reference,
		"commitments": textMember(t, d.accepted("POST", "/commitments", hands), "commitment_id"),
		"audits":      textMember(t, d.accepted("GET", path, ""), "changed_by"), "reveal": drawn.AuditID, "picture.png": dealt,
	}
	d.shoes = d.shoes[:manyShoes]
	return d
}

// accepted sends a request until the service has room for it, and returns the answer, which must be
// 200.
func (d *expensive) accepted(method, path, body string) (a *answer) {
	d.t.Helper()
	until(d.t, method+" "+path+" is answered", func() (done bool) {
		var err error
		a, err = d.from("127.0.0.2", false).ask(method, path, body)
		return err == nil && a.status != http.StatusServiceUnavailable && a.status != http.StatusTooManyRequests
	})
	require.Equalf(d.t, http.StatusOK, a.status, "%s %s %.100s: %v", method, path, body, a)
	return a
}

// target returns the path and query of an operation, with the largest value of each parameter.
func (d *expensive) target(path string, parameters openapi3.Parameters) string {
	parts, query := strings.Split(path, "/"), url.Values{}
	for _, p := range parameters {
		name, schema := p.Value.Name, p.Value.Schema.Value
		value := d.values[name]
		switch {
		case name == "id":
			value = cmp.Or(d.values[parts[len(parts)-1]], d.values[parts[1]])
		case value == "" && schema.Type.Is("boolean") && name != "witnessed": // by nobody here
			value = "true"
		case value == "" && schema.Max != nil && *schema.Max < audit.MaxSize:
			value = fmt.Sprint(uint64(*schema.Max))
		}
		if p.Value.In == "path" {
			require.NotEmptyf(d.t, value, "no value of %s for %s", name, path)
			path = strings.Replace(path, "{"+name+"}", value, 1)
		} else if p.Value.In == "query" && value != "" {
			query.Set(name, value)
		}
	}
	return path + "?" + query.Encode()
}

// settles waits until the service idles, for half a second at most.
func (s *server) settles() {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for range 5 {
		before := s.processorTime()
		if <-tick.C; s.processorTime()-before < 30*time.Millisecond {
			return
		}
	}
}

// TestEveryRouteStaysWithinMemory has more connections than may be open send the most expensive
// request of each operation of the contract (H3), about many shoes if it is about one. They read no
// answers.
func TestEveryRouteStaysWithinMemory(t *testing.T) {
	t.Parallel()
	connections := attackSize(1_000, 3_000)
	canOpen(t, connections+500)
	l, promised := attacked()
	d := newExpensive(t, l)
	doc, err := openapi3.NewLoader().LoadFromFile("../../openapi.yaml")
	require.NoError(t, err)
	operations := map[string]openapi3.Parameters{"GET /docs/operations/README": nil, "GET /docs/search.json": nil} // pages are not in the contract
	for path, item := range doc.Paths.Map() {
		for method, operation := range item.Operations() {
			name := method + " " + path
			operations[name] = slices.Concat(item.Parameters, operation.Parameters)
			assert.Equal(t, operation.RequestBody != nil, d.bodies[name] != nil, name)
		}
	}
	others := slices.DeleteFunc(slices.Sorted(maps.Keys(operations)), func(name string) bool { return slices.Contains(inOrder, name) })
	for _, name := range append(others, inOrder...) {
		method, path, _ := strings.Cut(name, " ")
		target, forms := d.target(path, operations[name]), d.bodies[name]
		if forms == nil {
			forms = []string{""}
		}
		for _, body := range forms {
			d.accepted(method, target, body)
		}
		_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", d.cmd.Process.Pid), []byte("5"), 0) // or peaks are of all that came before, too
		var open []net.Conn
		for _, body := range forms {
			text := fmt.Sprintf("%s %s HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", method, target, len(body), body)
			many := min(connections/len(forms), 100<<20/len(text)) // bodies of 100 MiB exceed any share
			if !strings.Contains(path, "/shoes/{id}") {
				open = append(open, d.attackFrom(10, many, text)...)
				continue
			}
			for i, shoe := range d.shoes {
				open = append(open, d.attack(many/manyShoes, fmt.Sprintf("127.0.1.%d", i%20+1), strings.Replace(text, d.values["shoes"], shoe, 1))...)
			}
		}
		d.settles()
		peak := d.memory("VmHWM")
		t.Logf("%s: %d connections take %d of %d MiB", name, len(open), peak, promised)
		assert.LessOrEqual(t, peak, promised, name)
		for _, c := range open {
			_ = c.Close()
		}
	}
}

// attacked returns a launch with default settings, and the README's promise of its memory in MiB.
// Attacks that take seconds are on a service that promises less.
func attacked() (l launch, promised int) {
	if everyHostile {
		return launch{args: []string{"-deckofcards"}}, 2*512 + 256
	}
	return launch{args: []string{"-deckofcards", "-memory", fmt.Sprint(64 << 20), "-max-body", fmt.Sprint(1 << 20), "-max-items", "10000"}}, 2*64 + 256
}
