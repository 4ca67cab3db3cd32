package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/ledger/proof"
	"riffle/internal/rng"
	"riffle/internal/shuffle"
)

// A shuffleCmd shuffles lines as the service shuffles items, and is its own log.
type shuffleCmd struct {
	Algorithm  string  `default:"fisher-yates" enum:"fisher-yates,durstenfeld,inside-out,strike-out,sattolo" help:"One of ${enum}."`
	Draw       *uint64 `placeholder:"N" help:"Write only the first N lines of the order."`
	ClientSeed string  `placeholder:"TEXT" help:"Mixed into the keys: up to 256 bytes, known to others or chosen by them."`
	Reference  string  `placeholder:"TEXT" help:"What the shuffle is for: up to 128 characters, kept in the record."`
	Proof      string  `placeholder:"FILE" help:"Write a proof to this new file, and the key that checks it to the standard error."`
	File       string  `arg:"" optional:"" help:"The lines; standard input if none is given."`
}

// Help is the longer text of riffle shuffle --help.
func (*shuffleCmd) Help() string {
	return `Reads lines and writes them in a shuffled order, as shuf(1) does. A line ends with a line feed; a carriage return before it belongs to the line. The last line may lack its line feed and is written with one. Lines have to be UTF-8.

The seed comes from the operating system and is as long as the service's for as many items. The record has the digest of the JSON array of the lines, each a string without its line feed, in the order they were read; white space outside the strings does not count, but of the ways to write a character the shortest does: only ", \ and U+0000 to U+001F are escaped. That array, in a file, is what riffle verify takes with --items.

The proof has the seed, and is signed with a key made for it alone, as the only record of a log called riffle/shuffle. It shows that the order follows from the seed by a method that favours no order, and that nobody but the holder of the key, which is not kept, has changed it since. It does not show that this was the first try: who runs the command can run it again until the order pleases. For that, others have to be told the key, or see the record in a log of theirs, before the order matters.`
}

// shuffleOrigin is the log that a proof of riffle shuffle is of.
const shuffleOrigin = "riffle/shuffle"

// Run shuffles.
func (k *shuffleCmd) Run(ctx context.Context, c *console) error {
	text, err := k.read(ctx, c.in)
	if err != nil {
		return err
	}
	lines := splitLines(text)
	record, seed, err := k.record(lines)
	if err != nil {
		return err
	}
	keys, err := rng.Keys(seed, record.Commitment, k.ClientSeed)
	if err != nil {
		return err
	}
	stream, err := rng.NewStream(keys)
	if err != nil {
		return err
	}
	s := &record.Statement
	order := shuffle.Order(s.Algorithm, lines, int(s.Draw), stream)
	if k.Proof != "" { // first, so that no order is seen whose proof could not be written
		if err := k.prove(c, record, seed); err != nil {
			return err
		}
	}
	out := bufio.NewWriterSize(c.out, 1<<16)
	for _, line := range order {
		_, _ = out.Write(line)
		_ = out.WriteByte('\n')
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("writing the lines: %w", err)
	}
	return nil
}

// read reads the lines. It does not wait for input once the program is to end.
func (k *shuffleCmd) read(ctx context.Context, in io.Reader) ([]byte, error) {
	type input struct {
		text []byte
		err  error
	}
	done := make(chan input, 1)
	go func() {
		var i input
		if k.File != "" && k.File != "-" {
			i.text, i.err = os.ReadFile(k.File)
		} else {
			i.text, i.err = io.ReadAll(in)
		}
		done <- i
	}()
	var text []byte
	select {
	case i := <-done:
		if i.err != nil {
			return nil, fmt.Errorf("reading the lines: %w", i.err)
		}
		text = i.text
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	if !utf8.Valid(text) {
		number := 1
		for line := range bytes.Lines(text) {
			if !utf8.Valid(line) {
				break
			}
			number++
		}
		return nil, fmt.Errorf("line %d is not UTF-8, and could not stand in a proof", number)
	}
	return text, nil
}

// splitLines returns the lines without their line feeds.
func splitLines(text []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(text, []byte{'\n'})+1)
	for line := range bytes.Lines(text) {
		lines = append(lines, bytes.TrimSuffix(line, []byte{'\n'}))
	}
	return lines
}

// digest returns the SHA-256 of the JSON array of the lines.
func digest(lines [][]byte) (sum [sha256.Size]byte, err error) {
	h := sha256.New()
	buf := []byte{'['}
	for i, line := range lines {
		if i > 0 {
			buf = append(buf, ',')
		}
		if buf, err = jsontext.AppendQuote(buf, line); err != nil {
			return sum, err
		}
		if len(buf) > 1<<16 {
			h.Write(buf)
			buf = buf[:0]
		}
	}
	h.Write(append(buf, ']'))
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// record draws a seed and makes the record of the shuffle.
func (k *shuffleCmd) record(lines [][]byte) (*audit.Record, rng.Seed, error) {
	sum, err := digest(lines)
	if err != nil {
		return nil, nil, err
	}
	size := uint64(len(lines))
	s := audit.Statement{
		Algorithm: shuffle.Algorithm(k.Algorithm), Size: size, Draw: size, Repeat: 1, Input: audit.ItemsInput(sum), Reference: k.Reference,
	}
	if k.Draw != nil {
		s.Draw = min(*k.Draw, size) // as shuf(1) has it
	}
	if s.Algorithm == shuffle.AlgorithmSattolo && size == 1 {
		return nil, nil, errors.New("sattolo moves every line, and there is only one: use another algorithm, or two lines")
	}
	if err := errors.Join(s.Check(), audit.CheckClientSeed(k.ClientSeed)); err != nil {
		return nil, nil, err
	}
	if s.Seed, err = rng.NewSeed(rand.Reader, rng.Blocks(s.Size, s.Draw)); err != nil {
		return nil, nil, err
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, nil, err
	}
	return &audit.Record{
		ID: id, Time: time.Now(), Kind: audit.KindShuffle, Statement: s, ClientSeed: k.ClientSeed, RevealNow: true,
		Commitment: s.Commitment(),
	}, s.Seed, nil
}

// prove writes the proof, and says which key checks it.
func (k *shuffleCmd) prove(c *console, record *audit.Record, seed rng.Seed) (err error) {
	private, public, err := note.GenerateKey(rand.Reader, shuffleOrigin)
	if err != nil {
		return fmt.Errorf("making a key: %w", err)
	}
	signer, err := note.NewSigner(private)
	if err != nil {
		return err
	}
	text := record.Append(nil)
	// The tree of one record has the hash of the record for its root, and the path to it is empty.
	checkpoint, err := proof.Checkpoint{Origin: shuffleOrigin, Size: 1, Root: tlog.RecordHash(text)}.Sign(signer)
	if err != nil {
		return err
	}
	file := prooffile.File{
		Record: text, Seed: seed, ClientSeed: k.ClientSeed, Inclusion: &proof.Inclusion{Checkpoint: checkpoint}, LogKey: public,
	}
	if err := writeNew(k.Proof, file.Text()); err != nil {
		return fmt.Errorf("writing the proof: %w", err)
	}
	if _, err := fmt.Fprintln(c.messages, strings.TrimSpace(public)); err != nil {
		return fmt.Errorf("printing the key: %w", err)
	}
	return nil
}

// writeNew writes a file that is not there yet: a proof is never overwritten.
func writeNew(path string, text []byte) (err error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a proof is for everybody to read
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err = errors.Join(err, file.Close()); err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}
