package api_test

import (
	"io"
	"net/http"
	"testing"
)

// Browsers get the page of a log, also without the slash after its name, and programs get JSON.
func TestBrowsersGetThePageOfALog(t *testing.T) {
	page := func(w http.ResponseWriter, _ *http.Request, _ string) { _, _ = io.WriteString(w, "page") }
	with, without := start(t, setup{logs: []string{"poker"}, home: page}), start(t, setup{logs: []string{"poker"}})
	const browser = "text/html,application/xhtml+xml,*/*;q=0.8"
	for _, c := range []struct {
		s            *service
		path, accept string
		status       int
		leads        string
		page         bool
	}{
		{with, "/", browser, 200, "", true},
		{with, "/logs/poker/", browser, 200, "", true},
		{with, "/logs/poker", browser, 308, "poker/", false},
		{with, "/", "*/*", 200, "", false},
		{with, "/", "text/html;q=0", 200, "", false},
		{with, "/logs/poker", "application/json", 404, "", false},
		{with, "/logs/main", browser, 404, "", false},
		{with, "/logs/p%6Fker", browser, 404, "", false},
		{with, "/logs/poker/logs/poker", browser, 404, "", false},
		{without, "/", browser, 200, "", false},
		{without, "/logs/poker", browser, 404, "", false},
	} {
		r := get(t, c.path)
		r.Header.Set("Accept", c.accept)
		if got := c.s.send(t, r); got.status != c.status || got.header.Get("Location") != c.leads || (got.body == "page") != c.page {
			t.Errorf("%s of one who accepts %s: %d, to %q, %.50s", c.path, c.accept, got.status, got.header.Get("Location"), got.body)
		}
	}
}
