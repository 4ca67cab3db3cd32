package main

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/dealer"
	"riffle/internal/journal/journaltest"
	"riffle/internal/ledger"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
)

// TestVerifyCommittedShoe verifies the whole of a shoe that a service has dealt, with its commitment
// before and after it, and parts of it from before the close. The vectors have shoes without commitments.
func TestVerifyCommittedShoe(t *testing.T) {
	folder := t.TempDir()
	log, d := openLog(t, folder)
	defer func() {
		assert.NoError(t, log.Close())
	}()
	commitment := commit(t, d)
	made, err := d.Shoes.Create(t.Context(), &liveshoes.NewShoe{
		Request: dealer.Request{Request: plan.Request{CommitmentID: commitment, ClientSeed: "late"}},
	})
	require.NoError(t, err)
	proofs := func() (lines []string) {
		t.Helper()
		for err = ledger.ErrNotPublished; errors.Is(err, ledger.ErrNotPublished); time.Sleep(10 * time.Millisecond) { // polls for a checkpoint
			lines = nil
			err = d.Disclosure.ProveShoe(t.Context(), made.Shoe.ID, false, journaltest.Unlimited{}, func(p *prooffile.File) error {
				lines = append(lines, string(p.Text()))
				return nil
			})
		}
		require.NoError(t, err)
		return lines
	}
	open := proofs()
	_, err = d.Shoes.Apply(t.Context(), made.Shoe.ID, &liveshoes.Change{Kind: audit.KindClose})
	require.NoError(t, err)
	closed := proofs()
	p, err := d.Disclosure.Prove(t.Context(), commitment, false)
	require.NoError(t, err)
	whole := strings.Join(closed, "")
	for _, c := range []struct {
		files []string
		code  int
		want  string
	}{
		{[]string{whole, string(p.Text())}, 0, "\nThe commitment " + commitment.String() + " fixed the order"},
		{[]string{string(p.Text()), whole}, 0, "\ncommitted    ok: "},
		{[]string{whole}, 0, "\nIt names the commitment " + commitment.String()},
		{[]string{open[0]}, exitUnchecked, "the file has no seed, which is secret until the shoe is closed"},
		{[]string{open[0], closed[1]}, exitUnchecked, "1 seed held back in these files, and public since"},
	} {
		args := []string{"verify", "--key", log.Verifier()}
		for i, file := range c.files {
			args = append(args, write(t, filepath.Join(folder, fmt.Sprint("proof", i)), file))
		}
		var out strings.Builder
		code := 0
		if err := run(t.Context(), args, &out, io.Discard); err != nil {
			code = exitCode(err)
		}
		assert.Equalf(t, c.code, code, "exit code %d, want %d and %q:\n%s", code, c.code, c.want, &out)
		assert.Containsf(t, out.String(), c.want, "exit code %d, want %d and %q:\n%s", code, c.code, c.want, &out)
	}
}
