package main

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"os"
	"time"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
)

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
	}{f, version, time.Now().UTC().Format(audit.TimeFormat)}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	if err := errors.Join(page.Execute(file, values), file.Close()); err != nil {
		return fmt.Errorf("the report: %w", err)
	}
	return nil
}
