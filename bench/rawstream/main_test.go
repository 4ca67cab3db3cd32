package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"riffle/internal/rng"
)

// full is a writer that has room for so many bytes.
type full struct {
	bytes.Buffer
	room int
}

var errFull = errors.New("full")

func (f *full) Write(p []byte) (int, error) {
	n, _ := f.Buffer.Write(p[:min(len(p), f.room-f.Len())])
	if n < len(p) {
		return n, errFull
	}
	return n, nil
}

func TestOutputIsTheKeystream(t *testing.T) {
	seed := make(rng.Seed, 2*rng.BlockSize)
	seed[0] = 1
	keys, err := rng.Keys(seed, sha256.Sum256(seed), "")
	if err != nil {
		t.Fatal(err)
	}
	for flag, words := range map[string]int{"0": 50_000, "5": 5, "1": 1} {
		out := &full{room: 8 * 50_000}
		args := []string{"-seed", hex.EncodeToString(seed), "-words", flag}
		if err := run(args, out, &bytes.Buffer{}); !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		var ref rng.Reference
		for i := range 50_000 {
			if i%words == 0 {
				if ref, err = rng.NewReference(keys, uint64(i/words)); err != nil {
					t.Fatal(err)
				}
			}
			if got, want := binary.BigEndian.Uint64(out.Next(8)), ref.Word(); got != want {
				t.Fatalf("-words %s: word %d is %016x, want %016x", flag, i, got, want)
			}
		}
	}
}

func TestPrintedSeedRepeatsTheRun(t *testing.T) {
	out, printed := &full{room: 1000}, &bytes.Buffer{}
	if err := run([]string{"-blocks", "3", "-words", "7"}, out, printed); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	again := &full{room: 1000}
	if err := run(strings.Fields(printed.String())[1:], again, &bytes.Buffer{}); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) || out.Len() != 1000 {
		t.Errorf("%s gives another stream", printed)
	}
}

func TestBadSeedsAreRefused(t *testing.T) {
	for _, args := range [][]string{{"-seed", "12"}, {"-seed", "xy"}, {"-blocks", "0"}, {"-blocks", "214"}} {
		if err := run(args, &full{}, &bytes.Buffer{}); err == nil || errors.Is(err, errFull) {
			t.Errorf("%s: error %v", args, err)
		}
	}
}
