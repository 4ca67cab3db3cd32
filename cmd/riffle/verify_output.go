package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"riffle/internal/audit/prooffile"
)

// A proofVerdict is the verdict on one proof, or on several that belong together.
type proofVerdict struct {
	Files   []string `json:"files"`
	Digests []string `json:"-"` // SHA-256 of each file, for the report
	verdict
}

// findings are the verdicts on all proofs. Their own verdict is the worst of them, or the only one.
type findings struct {
	verdict
	Proofs []proofVerdict `json:"proofs"`

	warning string // about the key of the log; empty for none
}

// conclude sums up the verdicts on the proofs.
func (f *findings) conclude() {
	counts := map[string]int{}
	f.Steps = []step{}
	for _, p := range f.Proofs {
		counts[p.Verdict]++
		f.Steps = append(f.Steps, p.Steps...)
	}
	f.Verdict = verdictVerified
	for _, worse := range []string{verdictUnchecked, verdictFalse} {
		if counts[worse] > 0 {
			f.Verdict = worse
		}
	}
	if len(f.Proofs) == 1 {
		f.Headline, f.Notes = f.Proofs[0].Headline, f.Proofs[0].Notes
	} else {
		f.Headline = fmt.Sprintf("%d proofs: %d verified, %d false, %d not checked to the end.", len(f.Proofs), counts[verdictVerified], counts[verdictFalse], counts[verdictUnchecked])
		f.Notes = []string{}
	}
	if f.warning != "" {
		f.Notes = append([]string{f.warning}, f.Notes...)
	}
}

// errUnchecked is for a proof that could not be checked to the end. The reason has been printed.
var errUnchecked = errors.New("it could not be checked")

// err returns the error that gives the exit code of the verdict.
func (f *findings) err() error {
	counts := map[string]int{}
	for _, p := range f.Proofs {
		counts[p.Verdict]++
	}
	switch proofs := len(f.Proofs); {
	case f.Verdict == verdictFalse && proofs == 1:
		return fmt.Errorf("the proof was checked, and %w", errFindings)
	case f.Verdict == verdictFalse:
		return fmt.Errorf("%d of %d proofs were checked, and of each %w", counts[verdictFalse], proofs, errFindings)
	case f.Verdict == verdictUnchecked && proofs == 1:
		return fmt.Errorf("the proof was read, and %w to the end", errUnchecked)
	case f.Verdict == verdictUnchecked:
		return fmt.Errorf("of %d of %d proofs, %w to the end", counts[verdictUnchecked], proofs, errUnchecked)
	}
	return nil
}

// print prints the findings as JSON or, if a proof was read, for people.
func (k *verify) print(c *console, f *findings, isRead bool) error {
	if k.JSON {
		encoder := json.NewEncoder(c.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(f)
	}
	if !isRead {
		return nil
	}
	var text strings.Builder
	if len(f.Proofs) > 1 {
		fmt.Fprintf(&text, "%s\n", f.Headline)
	}
	for _, p := range f.Proofs {
		if len(f.Proofs) > 1 {
			fmt.Fprintf(&text, "\n%s\n", prooffile.Printable(strings.Join(p.Files, " ")))
		}
		p.write(&text, c)
	}
	_, err := io.WriteString(c.out, text.String())
	return err
}

// write writes the verdict and then the steps.
func (v *verdict) write(text *strings.Builder, c *console) {
	fmt.Fprintf(text, "%s\n", v.Headline)
	for _, note := range v.Notes {
		fmt.Fprintf(text, "%s\n", note)
	}
	if len(v.Steps) > 0 {
		text.WriteByte('\n')
	}
	for _, s := range v.Steps {
		fmt.Fprintf(text, "%-12s %s: %s\n", s.Name, c.state(s.OK), s.Text)
	}
}

// state returns the word for the state of a step.
func (c *console) state(ok *bool) string {
	word, colour := "not checked", "33"
	switch {
	case ok != nil && *ok:
		word, colour = "ok", "32"
	case ok != nil:
		word, colour = "WRONG", "1;31"
	}
	if !c.colour {
		return word
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}
