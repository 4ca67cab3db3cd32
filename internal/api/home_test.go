package api_test

import (
	"fmt"
	"image/png"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"riffle/internal/access"
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

// A link to any record is found and has a picture, one to none is not. Who may not read cannot tell.
func TestLinksToRecords(t *testing.T) {
	link := func(w http.ResponseWriter, _ *http.Request, found bool) { _, _ = fmt.Fprint(w, found) }
	s := start(t, setup{link: link})
	id := mustCommit(t, s, `{"size":5}`).CommitmentID
	assert.Equal(t, "true", s.send(t, get(t, "/a/"+id)).body)
	_, err := png.Decode(strings.NewReader(s.send(t, get(t, "/audits/"+id+"/picture.png")).body))
	assert.NoError(t, err)
	closed := start(t, setup{link: link, policy: access.NewPolicy(nil, &access.Grant{})})
	for _, none := range []string{id[:35], "x", "01890a5d-ac96-774b-bcce-b302099a8057"} {
		assert.Equal(t, "false", s.send(t, get(t, "/a/"+none)).body, none)
		assert.Equal(t, "true", closed.send(t, get(t, "/a/"+none)).body, none)
	}
}
