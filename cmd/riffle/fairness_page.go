package main

import (
	_ "embed"
	"fmt"
	"html/template"
	"math"
	"strings"
)

// fairnessPage is a page without scripts, in which html/template escapes whatever items say.
//
//go:embed fairness.html
var fairnessPage string

// shades are the colours of the matrix, from half as often as it should be, or less, to half as often
// again, or more. They are the scheme PuOr of ColorBrewer, as in the laboratory of the service.
var shades = []string{"#7f3b08", "#b35806", "#e08214", "#fdb863", "#fee0b6", "#f7f7f7", "#d8daeb", "#b2abd2", "#8073ac", "#542788", "#2d004b"}

// A shade is the cells of the matrix that have one colour, as a path of unit squares.
type shade struct{ Fill, Path string }

// Shades draws the matrix of places, by row, and items, by column.
func (r *fairnessReport) Shades() []shade {
	paths := make([]strings.Builder, len(shades))
	n, expected := len(r.Items), r.meter.Positions.Expected()
	for cell, c := range r.meter.Positions.Counts {
		off := max(-0.5, min(0.5, float64(c)/expected-1))
		fmt.Fprintf(&paths[int(math.Round((off+0.5)*float64(len(shades)-1)))], "M%d %dh1v1h-1z", cell%n, cell/n)
	}
	list := make([]shade, len(shades))
	for i, fill := range shades {
		list[i] = shade{fill, paths[i].String()}
	}
	return list
}

// A bar is how often an order came up, in the units of a chart.
type bar struct {
	X, Y, Width, Height float64
	DotX, DotY          float64 // how often the naive shuffle has it
	Order               string
	Share, Fair, Naive  string
}

// Size of the chart of orders.
const chartWidth, chartHeight = 720, 220

// Bars draws how often each order came up. FairLine is where all of them should end.
func (r *fairnessReport) Bars() []bar {
	bars, width := make([]bar, len(r.Orders)), chartWidth/float64(max(1, len(r.Orders)))
	percent := func(x float64) string { return fmt.Sprintf("%.3f%%", 100*x/float64(r.Runs)) }
	for i, o := range r.Orders {
		height := r.heightOf(float64(o.Runs))
		bars[i] = bar{
			X: width * (float64(i) + 0.1), Y: chartHeight - height, Width: width * 0.8, Height: height,
			DotX: width * (float64(i) + 0.5), DotY: chartHeight - r.heightOf(o.Naive), Order: strings.Join(o.Order, " "),
			Share: percent(float64(o.Runs)), Fair: percent(o.Fair), Naive: percent(o.Naive),
		}
	}
	return bars
}

// FairLine is at the height of what a fair shuffle gives.
func (r *fairnessReport) FairLine() float64 { return chartHeight - r.heightOf(r.Orders[0].Fair) }

func (r *fairnessReport) heightOf(runs float64) float64 {
	most := 0.0
	for _, o := range r.Orders {
		most = max(most, float64(o.Runs), o.Naive)
	}
	return runs / most * (chartHeight - 10)
}

// writePage writes the report to a file.
func (r *fairnessReport) writePage(path string) error {
	page, err := template.New("fairness").Parse(fairnessPage)
	if err != nil {
		return err
	}
	return writeHTML(path, page, struct {
		*fairnessReport
		Version       string
		Width, Height int
	}{r, version, chartWidth, chartHeight})
}
