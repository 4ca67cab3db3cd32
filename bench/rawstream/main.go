// Rawstream writes a riffle/1 keystream to standard output, as long as someone reads it, for the test batteries that
// run.sh puts it through. The seed is fresh and goes to standard error, or is given with -seed to repeat a run.
package main

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"flag"
	"fmt"
	"io"
	"os"

	"riffle/internal/rng"
)

// The stream has no end of its own: it ends when nobody reads it any more, and that is an error to whoever writes.
func main() {
	fmt.Fprintln(os.Stderr, "rawstream:", run(os.Args[1:], os.Stdout, os.Stderr))
	os.Exit(1)
}

func run(args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("rawstream", flag.ContinueOnError)
	flags.SetOutput(stderr)
	text := flags.String("seed", "", "the seed in `hex`, whole blocks of 32 bytes; empty for a fresh one")
	blocks := flags.Int("blocks", 2, "how many blocks a fresh seed has")
	words := flags.Uint64("words", 0, "turn to the next shuffle's keystream after so many words, as dealing does; 0 for never")
	if err := flags.Parse(args); err != nil {
		return err
	}
	seed, err := hex.DecodeString(*text)
	if err != nil {
		return fmt.Errorf("-seed: %w", err)
	}
	if len(seed) == 0 {
		if seed, err = rng.NewSeed(rand.Reader, *blocks); err != nil {
			return err
		}
	}
	_, _ = fmt.Fprintf(stderr, "rawstream: -seed %x -words %d\n", seed, *words)
	return write(stdout, seed, *words)
}

// write writes the keystream until w fails. Nothing is shuffled, so the commitment is to the seed alone.
func write(w io.Writer, seed rng.Seed, words uint64) error {
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
