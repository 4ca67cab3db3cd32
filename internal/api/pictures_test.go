package api_test

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/picture"
)

// Browsers that open a deck get a page, whose style its policy allows, and others one sheet. Both
// are charged for before they are drawn.
func TestEveryDeckHasAPageAndASheet(t *testing.T) {
	s := start(t, setup{})
	for _, kind := range s.Rules.Decks.Types() {
		_, style, _ := strings.Cut(string(picture.Page(kind)), "<style>")
		style, _, _ = strings.Cut(style, "</style>")
		digest := sha256.Sum256([]byte(style))
		policy := "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(digest[:]) + "'"
		for accept, want := range map[string]struct{ body, media, policy string }{
			"text/html,application/xhtml+xml,*/*;q=0.8": {string(picture.Page(kind)), "text/html; charset=utf-8", policy},
			"image/avif,image/svg+xml,*/*;q=0.8":        {string(picture.Deck(kind)), "image/svg+xml", ""},
			"":                                          {string(picture.Deck(kind)), "image/svg+xml", ""},
		} {
			r := get(t, "/cards/"+kind.Name)
			if accept != "" {
				r.Header.Set("Accept", accept)
			}
			got := s.send(t, r)
			assert.Equal(t, http.StatusOK, got.status, kind.Name)
			assert.Equal(t, want.body, got.body, kind.Name)
			assert.Equal(t, want.media, got.header.Get("Content-Type"), kind.Name)
			if want.policy != "" {
				assert.Equal(t, want.policy, got.header.Get("Content-Security-Policy"), kind.Name)
			}
			assert.Contains(t, got.header.Values("Vary"), "Accept", kind.Name)
			most := picture.MaxDeckSize(kind)
			assert.Truef(t, len(got.body) <= most, "%s: %d bytes, more than the %d charged for", kind.Name, len(got.body), most)
		}
	}
}

// A caller who has a picture need not have it sent again, and one who has another one gets it.
func TestPicturesHaveTags(t *testing.T) {
	s := start(t, setup{})
	for _, path := range []string{"/cards/standard52/AS.svg", "/cards/hanafuda48"} {
		tag := s.send(t, get(t, path)).header.Get("ETag")
		other := s.send(t, get(t, "/cards/standard52/back.svg")).header.Get("ETag")
		require.Truef(t, tag != "" && tag != other, "%s has the tag %q, and the back of a card %q", path, tag, other)
		for _, c := range []struct {
			named  []string
			status int
		}{
			{[]string{tag}, 304},
			{[]string{`"a"`, `W/"b" , W/` + tag}, 304},
			{[]string{"*"}, 304},
			{nil, 200},
			{[]string{`"a"`}, 200},
			{[]string{strings.Trim(tag, `"`)}, 200},
			{[]string{strings.ToUpper(tag) + "x"}, 200},
		} {
			r := get(t, path)
			r.Header["If-None-Match"] = c.named
			if got := s.send(t, r); got.status != c.status || (got.body == "") != (c.status == 304) || got.header.Get("ETag") != tag {
				t.Errorf("%s to one who has %q: %d %v", path, c.named, got.status, got.header)
			}
		}
	}
}

