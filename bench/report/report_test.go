package report

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"
)

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		Count(0): "0", Count(999.6): "1,000", Count(1234567): "1,234,567", Count(123456): "123,456",
		Span(950): "950ns", Span(1500): "1.5µs", Span(25 * time.Microsecond): "25µs", Span(131900): "132µs", Span(4670 * time.Microsecond): "4.67ms", Span(12 * time.Second): "12s",
		Size(21_543_210): "21.5 MB", Size(110_012): "110 kB",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestTable(t *testing.T) {
	table := NewTable(1, "name", "per second")
	table.Row("a | b", "1,000")
	table.Row("c", "2")
	if got, want := table.Markdown(), "| name | per second |\n| --- | ---:|\n| a \\| b | 1,000 |\n| c | 2 |"; got != want {
		t.Errorf("Markdown\n%s\nwant\n%s", got, want)
	}
	if got, want := table.Text(), " name   per second \n a | b       1,000 \n c               2 \n"; got != want {
		t.Errorf("text\n%q\nwant\n%q", got, want)
	}
}

func TestBars(t *testing.T) {
	panels := []Panel{
		{"first", []Bar{{"Model <1>", 100, "100/s", false}, {"ours", 50, "50/s", true}, {"none", 0, "0/s", false}}},
		{"second", []Bar{{"alone", 3, "3ms", true}}},
	}
	got, err := Bars(panels, "a caption")
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Bars(panels, "a caption"); err != nil || !bytes.Equal(got, again) {
		t.Error("the same panels give another picture")
	}
	var texts []string
	widths := map[string][]float64{} // of bars, by color
	inText := false
	for d := xml.NewDecoder(bytes.NewReader(got)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inText = token.Name.Local == "text"
			if token.Name.Local == "path" {
				color, width := bar(t, token.Attr)
				widths[color] = append(widths[color], width)
			}
		case xml.CharData:
			if inText {
				texts = append(texts, string(token))
				inText = false
			}
		}
	}
	for _, want := range []string{"first", "Model <1>", "100/s", "ours", "50/s", "none", "0/s", "second", "alone", "3ms", "a caption"} {
		if !strings.Contains("\n"+strings.Join(texts, "\n")+"\n", "\n"+want+"\n") {
			t.Errorf("the picture lacks %q: %q", want, texts)
		}
	}
	plain, highlighted := widths["#9AA4AF"], widths["#2B6CB0"]
	if len(plain) != 2 || len(highlighted) != 2 {
		t.Fatalf("bars %v, want two of each color", widths)
	}
	longest := plain[0]
	for what, test := range map[string][2]float64{"half": {highlighted[0], longest / 2}, "zero": {plain[1], 0}, "alone": {highlighted[1], longest}} {
		if d := test[0] - test[1]; d < -0.5 || d > 0.5 {
			t.Errorf("the bar %s is %g wide, want %g", what, test[0], test[1])
		}
	}
}

// bar returns the color and the width of a path.
func bar(t *testing.T, attributes []xml.Attr) (color string, width float64) {
	t.Helper()
	for _, a := range attributes {
		switch a.Name.Local {
		case "style":
			_, color, _ = strings.Cut(a.Value, "fill:")
			color, _, _ = strings.Cut(color, ";")
		case "d":
			least, most := 1e9, -1e9
			for point := range strings.FieldsFuncSeq(a.Value, func(r rune) bool { return r == 'M' || r == 'L' || r == 'Z' }) {
				var x, y float64
				if _, err := fmt.Sscanf(point, "%g,%g", &x, &y); err != nil {
					t.Fatalf("%q: %v", a.Value, err)
				}
				least, most = min(least, x), max(most, x)
			}
			width = most - least
		}
	}
	return color, width
}
