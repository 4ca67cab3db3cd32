package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

// A proofServer answers the proofs of a log as the service does, to holders of a token.
type proofServer struct {
	*httptest.Server
	proofs map[string]string // by audit id
	key    string
	asked  []string // paths, in order
}

// recordIn returns the record of a proof file.
func recordIn(t *testing.T, text string) *audit.Record {
	t.Helper()
	file, err := prooffile.Parse([]byte(text))
	require.NoError(t, err)
	record, err := audit.ParseRecord(file.Record)
	require.NoError(t, err)
	return record
}

const readToken = "rfl_0123456789012345678901234567890123456789012"

func serveProofs(t *testing.T, proofs ...string) *proofServer {
	t.Helper()
	s := &proofServer{proofs: map[string]string{}}
	for _, text := range proofs {
		s.proofs[recordIn(t, text).ID.String()] = text
	}
	other := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(other.Close)
	handle := func(w http.ResponseWriter, r *http.Request) {
		s.asked = append(s.asked, r.URL.Path)
		id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/poker/audits/"), "/proof")
		switch text, found := s.proofs[id]; {
		case r.Header.Get("Authorization") != "Bearer "+readToken:
			http.Error(w, "no token", http.StatusUnauthorized)
		case r.URL.Path == "/poker/log/key":
			_, _ = io.WriteString(w, s.key+"\n")
		case found:
			_, _ = io.WriteString(w, text)
		case strings.HasSuffix(id, "00"):
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusFound)
		case strings.HasSuffix(id, "01"):
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		case strings.HasSuffix(id, "02"):
			_, _ = io.WriteString(w, strings.Repeat(" ", prooffile.MaxText+1))
		default:
			http.NotFound(w, r)
		}
	}
	s.Server = httptest.NewServer(http.HandlerFunc(handle))
	t.Cleanup(s.Close)
	return s
}

// verify runs the command against the server. It returns what is printed, and the messages.
func (s *proofServer) verify(t *testing.T, args ...string) (code int, out, messages string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	err := run(t.Context(), append([]string{"verify", "--from", s.URL + "/poker/"}, args...), &stdout, &stderr)
	if err != nil {
		code = exitCode(err)
		stderr.WriteString(err.Error())
	}
	return code, stdout.String(), stderr.String()
}

// An audit id is enough: the proof and, on first use, the key come from the service, and the key is
// compared with the saved one from then on.
func TestVerifyFromAService(t *testing.T) {
	config := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", config)
	t.Setenv("HOME", config)
	t.Setenv("RIFFLE_TOKEN", readToken)
	vectors := readProofVectors(t, "proofs")
	committed := vectors[0]
	for _, v := range vectors {
		if v.Name == "committed, hands of a deck" {
			committed = v
		}
	}
	s := serveProofs(t, committed.Proof)
	s.key = committed.Key
	id := recordIn(t, committed.Proof).ID.String()

	code, out, messages := s.verify(t, "--key", committed.Key, id)
	if code != 0 || !strings.Contains(out, "\ncommitted    ok: ") || messages != "" || strings.Contains(strings.Join(s.asked, " "), "key") {
		t.Errorf("with a key: %d\n%s%s", code, out, messages)
	}
	saved := filepath.Join(config, "riffle", "known_logs")
	code, out, messages = s.verify(t, "--json", id)
	var found struct{ Notes []string }
	require.NoError(t, json.Unmarshal([]byte(out), &found))
	if code != 0 || len(found.Notes) == 0 || !strings.Contains(found.Notes[0], saved) || !strings.Contains(messages, "riffle: warning: The key of the log was taken from the service itself") || !strings.Contains(messages, s.key) {
		t.Errorf("on first use: %d\n%s%s", code, out, messages)
	}
	text, err := os.ReadFile(saved)
	assert.Truef(t, err == nil && string(text) == s.URL+"/poker "+s.key+"\n", "the key is saved as %q, %v", text, err)
	s.key = "gone" // it is not asked for again
	code, out, messages = s.verify(t, id)
	assert.Truef(t, code == 0 && messages == "", "on later use: %d\n%s%s", code, out, messages)
	write(t, saved, s.URL+"/poker example.com/other+7c13ef92+AVwlA0NG+Tm926VsAsfllmp7+9ZLJGkFF5yQuueU9UMz\n")
	if code, out, _ = s.verify(t, id); code != exitFindings || !strings.HasPrefix(out, "This proof does NOT verify: it fails at the step proof.") {
		t.Errorf("with another key than before: %d\n%s", code, out)
	}
	write(t, saved, s.URL+"/poker nothing\n")
	code, _, messages = s.verify(t, id)
	assert.Truef(t, code == exitUnchecked && strings.Contains(messages, "known_logs, the line of"), "with a damaged key: %d\n%s", code, messages)
}

func TestVerifyFromAServiceThatFails(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	v := readProofVectors(t, "proofs")[0]
	s := serveProofs(t, v.Proof)
	id := recordIn(t, v.Proof).ID.String()
	at := func(last string) string { return "019b7ca9-8c88-7e34-8a29-e0ab088154" + last }
	for _, c := range []struct{ name, token, id, want string }{
		{"without a token", "", id, "the server answers 401 Unauthorized: set RIFFLE_TOKEN to a token that may read"},
		{"another host", readToken, at("00"), "it redirects to another host, http://127.0.0.1:"},
		{"a circle", readToken, at("01"), "it redirects too often"},
		{"too long", readToken, at("02"), "it is longer than "},
		{"no such record", readToken, at("03"), "the server answers 404 Not Found, and no proof"},
	} {
		t.Setenv("RIFFLE_TOKEN", c.token)
		code, out, messages := s.verify(t, "--key", v.Key, c.id)
		if code != exitUnchecked || !strings.Contains(out, c.want) || c.token != "" && strings.Contains(out+messages, c.token) {
			t.Errorf("%s: %d, want %q\n%s%s", c.name, code, c.want, out, messages)
		}
	}
	t.Setenv("RIFFLE_TOKEN", readToken)
	s.key = "nothing"
	code, out, messages := s.verify(t, id)
	assert.Truef(t, code == exitUnchecked && strings.Contains(messages, "not a log key"), "no key: %d\n%s%s", code, out, messages)
	for from, want := range map[string]string{
		"http://riffle.example": "the token in RIFFLE_TOKEN is not sent to riffle.example, because http is not encrypted",
		"riffle.example":        `--from "riffle.example" is not the address of a service`,
		"https://a@b":           "is not the address of a service",
		"ftp://b":               "is not the address of a service",
	} {
		err := run(t.Context(), []string{"verify", "--from", from, id}, io.Discard, io.Discard)
		if err == nil || exitCode(err) != exitUnchecked || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), readToken) {
			t.Errorf("%s: %v, want %s", from, err, want)
		}
	}
	assert.ErrorIs(t, run(t.Context(), []string{"verify", id}, io.Discard, io.Discard), errUnchecked,
		"an id without a service")
}
