package main

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"riffle/internal/rng"
)

// rawstreamCommand writes a riffle/1 keystream to standard output for as long as someone reads it,
// for the test batteries that rawstream.sh puts it through. The seed is fresh, or given to repeat a
// run, and printed to standard error.
type rawstreamCommand struct {
	Seed   string `placeholder:"HEX" help:"The seed, whole blocks of 32 bytes; a fresh one if empty."`
	Blocks int    `default:"2" help:"Blocks of a fresh seed."`
	Words  uint64 `help:"Turn to the next shuffle's keystream after so many words, as the service does; never if 0."`
}

// Run writes the keystream. It returns only with the error that ended it, such as a closed pipe.
func (cmd *rawstreamCommand) Run() error { return cmd.write(os.Stdout, os.Stderr) }

func (cmd *rawstreamCommand) write(stdout, stderr io.Writer) error {
	seed, err := hex.DecodeString(cmd.Seed)
	if err != nil {
		return fmt.Errorf("--seed must be hex digits: %w", err)
	}
	if len(seed) == 0 {
		if seed, err = rng.NewSeed(rand.Reader, cmd.Blocks); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(stderr, "rawstream: --seed %x --words %d\n", seed, cmd.Words)
	return writeStream(stdout, seed, cmd.Words)
}

// writeStream writes the keystream until w fails. Nothing is shuffled, so the commitment is to the
// seed alone.
func writeStream(w io.Writer, seed rng.Seed, words uint64) error {
	keys, err := rng.Keys(seed, sha256.Sum256(seed), "")
	if err != nil {
		return err
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(w, 1<<16)
	for written := uint64(0); ; written++ {
		if words > 0 && written%words == 0 {
			stream.Seek(written / words)
		}
		word := binary.BigEndian.AppendUint64(out.AvailableBuffer(), stream.Uint64())
		if _, err := out.Write(word); err != nil {
			return err
		}
	}
}
