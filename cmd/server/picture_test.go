package main_test

import (
	"bytes"
	"image/png"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinksHavePictures gets the pictures that messengers show beside a link to a deal, in every language,
// by the address in the page.
func TestLinksHavePictures(t *testing.T) {
	t.Parallel()
	s := launch{}.start(t)
	image := regexp.MustCompile(`<meta property="og:image" content="([^"]+)">`)
	id := s.shuffle(`{"deck": "standard52", "hands": "bridge", "reveal": "now"}`).AuditID
	for _, language := range []string{"en", "zh"} {
		page := s.get("/a/"+id, "Accept-Language", language)
		found := image.FindSubmatch(page.body)
		require.NotNilf(t, found, "%s", page.body)
		path, isAbsolute := strings.CutPrefix(string(found[1]), s.url(""))
		require.Truef(t, isAbsolute, "%s", found[1])
		picture := s.get(path)
		size, err := png.DecodeConfig(bytes.NewReader(picture.body))
		assert.Truef(t, err == nil && size.Width == 1200 && size.Height == 630, "%s: %v", path, picture)
		assert.Contains(t, string(page.body), `name="twitter:card" content="summary_large_image"`)
	}
	page := s.get("/a/"+id, "X-Forwarded-Proto", "https")
	assert.Contains(t, string(page.body), `content="https://`)
	for _, other := range []string{"x", id[:35], "%22%3E"} {
		assert.False(t, image.Match(s.get("/a/"+other).body), other)
		assert.Equal(t, http.StatusNotFound, s.get("/audits/"+other+"/picture.png").status, other)
	}
}

// TestManyPicturesAtOnce has many callers ask for pictures. Few are drawn at a time, within the
// memory that is promised, and others are served beside them.
func TestManyPicturesAtOnce(t *testing.T) {
	t.Parallel()
	l, promised := attacked()
	s := l.start(t)
	id := s.shuffle(`{"deck": "sanguosha160", "hands": [12,12,12,12,12,12,12,12,12,12], "reveal": "now"}`).AuditID
	var callers sync.WaitGroup
	for range attackSize(60, 300) {
		callers.Go(func() {
			a, err := s.ask(http.MethodGet, "/audits/"+id+"/picture.png", "")
			assert.Truef(t, err == nil && (a.status == http.StatusOK || a.status == http.StatusServiceUnavailable), "%v, %v", a, err)
		})
	}
	s.from("127.0.0.2", true).polite(50, smallShuffle)
	callers.Wait()
	assert.LessOrEqual(t, s.memory("VmHWM"), promised)
}
