package cost

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"riffle/internal/ledger/postgres"
	"riffle/internal/ledger/postgres/postgrestest"
	"riffle/internal/ledger/sqlite"
)

// A kind is a series of requests whose records are measured. Each request has the number of the series in
// place of # and the last answer's shoe_id or commitment_id in place of {id}.
type kind struct {
	name     string
	requests []string // path, body
	records  int      // of a series
}

var kinds = []kind{
	{"a shuffle of 52", []string{"/shuffle", `{"deck": "standard52"}`}, 1},
	{"with a reference of 20 characters", []string{"/shuffle", `{"deck": "standard52", "reference": "#"}`}, 1},
	{"with an idempotency key", []string{"/shuffle?key", `{"deck": "standard52"}`}, 1},
	{"a list of 52 strings", []string{"/shuffle", `{"items": ` + cards + `}`}, 1},
	{"a draw of 5 of 52", []string{"/shuffle", `{"deck": "standard52", "draw": 5}`}, 1},
	{"a commitment and its use", []string{"/commitments", `{"deck": "standard52"}`, "/shuffle", `{"commitment_id": "{id}", "client_seed": "#"}`}, 2},
	{"a shoe", []string{"/shoes", `{"deck": "standard52"}`}, 1},
	{"a shoe and 10 draws", append([]string{"/shoes", `{"deck": "standard52"}`}, draws(10)...), 11},
}

func draws(n int) (list []string) {
	for range n {
		list = append(list, "/shoes/{id}/draw", `{}`)
	}
	return list
}

// TestBytes prints a table of the bytes that a record takes on disk, with -cost. Otherwise it sends each
// request once.
func TestBytes(t *testing.T) {
	cluster, series := postgrestest.For(t), 1
	if *cost {
		series = 2000
	}
	table := "| request | SQLite | PostgreSQL |\n|---|---|---|\n"
	for _, k := range kinds {
		path := filepath.Join(t.TempDir(), "riffle.db")
		file, err := sqlite.Open(t.Context(), path)
		require.NoError(t, err)
		size := func() int64 {
			info, err := os.Stat(path)
			require.NoError(t, err)
			return info.Size()
		}
		before := size()
		k.send(t, openOn(t, file), series)
		table += fmt.Sprintf("| %s | %d ", k.name, (size()-before)/int64(series*k.records))

		url := cluster.URL(cluster.NewDatabase(t))
		database, err := postgres.Open(t.Context(), url)
		require.NoError(t, err)
		k.send(t, openOn(t, database), series)
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		var bytes int64
		require.NoError(t, conn.QueryRow(t.Context(),
			"SELECT sum(pg_total_relation_size(c)) FROM unnest(ARRAY['entries', 'claims', 'nodes']::regclass[]) AS c").Scan(&bytes))
		require.NoError(t, conn.Close(t.Context()))
		table += fmt.Sprintf("| %d |\n", bytes/int64(series*k.records))
	}
	t.Log("bytes a record:\n" + table)
}

// send sends series of the requests and closes the log.
func (k *kind) send(t *testing.T, s *service, series int) {
	for i := range series {
		id := ""
		for at := 0; at < len(k.requests); at += 2 {
			fill := strings.NewReplacer("#", fmt.Sprintf("game %015d", i), "{id}", id)
			path, keyed := strings.CutSuffix(fill.Replace(k.requests[at]), "?key")
			r := jsonRequest(http.MethodPost, path, fill.Replace(k.requests[at+1]))
			if keyed {
				r.Header.Set("Idempotency-Key", fmt.Sprint("key-", i))
			}
			w := httptest.NewRecorder()
			s.handler.ServeHTTP(w, r)
			require.Equalf(t, http.StatusOK, w.Code, "%s: %s", path, w.Body)
			for _, name := range []string{"shoe_id", "commitment_id"} {
				if _, after, ok := strings.Cut(w.Body.String(), `"`+name+`":"`); ok {
					id, _, _ = strings.Cut(after, `"`)
				}
			}
		}
	}
	require.NoError(t, s.log.Close())
}
