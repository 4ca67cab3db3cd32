package anchor

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
)

// A row is the URL of a PostgreSQL database. Each path of logs needs a database of its own: its table
// riffle_anchor, which is created if it is missing, has one row.
type row string

const createTable = "CREATE TABLE IF NOT EXISTS riffle_anchor (one boolean PRIMARY KEY CHECK (one), checkpoint text NOT NULL)"

// Read implements holder. The checkpoint itself is the tag.
func (r row) Read(ctx context.Context) (note []byte, tag string, err error) {
	err = r.do(ctx, func(db *pgx.Conn) error {
		if _, err := db.Exec(ctx, createTable); err != nil {
			return err
		}
		err := db.QueryRow(ctx, "SELECT checkpoint FROM riffle_anchor").Scan(&tag)
		switch {
		case errors.Is(err, pgx.ErrNoRows):
			return nil
		case err == nil && tag == "":
			return errEmpty
		}
		return err
	})
	return []byte(tag), tag, err
}

// Replace implements holder.
func (r row) Replace(ctx context.Context, note []byte, tag string) error {
	return r.do(ctx, func(db *pgx.Conn) error {
		done, err := db.Exec(ctx, "INSERT INTO riffle_anchor VALUES (true, $1) ON CONFLICT (one) DO UPDATE SET checkpoint = $1 WHERE riffle_anchor.checkpoint = $2", string(note), tag)
		if err == nil && done.RowsAffected() == 0 {
			return ErrReplaced
		}
		return err
	})
}

func (r row) do(ctx context.Context, f func(*pgx.Conn) error) error {
	config, err := pgx.ParseConfig(string(r))
	if err != nil {
		return errors.New("the URL of the database cannot be read")
	}
	db, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	return errors.Join(f(db), db.Close(ctx))
}
