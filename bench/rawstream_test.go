package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

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

func TestRawstreamIsTheKeystream(t *testing.T) {
	seed := make(rng.Seed, 2*rng.BlockSize)
	seed[0] = 1
	keys, err := rng.Keys(seed, sha256.Sum256(seed), "")
	if err != nil {
		t.Fatal(err)
	}
	for flag, words := range map[uint64]int{0: 50_000, 5: 5, 1: 1} {
		out := &full{room: 8 * 50_000}
		command := &rawstreamCommand{Seed: hex.EncodeToString(seed), Words: flag}
		if err := command.write(out, &bytes.Buffer{}); !errors.Is(err, errFull) {
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
				t.Fatalf("--words %d: word %d is %016x, want %016x", flag, i, got, want)
			}
		}
	}
}

func TestPrintedSeedRepeatsTheRun(t *testing.T) {
	out, printed := &full{room: 1000}, &bytes.Buffer{}
	if err := (&rawstreamCommand{Blocks: 3, Words: 7}).write(out, printed); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	command := &rawstreamCommand{}
	parser, err := kong.New(command)
	if err == nil {
		_, err = parser.Parse(strings.Fields(printed.String())[1:])
	}
	if err != nil {
		t.Fatalf("%s: %v", printed, err)
	}
	again := &full{room: 1000}
	if err := command.write(again, &bytes.Buffer{}); !errors.Is(err, errFull) {
		t.Fatal(err)
	}
	if !bytes.Equal(out.Bytes(), again.Bytes()) || out.Len() != 1000 {
		t.Errorf("%s gives another stream", printed)
	}
}

func TestRawstreamRejectsBadSeeds(t *testing.T) {
	for _, command := range []rawstreamCommand{{Seed: "12"}, {Seed: "xy"}, {Blocks: 0}, {Blocks: 214}} {
		if err := command.write(&full{}, &bytes.Buffer{}); err == nil || errors.Is(err, errFull) {
			t.Errorf("%+v: error %v", command, err)
		}
	}
}
