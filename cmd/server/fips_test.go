package main_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres/postgrestest"
)

// TestFIPSMode restarts a server with FIPS 140-3 mode off, only and on. Each start encrypts and decrypts
// every kind of sidecar, old ones included.
func TestFIPSMode(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	var retries []*keyed
	var answered []shuffled
	var committed commitment
	var dealt shoe
	for i, mode := range []string{"off", "only", "on", "only", "off"} {
		s := launch{data: data, env: []string{"GODEBUG=fips140=" + mode}}.overTLS(t)
		if i == 0 {
			committed, dealt = s.commit(smallShuffle), s.newShoe(`{"deck": "standard52", "reference": "fault"}`)
		}
		for _, d := range answered {
			var revealed struct{ Seed string }
			if s.read(s.post("/audits/"+d.AuditID+"/reveal", `{"seed": "`+d.Seed+`"}`), &revealed); revealed.Seed != d.Seed {
				t.Errorf("fips140=%s: %s reveals the seed %s, want %s", mode, d.AuditID, revealed.Seed, d.Seed)
			}
		}
		a := s.useCommitment(committed.ID)
		assert.Equalf(t, http.StatusOK, a.status, "fips140=%s: the commitment is used with %v", mode, a)
		committed = s.commit(smallShuffle)
		retries = append(retries,
			&keyed{path: "/shuffle", body: smallShuffle, key: "shuffle-" + fmt.Sprint(i)},
			&keyed{path: "/shoes/" + dealt.ID + "/draw?proof=true", body: `{"from": "random"}`, key: "draw-" + fmt.Sprint(i)})
		for _, k := range retries {
			assert.NoErrorf(t, k.send(s), "fips140=%s: %s", mode, k.path)
		}
		answered = append(answered, s.shuffle(smallShuffle))
		s.checkLog("fault", answered)
		if i == 4 {
			for _, a := range []*answer{s.post("/shoes/"+dealt.ID+"/close", `{}`), s.get("/shoes/" + dealt.ID + "/proof")} {
				assert.Equalf(t, http.StatusOK, a.status, "the shoe at its end is answered %v", a)
			}
		}
		s.stop()
	}
}

// TestFIPSModeWithPostgreSQL logs in with a SCRAM password, and is refused without a panic where the
// server asks for MD5.
func TestFIPSModeWithPostgreSQL(t *testing.T) {
	t.Parallel()
	folder, err := os.MkdirTemp("", "riffle-hba-") // not t.TempDir, which the user postgres cannot read
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	hba := filepath.Join(folder, "pg_hba.conf")
	const rules = "host all md5 127.0.0.1/32 md5\nhost all scram 127.0.0.1/32 scram-sha-256\nhost all all 127.0.0.1/32 trust\n"
	require.NoError(t, os.WriteFile(hba, []byte(rules), 0o644))
	require.NoError(t, os.Chmod(folder, 0o755))
	c := postgrestest.For(t, "hba_file="+hba)
	for role, encryption := range map[string]string{"md5": "md5", "scram": "scram-sha-256"} {
		sql := fmt.Sprintf("SET password_encryption = '%s'; CREATE ROLE %s SUPERUSER LOGIN PASSWORD '%s'", encryption, role, postgrestest.Password())
		require.NoError(t, c.Exec(t.Context(), sql))
	}
	as := func(role string) *server {
		store := strings.Replace(c.URL(c.NewDatabase(t)), "//riffle:", "//"+role+":", 1)
		return launch{args: []string{"-store", store}, env: []string{"GODEBUG=fips140=only"}}.startOrExit(t)
	}
	if s := as("scram"); s.addr == "" {
		t.Errorf("with a SCRAM password the server exits:\n%s", s.log)
	} else {
		s.shuffle(smallShuffle)
		s.stop()
	}
	s := as("md5")
	if text := s.log.String(); s.addr != "" || s.code() != 1 || !strings.Contains(text, "md5") || strings.Contains(text, "goroutine") {
		t.Errorf("with an MD5 password: %s", text)
	}
}
