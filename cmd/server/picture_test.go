package main_test

import (
	"bytes"
	"image/png"
	"net/http"
	"regexp"
	"strings"
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
