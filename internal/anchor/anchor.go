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
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"riffle/internal/ledger"
	"riffle/internal/system"
)

// ErrReplaced is the error of a checkpoint that another process has replaced.
var ErrReplaced = errors.New("another process has replaced the checkpoint")

// errEmpty is the error of a place with no bytes in it. No log writes that.
var errEmpty = errors.New("it is there and empty, so its checkpoint was lost: put it back. Only if the store has all records that the log must have (a monitor or a proof tells), remove it and start once with --anchor-create")

// maxNote is the length of the longest checkpoint, in bytes.
const maxNote = 64 << 10

// Timeout limits each use of a place.
const Timeout = 2 * time.Second

// A Place holds one checkpoint.
type Place struct {
	Name   string // without user, password and query
	holder holder
}

// Read returns the checkpoint, empty for none, and the tag of this version of it.
func (p Place) Read(ctx context.Context) (note []byte, tag string, err error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return p.holder.Read(ctx)
}

// Replace replaces the version with a tag. It returns [ErrReplaced] if there is another one.
func (p Place) Replace(ctx context.Context, note []byte, tag string) error {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	return p.holder.Replace(ctx, note, tag)
}

// A holder is a kind of [Place].
type holder interface {
	Read(ctx context.Context) (note []byte, tag string, err error)
	Replace(ctx context.Context, note []byte, tag string) error
}

// Places is a list of places. As text it is their locations, separated by commas.
type Places []Place

// UnmarshalText parses locations. See [Parse].
func (p *Places) UnmarshalText(text []byte) error {
	*p = nil
	for location := range strings.SplitSeq(string(text), ",") {
		if location = strings.TrimSpace(location); location == "" {
			continue
		}
		place, err := Parse(location)
		if err != nil {
			return err
		}
		*p = append(*p, place)
	}
	return nil
}

// Parse returns the place at a location: an absolute path, or a URL with the scheme https, or http
// on a loopback address. Its error has no password.
func Parse(location string) (Place, error) {
	if filepath.IsAbs(location) {
		return Place{location, newFile(location)}, nil
	}
	u, err := url.Parse(location)
	if err != nil {
		return Place{}, errors.New("an anchor is not a URL")
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	host := u.Hostname()
	isLoopback := host == "localhost" || net.ParseIP(host).IsLoopback()
	if host == "" || u.Scheme != "https" && (u.Scheme != "http" || !isLoopback) {
		return Place{}, fmt.Errorf("%q is not an anchor; accepted are an absolute path and https://host/path, or http on this machine", shown.String())
	}
	return Place{shown.String(), object(location)}, nil
}

// A file is a path. Its folder must exist, as a volume that is not mounted must not look empty. A
// volume may hang, and no context ends that: one use of it waits for it, and no more.
type file struct {
	path string
	turn chan struct{}
}

func newFile(path string) file { return file{path, make(chan struct{}, 1)} }

// inTime calls use, and returns early when ctx is done. What use sets is valid without an error.
func (f file) inTime(ctx context.Context, use func() error) error {
	done := make(chan error, 1)
	select {
	case f.turn <- struct{}{}:
		go func() {
			defer func() { <-f.turn }()
			done <- use()
		}()
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%s does not answer: %w", f.path, ctx.Err())
	}
}

// Read implements holder. The checkpoint itself is the tag.
func (f file) Read(ctx context.Context) ([]byte, string, error) {
	var note []byte
	if err := f.inTime(ctx, func() (err error) { note, err = f.read(); return err }); err != nil {
		return nil, "", err
	}
	return note, string(note), nil
}

func (f file) read() (note []byte, err error) {
	in, err := os.Open(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = os.Stat(filepath.Dir(f.path))
		return nil, err
	} else if err != nil {
		return nil, err
	}
	note, err = io.ReadAll(io.LimitReader(in, maxNote))
	if err == nil && len(note) == 0 {
		err = errEmpty
	}
	return note, errors.Join(err, in.Close())
}

// Replace implements holder.
func (f file) Replace(ctx context.Context, note []byte, tag string) error {
	return f.inTime(ctx, func() error { return f.replace(note, tag) })
}

// replace replaces the file. A locked file beside this one excludes other processes.
func (f file) replace(note []byte, tag string) (err error) {
	lock, err := os.OpenFile(f.path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, system.Unlock(lock)) }()
	if err := system.Lock(lock); errors.Is(err, system.ErrLocked) {
		return ErrReplaced
	} else if err != nil {
		return fmt.Errorf("locking %s: %w", lock.Name(), err)
	}
	if have, err := f.read(); err != nil {
		return err
	} else if string(have) != tag {
		return ErrReplaced
	}
	return ledger.ReplaceFile(f.path, note)
}
