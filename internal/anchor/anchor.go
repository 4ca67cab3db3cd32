// Package anchor keeps a log's last checkpoint in places besides its store and its data folder. An old
// copy of both, such as a volume snapshot that was put back, looks sound by itself; an anchor shows that
// the log had more records.
//
// A [Place] is read, compared by the log, and replaced only if nobody else has replaced it.
package anchor

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"riffle/internal/ledger"
	"riffle/internal/system"
)

// ErrReplaced is the error of a checkpoint that another process has replaced.
var ErrReplaced = errors.New("another process has replaced the checkpoint")

// errEmpty is the error of a place with no bytes in it. No log writes that.
var errEmpty = errors.New("it is there and empty, so its checkpoint was lost: put it back. Only if the store has all records that the log must have (a monitor or a proof tells), remove it and start once with --anchor-create")

// maxNote is the length of the longest checkpoint, in bytes.
const maxNote = 64 << 10

// A Place holds one checkpoint.
type Place struct {
	Name string // without user, password and query
	holder
}

// A holder reads and replaces a checkpoint.
type holder interface {
	// Read returns the checkpoint, empty for none, and the tag of this version of it.
	Read(ctx context.Context) (note []byte, tag string, err error)
	// Replace replaces the version with a tag. It returns [ErrReplaced] if there is another one.
	Replace(ctx context.Context, note []byte, tag string) error
}

// Places is a list of places. As text it is their locations, separated by commas.
type Places []Place

// UnmarshalText parses locations. See [Parse].
func (p *Places) UnmarshalText(text []byte) error {
	var locations []string
	for part := range strings.SplitSeq(string(text), ",") {
		part = strings.TrimSpace(part)
		if n := len(locations); n > 0 && !strings.Contains(part, "://") && !filepath.IsAbs(part) {
			locations[n-1] += "," + part // a database may have several hosts
		} else if part != "" {
			locations = append(locations, part)
		}
	}
	*p = nil
	for _, location := range locations {
		place, err := Parse(location)
		if err != nil {
			return err
		}
		*p = append(*p, place)
	}
	return nil
}

// Parse returns the place at a location: an absolute path, or a URL with the scheme file, https, http, s3
// or postgres. Its error has no password.
func Parse(location string) (Place, error) {
	if filepath.IsAbs(location) {
		return Place{location, file(location)}, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return Place{}, errors.New("an anchor is not a URL")
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	p := Place{Name: shown.String()}
	switch {
	case u.Scheme == "file" && u.Host == "" && filepath.IsAbs(u.Path):
		p.holder = file(u.Path)
	case (u.Scheme == "https" || u.Scheme == "http") && u.Host != "":
		p.holder = &object{url: location}
	case u.Scheme == "s3" && u.Host != "" && len(u.Path) > 1:
		p.holder = newBucket(u)
	case (u.Scheme == "postgres" || u.Scheme == "postgresql") && u.Host != "":
		p.holder = row(location)
	default:
		return Place{}, fmt.Errorf("%q is not an anchor; accepted are an absolute path, https://host/path, s3://bucket/key and postgres://user@host/database", p.Name)
	}
	return p, nil
}

// A file is a path. Its folder must exist, as a volume that is not mounted must not look empty.
type file string

// Read implements holder. The checkpoint itself is the tag.
func (f file) Read(context.Context) (note []byte, tag string, err error) {
	in, err := os.Open(string(f))
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(string(f)))
		return nil, "", err
	} else if err != nil {
		return nil, "", err
	}
	note, err = io.ReadAll(io.LimitReader(in, maxNote))
	if err == nil && len(note) == 0 {
		err = errEmpty
	}
	return note, string(note), errors.Join(err, in.Close())
}

// Replace implements holder. A locked file beside this one excludes other processes.
func (f file) Replace(ctx context.Context, note []byte, tag string) (err error) {
	lock, err := os.OpenFile(string(f)+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	if err := system.Lock(lock); err != nil {
		return ErrReplaced
	}
	if _, have, err := f.Read(ctx); err != nil || have != tag {
		return errors.Join(err, ErrReplaced)
	}
	return ledger.ReplaceFile(string(f), note)
}

// A row is the URL of a PostgreSQL database. Each path of logs needs a database of its own: its
// table riffle_anchor, which is created if it is missing, has one row.
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
