package rng_test

import (
	"bufio"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/rng"
)

var battery = flag.String("battery", "", "a named pipe that a test battery such as dieharder reads the keystream from")

// TestBattery writes the keystream of a fresh seed until the battery has read enough.
func TestBattery(t *testing.T) {
	if *battery == "" {
		t.Skip("skipped: make stream runs it")
	}
	seed, err := rng.NewSeed(rand.Reader, 2)
	require.NoError(t, err)
	t.Logf("seed %x", []byte(seed))
	keys, err := rng.Keys(seed, sha256.Sum256(seed), "")
	require.NoError(t, err)
	stream, err := rng.NewStream(keys)
	require.NoError(t, err)
	file, err := os.OpenFile(*battery, os.O_WRONLY, 0)
	require.NoError(t, err)
	for out := bufio.NewWriter(file); err == nil; {
		_, err = out.Write(binary.BigEndian.AppendUint64(out.AvailableBuffer(), stream.Uint64()))
	}
}
