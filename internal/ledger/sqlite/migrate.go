package sqlite

import (
	"context"
	"database/sql"
	"errors"

	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger"
)

// treeTables are what version 2 adds to the entries.
const treeTables = `
ALTER TABLE entries ADD COLUMN hash BLOB NOT NULL DEFAULT x''; -- of the record, as a leaf of the tree
CREATE TABLE nodes (
    level INTEGER NOT NULL, -- from 1: the node is over 256^level records
    idx   INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;
CREATE TABLE head (
    one        INTEGER PRIMARY KEY CHECK (one = 1),
    size       INTEGER NOT NULL,
    edge       BLOB NOT NULL,
    checkpoint BLOB NOT NULL -- empty until the log signs for the first time
) STRICT;
INSERT INTO head VALUES (1, 0, x'', x'');`

// plantTree is the migration to version 2. Records that were written before there was a tree are its first leaves.
func plantTree(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, treeTables); err != nil {
		return err
	}
	var tree ledger.Tree
	for {
		var record []byte
		err := tx.QueryRowContext(ctx, "SELECT record FROM entries WHERE idx = ?", int64(tree.Size())).Scan(&record)
		if errors.Is(err, sql.ErrNoRows) {
			break
		} else if err != nil {
			return err
		}
		hash := tlog.RecordHash(record)
		if _, err := tx.ExecContext(ctx, "UPDATE entries SET hash = ? WHERE idx = ?", hash[:], int64(tree.Size())); err != nil {
			return err
		}
		for _, n := range tree.Add(hash, nil) {
			if _, err := tx.ExecContext(ctx, "INSERT INTO nodes VALUES (?, ?, ?)", n.Level, int64(n.Index), n.Hash[:]); err != nil {
				return err
			}
		}
	}
	head := tree.Head()
	_, err := tx.ExecContext(ctx, "UPDATE head SET size = ?, edge = ?", int64(head.Size), head.Edge)
	return err
}