// TestADealIsDrawnOnceItsSeedIsPublic compares the pictures of two shuffles: as long as their seeds
// are secret they are the same, so they show no card, and afterwards each shows its own.
func TestADealIsDrawnOnceItsSeedIsPublic(t *testing.T) {
	noon := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	s := start(t, setup{now: func() time.Time { return noon }})
	one, two := mustShuffle(t, s, `{"deck":"standard52","hands":"bridge"}`), mustShuffle(t, s, `{"deck":"standard52","hands":"bridge"}`)
	drawn := func(id string) response { return s.send(t, get(t, "/audits/"+id+"/picture.png")) }
	hidden := drawn(one.AuditID)
	size, err := png.DecodeConfig(strings.NewReader(hidden.body))
	require.NoError(t, err)
	assert.True(t, size.Width == 1200 && size.Height == 630 && hidden.header.Get("Content-Type") == "image/png", hidden.header)
	assert.Equal(t, "public, max-age=60", hidden.header.Get("Cache-Control"))
	assert.Equal(t, hidden, drawn(two.AuditID), "the pictures of secret orders differ")

	for _, made := range []shuffleResult{one, two} {
		s.send(t, post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`))
	}
	shown, other := drawn(one.AuditID), drawn(two.AuditID)
	assert.NotEqual(t, hidden.body, shown.body)
	assert.NotEqual(t, shown.body, other.body, "another order looks the same")
	assert.Equal(t, shown.body, drawn(one.AuditID).body)
	assert.Equal(t, "public, max-age=86400", shown.header.Get("Cache-Control"))

	known := get(t, "/audits/"+one.AuditID+"/picture.png")
	known.Header.Set("If-None-Match", shown.header.Get("ETag"))
	unchanged := s.send(t, known)
	assert.Equal(t, http.StatusNotModified, unchanged.status)
	assert.Equal(t, shown.header.Values("Vary"), unchanged.header.Values("Vary"))
	known = get(t, "/audits/"+one.AuditID+"/picture.png")
	known.Header.Set("If-None-Match", hidden.header.Get("ETag"))
	assert.Equal(t, shown.body, s.send(t, known).body)
	head := s.send(t, request(t, http.MethodHead, "/audits/"+one.AuditID+"/picture.png"))
	assert.True(t, head.status == http.StatusOK && head.header.Get("ETag") == shown.header.Get("ETag"), head)
	s.sendCanceled(t, get(t, "/audits/"+one.AuditID+"/picture.png"))
}

// A picture says that it is face down, also above the deck of an operator with a long name, or with
// one that nobody can draw.
func TestAPictureSaysThatItIsFaceDown(t *testing.T) {
	s := start(t, setup{})
	for name, title := range map[string]string{"long": strings.Repeat("W", 200), "odd": "🎉"} {
		file := fmt.Sprintf(`{"type":%q,"name":{"en":%q,"zh":%q},"family":"odd","size":1,"cards":[{"code":"a","name":{"en":"A","zh":"A"},"glyph":"A"}]}`, name, title, title)
		require.NoError(t, s.Rules.Decks.Load(fstest.MapFS{name + ".json": {Data: []byte(file)}}))
		made := mustShuffle(t, s, `{"deck":"`+name+`"}`)
		heading := func() (pixels string) {
			drawn, err := png.Decode(strings.NewReader(s.send(t, get(t, "/audits/"+made.AuditID+"/picture.png")).body))
			require.NoError(t, err)
			for x := range drawn.Bounds().Dx() {
				pixels += fmt.Sprint(drawn.At(x, 56))
			}
			return pixels
		}
		hidden := heading()
		s.send(t, post(t, "/audits/"+made.AuditID+"/reveal", `{"seed":"`+made.Seed+`"}`))
		assert.NotEqual(t, hidden, heading(), title)
	}
}

// Whatever is shuffled has a picture, also an order that no deck explains.
func TestEveryShuffleHasAPicture(t *testing.T) {
	s := start(t, setup{})
	pictures := map[string]string{}
	for _, body := range []string{
		`{"items":["a","b","c"],"draw":2,`, `{"size":100,"draw":3,"repeat":4,`, `{"size":0,`, `{"items":["a"],"items_salt":"c0ffee0011223344",`,
		`{"deck":"mahjong136","hands":"mahjong",`, `{"deck":"undercover","parameters":{"players":7},`, `{"deck":"standard52","decks":8,"draw":400,`,
		`{"deck":"uno108","hands":[7,7,7],"draw":21,"algorithm":"sattolo",`,
	} {
		id := mustShuffle(t, s, body+`"reveal":"now"}`).AuditID
		got := s.send(t, get(t, "/audits/"+id+"/picture.png"))
		_, err := png.Decode(strings.NewReader(got.body))
		assert.Truef(t, err == nil && got.status == http.StatusOK, "%s: %d, %v", body, got.status, err)
		assert.Emptyf(t, pictures[got.body], "%s has the same picture", body)
		pictures[got.body] = body
	}
	shoe := mustCreateShoe(t, s, `{"deck":"standard52"}`)
	sealed := s.send(t, get(t, "/audits/"+shoe.AuditID+"/picture.png"))
	s.send(t, post(t, "/shoes/"+shoe.ShoeID+"/close", `{}`))
	closed := s.send(t, get(t, "/audits/"+shoe.AuditID+"/picture.png"))
	assert.True(t, sealed.status == http.StatusOK && closed.status == http.StatusOK && sealed.body != closed.body, "a closed shoe shows its cards")
}
