package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"strings"
	"time"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/release"
)

// errUnchecked is for a proof that could not be checked to the end. The reason has been printed.
var errUnchecked = errors.New("it could not be checked")

// verdictError returns the error that gives the exit code of a verdict.
func verdictError(f *prooffile.Findings) error {
	switch f.Verdict {
	case prooffile.VerdictVerified:
	case prooffile.VerdictFalse:
		return fmt.Errorf("the files were checked, and %w", errFindings)
	case prooffile.VerdictUnchecked:
		return fmt.Errorf("the files were read, and %w to the end", errUnchecked)
	}
	return nil
}

// findingsText returns the findings for people.
func findingsText(c *console, f *prooffile.Findings) string {
	var text strings.Builder
	if len(f.Proofs) != 1 {
		writeConclusion(&text, c, &prooffile.Conclusion{Headline: f.Headline, Notes: f.Notes})
	}
	for _, p := range f.Proofs {
		if len(f.Proofs) == 1 {
			p.Notes = f.Notes
		} else {
			fmt.Fprintf(&text, "\n%s\n", prooffile.Printable(strings.Join(p.Files, " ")))
		}
		writeConclusion(&text, c, &p.Conclusion)
	}
	return text.String()
}

// writeConclusion writes the verdict and then the steps.
func writeConclusion(text *strings.Builder, c *console, found *prooffile.Conclusion) {
	fmt.Fprintf(text, "%s\n", found.Headline)
	for _, note := range found.Notes {
		fmt.Fprintf(text, "%s\n", note)
	}
	if len(found.Steps) > 0 {
		text.WriteByte('\n')
	}
	for _, s := range found.Steps {
		fmt.Fprintf(text, "%-12s %s: %s\n", s.Name, c.text(markOf(s.State)), s.Detail)
	}
}

// reportPage is a page without scripts, in which html/template escapes whatever files say.
//
//go:embed report.html
var reportPage string

// writeReport writes the findings to a file, as a page that can be printed.
func writeReport(path string, f *prooffile.Findings) error {
	page, err := template.New("report").Funcs(template.FuncMap{"mark": markOf}).Parse(reportPage)
	if err != nil {
		return err
	}
	values := struct {
		*prooffile.Findings
		Version, Time string
	}{f, release.Current().Version, time.Now().UTC().Format(audit.TimeFormat)}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	if err := errors.Join(page.Execute(file, values), file.Close()); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}
