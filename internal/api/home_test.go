package api_test

import (
	"io"
	"net/http"
	"testing"
)

// Browsers get the first page, and programs get JSON.
func TestBrowsersGetAPage(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "page") }
	with, without := start(t, setup{home: page}), start(t, setup{})
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		s      *service
		accept string
		page   bool
	}{
		{with, browser, true},
		{with, "*/*", false},
		{with, "text/html;q=0", false},
		{without, browser, false},
	} {
		r := get(t, "/")
		r.Header.Set("Accept", c.accept)
		if got := c.s.send(t, r); got.status != http.StatusOK || (got.body == "page") != c.page {
			t.Errorf("one who accepts %s: %d, %.50s", c.accept, got.status, got.body)
		}
	}
}
