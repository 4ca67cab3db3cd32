package clientstest

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// A Browser is a page in a browser, which web/test/browser.mjs drives.
type Browser struct {
	t   testing.TB
	in  *json.Encoder
	out *json.Decoder
}

// NewBrowser starts a browser, which ends with the test.
func NewBrowser(t testing.TB) *Browser {
	t.Helper()
	Require(t, "chromium-headless-shell")
	web := filepath.Join(Repository(t), "web")
	if _, err := os.Stat(filepath.Join(web, "node_modules")); err != nil && os.Getenv("CI") == "" {
		t.Skip("skipped: run npm ci in web: ", err)
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), Require(t, "node"), filepath.Join(web, "test", "browser.mjs")) //nolint:gosec // of the repository
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	require.NoError(t, err)
	out, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = command.Wait() // until the browser has ended
	})
	return &Browser{t, json.NewEncoder(in), json.NewDecoder(out)}
}

// Open opens an address.
func (b *Browser) Open(url string) { b.t.Helper(); b.must("open", url) }

// Until waits until an expression of the page is true.
func (b *Browser) Until(expression string) { b.t.Helper(); b.must("until", expression) }

// Upload gives a file to an element of the page.
func (b *Browser) Upload(selector, file string) { b.t.Helper(); b.must("upload", selector, file) }

func (b *Browser) must(words ...string) {
	b.t.Helper()
	require.NoError(b.t, b.run(nil, words...), words)
}

// Evaluate evaluates an expression in the page, and awaits it if it is a promise.
func (b *Browser) Evaluate(expression string, into any) error {
	return b.run(into, "evaluate", expression)
}

func (b *Browser) run(into any, words ...string) error {
	answer := struct {
		Value any
		Error string
	}{Value: into}
	if err := errors.Join(b.in.Encode(words), b.out.Decode(&answer)); err != nil {
		return err
	}
	if answer.Error != "" {
		return errors.New(answer.Error)
	}
	return nil
}
