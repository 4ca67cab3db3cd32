package sqlite

import (
	"fmt"
	"syscall"

	"riffle/internal/ledger"
)

// frameSize is the size of a page in the write-ahead log.
const frameSize = pageSize + 24

// smallCommit is the space for a commit of a few dozen records.
const smallCommit = 1 << 20

// CheckRoom returns [ledger.ErrNoSpace] if a small commit does not fit on the disk.
func (s *Store) CheckRoom() error { return checkRoom(s.path, smallCommit) }

// room returns the maximum number of bytes that a batch adds to the write-ahead log: 180 MB for
// 4,096 records with two claims each; a small store uses a tenth. Rows fill pages in sequence,
// while a claim's name and a reference can be on any page of an index.
func room(batch *ledger.Batch) uint64 {
	const fixed = 16 // pages of the head, the trees' inner nodes and partly filled leaves
	pages, bytes := fixed, 0
	for i := range batch.Entries {
		e := &batch.Entries[i]
		pages += 1 + len(e.Claims)
		for _, c := range e.Claims {
			if c.Status != "" || c.Due != 0 { // one more index
				pages++
			}
		}
		bytes += len(e.Record) + len(e.Sidecar) + len(e.Reference)
	}
	return uint64(pages)*frameSize + 2*uint64(bytes)
}

// checkRoom returns [ledger.ErrNoSpace] if the path's file system has less space. It takes
// microseconds. A file system that cannot tell has space until a commit fails.
func checkRoom(path string, room uint64) error {
	var fs syscall.Statfs_t
	if err := syscall.Statfs(path, &fs); err != nil || fs.Blocks == 0 {
		return nil //nolint:nilerr // the commit finds out
	}
	if free := fs.Bavail * uint64(fs.Bsize); free < room {
		return fmt.Errorf("%w: %d bytes are free, and a commit takes up to %d", ledger.ErrNoSpace, free, room)
	}
	return nil
}
