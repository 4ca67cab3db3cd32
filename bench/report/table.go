// Package report presents what was measured: tables for the terminal and for Markdown, and bar
// charts.
package report

import (
	"fmt"
	"math"
	"runtime"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// A Table is rows of text under named columns.
type Table struct{ writer table.Writer }

// NewTable returns an empty table. The first columns, as many as texts says, are text and the
// others numbers, which are aligned to the right.
func NewTable(texts int, columns ...string) *Table {
	t := &Table{table.NewWriter()}
	header, configs := table.Row{}, []table.ColumnConfig{}
	for i, name := range columns {
		header = append(header, name)
		align := text.AlignRight
		if i < texts {
			align = text.AlignDefault
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	t.writer.AppendHeader(header)
	t.writer.SetColumnConfigs(configs)
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	t.writer.SetStyle(style)
	return t
}

// Row adds a row.
func (t *Table) Row(cells ...string) {
	row := table.Row{}
	for _, c := range cells {
		row = append(row, c)
	}
	t.writer.AppendRow(row)
}

// Text returns the table with columns aligned by spaces.
func (t *Table) Text() string { return t.writer.Render() + "\n" }

// Markdown returns the table as GitHub renders it.
func (t *Table) Markdown() string { return t.writer.RenderMarkdown() }

// Count writes a number with commas: 1,234,567.
func Count(n float64) string { return humanize.Comma(int64(math.Round(n))) }

// Size writes bytes in decimal units: 21.5 MB.
func Size(n int64) string { return humanize.SIWithDigits(float64(n), 1, "B") }

// Span writes a time in three digits: 4.67ms.
func Span(d time.Duration) string {
	unit := time.Duration(1)
	for d.Abs()/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit).String()
}

// Machine says what the figures were measured on.
func Machine() string {
	return fmt.Sprintf("%s %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())
}
