package report

import (
	"bytes"
	"image/color"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"
)

// A Panel is a chart of horizontal bars on one scale, the first at the top.
type Panel struct {
	Title string
	Bars  []Bar
}

// A Bar is one value with its label. Highlighted bars have a color of their own.
type Bar struct {
	Name      string
	Value     float64
	Label     string
	Highlight bool
}

// Lengths of the chart, in points.
const (
	chartWidth  = 860
	margin      = 20
	titleHeight = 56
	panelGap    = 18 // of titleHeight, below the bars
	barStep     = 24
	barHeight   = 16
	nameWidth   = 250 // to the left of the bars
	labelSpace  = 1.2 // of the longest bar, so that its label has room to the right
)

var (
	sans = font.Font{Typeface: "Liberation", Variant: "Sans"}

	highlightColor = color.RGBA{0x2b, 0x6c, 0xb0, 0xff}
	plainColor     = color.RGBA{0x9a, 0xa4, 0xaf, 0xff}
)

// Bars draws panels below each other, with a caption, as SVG.
func Bars(panels []Panel, caption string) ([]byte, error) {
	height := vg.Length(3 * margin)
	for _, p := range panels {
		height += p.height()
	}
	svg := vgsvg.New(chartWidth, height)
	canvas := draw.New(svg)
	canvas.SetColor(color.White)
	canvas.Fill(canvas.Path())
	top := height - margin
	for _, p := range panels {
		drawn, err := p.plot()
		if err != nil {
			return nil, err
		}
		drawn.Draw(draw.Crop(canvas, margin, -margin, top-p.height()+panelGap, top-height))
		top -= p.height()
	}
	style := plot.New().Title.TextStyle
	style.Font, style.XAlign = font.From(sans, 11), draw.XLeft
	canvas.FillText(style, vg.Point{X: margin, Y: margin}, caption)
	var b bytes.Buffer
	_, err := svg.WriteTo(&b)
	// Viewers may not have that font.
	return bytes.ReplaceAll(b.Bytes(), []byte("Liberation Sans;"), []byte("Liberation Sans,sans-serif;")), err
}

func (p *Panel) height() vg.Length { return vg.Length(titleHeight + barStep*len(p.Bars)) }

// plot places the bars at the heights 0, -1, -2 and so on, their names to the left of 0.
func (p *Panel) plot() (*plot.Plot, error) {
	drawn := plot.New()
	drawn.HideAxes()
	drawn.Title.Text, drawn.Title.Padding = p.Title, 8
	drawn.Title.TextStyle.Font = font.From(sans, 14)
	most := 0.0
	for _, b := range p.Bars {
		most = max(most, b.Value)
	}
	for i, b := range p.Bars {
		bar, err := plotter.NewBarChart(plotter.Values{b.Value}, barHeight)
		if err != nil {
			return nil, err
		}
		bar.Horizontal, bar.XMin, bar.LineStyle.Width, bar.Color = true, float64(-i), 0, plainColor
		if b.Highlight {
			bar.Color = highlightColor
		}
		names, err := labels(0, -i, b.Name, text.XRight, -8)
		if err != nil {
			return nil, err
		}
		values, err := labels(b.Value, -i, b.Label, text.XLeft, 8)
		if err != nil {
			return nil, err
		}
		drawn.Add(bar, names, values)
	}
	const bars = chartWidth - 2*margin - nameWidth
	drawn.X.Max = most * labelSpace
	drawn.X.Min = -drawn.X.Max * nameWidth / bars
	drawn.Y.Min, drawn.Y.Max = 0.5-float64(len(p.Bars)), 0.5
	return drawn, nil
}

// labels returns one label beside the point x, y.
func labels(x float64, y int, label string, align text.XAlignment, offset vg.Length) (*plotter.Labels, error) {
	l, err := plotter.NewLabels(plotter.XYLabels{XYs: plotter.XYs{{X: x, Y: float64(y)}}, Labels: []string{label}})
	if err != nil {
		return nil, err
	}
	style := &l.TextStyle[0]
	style.Font, style.XAlign, style.YAlign = font.From(sans, 12), align, text.YCenter
	l.Offset.X = offset
	return l, nil
}
