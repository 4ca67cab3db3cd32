package main_test

import (
	"bytes"
	"image/png"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestLinksHavePictures gets the pictures that messengers show beside a link to a deal, in every log and
// language, by the address in the page.
func TestLinksHavePictures(t *testing.T) {
	t.Parallel()
	l, _ := configured(t, twoLogs)
	l.data = filepath.Join(t.TempDir(), "data")
	s := l.start(t)
	image := regexp.MustCompile(`<meta property="og:image" content="([^"]+)">`)
	for _, name := range []string{"main", "poker"} {
		in := s.in(name)
		id := in.shuffle(`{"deck": "standard52", "hands": "bridge", "reveal": "now"}`).AuditID
		for _, language := range []string{"en", "zh"} {
			page := in.get("/a/"+id, "Accept-Language", language)
			found := image.FindSubmatch(page.body)
			require.NotNilf(t, found, "%s", page.body)
			path, isAbsolute := strings.CutPrefix(string(found[1]), s.url(""))
			require.Truef(t, isAbsolute, "%s", found[1])
			picture := s.get(path)
			size, err := png.DecodeConfig(bytes.NewReader(picture.body))
			assert.Truef(t, err == nil && size.Width == 1200 && size.Height == 630, "%s: %v", path, picture)
			assert.Contains(t, string(page.body), `name="twitter:card" content="summary_large_image"`)
		}
		page := in.get("/a/"+id, "X-Forwarded-Proto", "https")
		assert.Contains(t, string(page.body), `content="https://`)
		for _, other := range []string{"x", id[:35], "%22%3E"} {
			assert.False(t, image.Match(in.get("/a/"+other).body), other)
			assert.Equal(t, http.StatusNotFound, in.get("/audits/"+other+"/picture.png").status, other)
		}
		assert.Equal(t, http.StatusNotFound, s.in("bridge").get("/audits/"+id+"/picture.png").status)
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
