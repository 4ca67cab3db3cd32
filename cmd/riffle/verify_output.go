package main

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"time"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/release"
)

// errUnchecked is for proofs that could not be checked to the end. The reason has been printed.
var errUnchecked = errors.New("the files were read, and it could not be checked to the end")

// verdictErrors have the errors that give verdicts their exit codes.
var verdictErrors = map[prooffile.Verdict]error{
	prooffile.VerdictFalse:     fmt.Errorf("the files were checked, and %w", errFindings),
	prooffile.VerdictUnchecked: errUnchecked,
}

// reportPage is a page without scripts, in which html/template escapes whatever files say.
//
//go:embed report.html
var reportPage string

// writeReport writes the findings to a file, as a page that can be printed.
func writeReport(path string, f *prooffile.Findings) error {
	values := struct {
		*prooffile.Findings
		Version, Time string
	}{f, release.Current().Version, time.Now().UTC().Format(audit.TimeFormat)}
	var page bytes.Buffer
	err := template.Must(template.New("report").Funcs(template.FuncMap{"mark": markOf}).Parse(reportPage)).Execute(&page, values)
	if err == nil {
		err = os.WriteFile(path, page.Bytes(), 0o600)
	}
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}
