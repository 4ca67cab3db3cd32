package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"riffle/internal/ledger"
	"riffle/internal/ledger/ledgertest"
)

// appendPlain is the reference of [writer.append]: plain statements over database/sql.
func appendPlain(ctx context.Context, db *sql.DB, batch ledger.Batch) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	update := func(query string, args ...any) error {
		result, err := tx.ExecContext(ctx, query, args...)
		if err != nil {
			return err
		}
		if n, err := result.RowsAffected(); err != nil || n != 1 {
			return errors.Join(err, ledger.ErrConflict)
		}
		return nil
	}
	null := func(value any) any {
		if value == "" || value == int64(0) {
			return nil
		}
		return value
	}
	h := &batch.Head
	err = update("UPDATE head SET size = ?, edge = ?, checkpoint = ?, seed_key = coalesce(?, x''), seeds_from = ? WHERE size = ? AND (checkpoint = x'') = ?",
		h.Size, h.Edge, h.Checkpoint, h.SeedKey, h.SeedsFrom, batch.Size, len(batch.Entries) == 0)
	for _, n := range batch.Nodes {
		err = errors.Join(err, update("INSERT INTO nodes (level, idx, hash) VALUES (?, ?, ?)", n.Level, n.Index, n.Hash[:]))
	}
	for i, e := range batch.Entries {
		index := batch.Size + uint64(i)
		err = errors.Join(err, update("INSERT INTO entries (idx, id, reference, record, secret, hash) VALUES (?, ?, ?, ?, ?, ?)",
			index, e.ID[:], null(e.Reference), e.Record, e.Sidecar, e.Hash[:]))
		for _, c := range e.Claims {
			if c.Taken {
				err = errors.Join(err, update("UPDATE claims SET idx = ?, status = ?, due = ? WHERE name = ? AND idx = ?",
					index, null(c.Status), null(c.Due), c.Name, c.From))
			} else {
				err = errors.Join(err, update("INSERT INTO claims (name, idx, status, due) VALUES (?, ?, ?, ?)",
					c.Name, index, null(c.Status), null(c.Due)))
			}
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// dump returns the rows of all tables of the ledger.
func dump(t *testing.T, db *sql.DB) string {
	t.Helper()
	var text strings.Builder
	for _, table := range []string{"head", "nodes", "entries", "claims"} {
		if err := dumpTable(t.Context(), &text, db, table); err != nil {
			t.Fatal(err)
		}
	}
	return text.String()
}

func dumpTable(ctx context.Context, w io.Writer, db *sql.DB, table string) (err error) {
	rows, err := db.QueryContext(ctx, "SELECT * FROM "+table+" ORDER BY 1, 2")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	row, into := make([]any, len(columns)), make([]any, len(columns))
	for i := range row {
		into[i] = &row[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s %v\n", table, row); err != nil {
			return err
		}
	}
	return rows.Err()
}

func TestWriterMatchesPlainStatements(t *testing.T) {
	path, plainPath := newPath(t), newPath(t)
	s := open(t, path)
	defer closeStore(t, s)
	closeStore(t, open(t, plainPath))
	db, plain := openDB(t, path), openDB(t, plainPath)

	many := ledgertest.Entries("many", 700)
	for i := range many {
		many[i].Claims = []ledger.Claim{{Name: fmt.Sprint("claim ", i)}, {Name: fmt.Sprint("due ", i), Status: "open", Due: int64(1 + i)}}
	}
	many[3].Reference, many[4].Sidecar = "game", nil
	transfer := ledgertest.Entries("transfer", 40)
	for i := range transfer {
		transfer[i].Claims = []ledger.Claim{
			{Name: fmt.Sprint("due ", i), Taken: true, From: uint64(i), Status: []string{"", "done"}[i%2]},
			{Name: fmt.Sprint("due ", 100+i), Taken: true, From: uint64(100 + i), Status: "open", Due: int64(101 + i), Unchanged: true},
		}
	}
	withClaim := func(label string, claims ...ledger.Claim) []ledger.Entry {
		entries := ledgertest.Entries(label, 2)
		entries[1].Claims = claims
		return entries
	}
	chain := ledgertest.NewChain(t)
	for _, v := range []struct {
		name     string
		entries  []ledger.Entry
		conflict bool
	}{
		{name: "begin"},
		{name: "one", entries: ledgertest.Entries("one", 1)[:1]},
		{name: "begin again", conflict: true},
		{name: "transfer before there is a holder", entries: transfer, conflict: true},
		{name: "many", entries: many},
		{name: "an id again", entries: ledgertest.Entries("one", 2), conflict: true},
		{name: "a claim again", entries: withClaim("again", ledger.Claim{Name: "claim 7"}), conflict: true},
		{name: "transfer", entries: transfer, conflict: true}, // the first record of many has index 1
		{name: "transfer from the holders", entries: shifted(transfer, 1)},
		{name: "from an earlier holder", entries: withClaim("late", ledger.Claim{Name: "due 0", Taken: true, From: 1}), conflict: true},
		{name: "unchanged from an earlier holder", entries: withClaim("later", ledger.Claim{Name: "due 100", Taken: true, From: 101, Unchanged: true}), conflict: true},
	} {
		attempt := *chain
		batch := attempt.Next(v.entries...)
		for engine, err := range map[string]error{"writer": s.Append(t.Context(), batch), "plain": appendPlain(t.Context(), plain, batch)} {
			if (err != nil) != v.conflict {
				t.Fatalf("%s, %s: %v, want a conflict: %t", v.name, engine, err, v.conflict)
			}
		}
		if !v.conflict {
			*chain = attempt
		}
		if got, want := dump(t, db), dump(t, plain); got != want {
			t.Fatalf("%s: the writer left\n%.2000s\nwant\n%.2000s", v.name, got, want)
		}
	}
	chain.CheckLog(s)
}

// shifted returns the entries with claims from holders whose index is larger by n.
func shifted(entries []ledger.Entry, n uint64) []ledger.Entry {
	list := append([]ledger.Entry(nil), entries...)
	for i := range list {
		list[i].Claims = append([]ledger.Claim(nil), list[i].Claims...)
		for k := range list[i].Claims {
			list[i].Claims[k].From += n
		}
	}
	return list
}
