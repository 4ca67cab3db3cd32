package main

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"io"

	"riffle/internal/rng"
)

// writeStream writes the keystream of a fresh seed until stdout fails, for test batteries such as
// PractRand and dieharder. It prints the seed to stderr.
func writeStream(stdout, stderr io.Writer) error {
	seed, err := rng.NewSeed(rand.Reader, 2)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stderr, "bench: seed %x\n", []byte(seed))
	keys, err := rng.Keys(seed, sha256.Sum256(seed), "")
	if err != nil {
		return err
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		return err
	}
	for out := bufio.NewWriter(stdout); ; {
		if _, err := out.Write(binary.BigEndian.AppendUint64(out.AvailableBuffer(), stream.Uint64())); err != nil {
			return err
		}
	}
}
