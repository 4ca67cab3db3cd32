package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// A shuffleCmd shuffles lines the way the service shuffles items. Its proof is the only record of a
// log of its own.
type shuffleCmd struct {
	Algorithm  string  `default:"fisher-yates" enum:"${algorithms}" help:"One of ${enum}."`
	Draw       *uint64 `placeholder:"N" help:"Write only the first N lines of the order."`
	ClientSeed string  `placeholder:"TEXT" help:"Text that others know or chose, mixed into the keys: up to 256 bytes."`
	Reference  string  `placeholder:"TEXT" help:"What the shuffle is for: up to 128 characters, stored in the record."`
	Proof      string  `placeholder:"FILE" help:"Write a proof to this new file, and the key that verifies it to standard error."`
	File       string  `arg:"" optional:"" help:"The lines; standard input if none is given."`
}

// shuffleOrigin is the origin of the log in a proof by riffle shuffle.
const shuffleOrigin = "riffle/shuffle"

// algorithms lists the algorithms for the flag.
func algorithms() string {
	var names []string
	for _, a := range shuffle.Algorithms() {
		names = append(names, string(a))
	}
	return strings.Join(names, ",")
}

// Run shuffles the lines.
func (k *shuffleCmd) Run(ctx context.Context, c *console) error {
	lines, err := k.read(ctx, c)
	if err != nil {
		return err
	}
	record, err := k.record(lines)
	if err != nil {
		return err
	}
	s := &record.Statement
	keys, err := rng.Keys(s.Seed, record.Commitment, record.ClientSeed)
	if err != nil {
		return err
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		return err
	}
	order := shuffle.Order(s.Algorithm, lines, int(s.Draw), stream)
	// The proof comes first, so that no order is printed whose proof could not be written.
	if k.Proof != "" {
		if err := k.prove(c, record, s.Seed); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(c.out, 1<<16)
	for _, line := range order {
		_, _ = out.WriteString(line)
		_ = out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the lines: %w", err)
	}
	return nil
}

// read reads the lines as riffle verify does, and requires them to be UTF-8.
func (k *shuffleCmd) read(ctx context.Context, c *console) ([]string, error) {
	text, err := await(ctx, func() ([]byte, error) {
		in, err := c.open(k.File)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(in)
	})
	if err != nil {
		return nil, fmt.Errorf("reading the lines: %w", err)
	}
	lines := prooffile.Lines(string(text))
	isOther := func(line string) bool {
		return strings.HasPrefix(strings.TrimLeft(line, " \t\r\ufeff"), "[") || strings.HasPrefix(line, "\ufeff")
	}
	if i := slices.IndexFunc(lines, isOther); k.Proof != "" && i >= 0 {
		return nil, fmt.Errorf("line %d begins with [ or a byte order mark, so that riffle verify may read the lines otherwise: change it, or send the list to POST /shuffle", i+1)
	}
	if i := slices.IndexFunc(lines, func(line string) bool { return !utf8.ValidString(line) }); i >= 0 {
		return nil, fmt.Errorf("line %d is not UTF-8, which a proof cannot represent", i+1)
	}
	return lines, nil
}

// record draws a seed and returns the record of the shuffle, with the seed in its statement.
func (k *shuffleCmd) record(lines []string) (*audit.Record, error) {
	array, _ := json.Marshal(lines) // which are UTF-8
	size := uint64(len(lines))
	s := audit.Statement{
		Algorithm: shuffle.Algorithm(k.Algorithm), Size: size, Repeat: 1, Input: audit.ItemsInput(sha256.Sum256(array)), Reference: k.Reference,
	}
	s.Draw = min(*cmp.Or(k.Draw, &size), size) // like shuf(1)
	if s.Algorithm == shuffle.AlgorithmSattolo && size == 1 {
		return nil, errors.New("sattolo moves every line, which takes at least two; there is 1 line: use another algorithm")
	}
	err := errors.Join(audit.CheckReference(k.Reference), audit.CheckClientSeed(k.ClientSeed))
	if err == nil {
		s.Seed, err = rng.NewSeed(rand.Reader, rng.Blocks(s.Size, s.Draw))
	}
	if err != nil {
		return nil, err
	}
	return &audit.Record{
		ID: uuid.Must(uuid.NewV7()), Time: time.Now(), Kind: audit.KindShuffle, Statement: s, ClientSeed: k.ClientSeed, RevealNow: true,
		Commitment: s.Commitment(),
	}, nil
}

// prove writes the proof to a new file and prints the key that verifies it.
func (k *shuffleCmd) prove(c *console, record *audit.Record, seed rng.Seed) (err error) {
	private, public, err := note.GenerateKey(rand.Reader, shuffleOrigin)
	if err != nil {
		return fmt.Errorf("generating a key: %w", err)
	}
	signer, _ := note.NewSigner(private) // which was just generated
	text := record.Append(nil)
	// In a tree of one record the root is the record's hash, and the inclusion path is empty.
	checkpoint, err := proof.Checkpoint{Origin: shuffleOrigin, Size: 1, Root: tlog.RecordHash(text)}.Sign(signer)
	if err != nil {
		return err
	}
	file := prooffile.File{
		Record: text, Seed: seed, ClientSeed: k.ClientSeed, Inclusion: &proof.Inclusion{Checkpoint: checkpoint}, LogKey: public,
	}
	if err := writeNew(k.Proof, file.Text(), 0o644); err != nil {
		return fmt.Errorf("writing the proof: %w", err)
	}
	if _, err := fmt.Fprintln(c.messages, strings.TrimSpace(public)); err != nil {
		return fmt.Errorf("printing the key: %w", err)
	}
	return nil
}

// writeNew writes a file that must not exist, so that no proof or key is overwritten. It leaves no
// incomplete file behind.
func writeNew(path string, text []byte, mode fs.FileMode) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
