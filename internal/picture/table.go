package picture

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math"

	"riffle/internal/deck"
)

// The size of a table, which is what messengers show beside a link, its parts, and the most that is
// drawn on it. Cards side by side are apart by 1.06 of their width.
const (
	tableWidth, tableHeight          = 1200, 630
	edge, top, bottom, gap, apart    = 48, 92, 66, 28, 1.06
	mostRows, mostInRow, mostOnTable = 12, 20, 120
	mostInTable                      = 3 * mostOutline // of a line
)

// MaxTableSize is the most memory that drawing a table takes, in bytes: its pixels, a mask as
// large, a card with its elements, and what the PNG grows to.
const MaxTableSize = 2*4*tableWidth*tableHeight + 4<<20

// A Table is a deal to be drawn.
type Table struct {
	Family      string
	Title, Note string
	Hands       []uint64                      // sizes of the hands, from the head of the order
	Size        uint64                        // of the order
	Card        func(place uint64) *deck.Card // in the order; nil for a card that lies face down
}

// A row is cards that lie together.
type row struct {
	label       string
	first, size uint64
}

// rows returns the hands with a short rest, or the head of an order without hands in four lines. left is
// the number of the other cards.
func (t *Table) rows(line uint64) (rows []row, left uint64) {
	sizes, left := t.Hands[:min(mostRows, len(t.Hands))], t.Size
	if len(sizes) == 0 {
		for rest := min(t.Size, 4*line); rest > 0; rest -= min(rest, line) {
			sizes = append(sizes, min(rest, line))
		}
	}
	for i, size := range sizes {
		rows = append(rows, row{fmt.Sprint("Hand ", i+1), t.Size - left, min(size, left)})
		left -= min(size, left)
	}
	if len(t.Hands) > 0 && len(t.Hands) < mostRows && 0 < left && left <= mostInRow {
		rows, left = append(rows, row{"Rest", t.Size - left, left}), 0
	}
	return rows, left
}

// PNG returns the table as a picture. Before each card it calls wait, whose error ends it.
func (t *Table) PNG(wait func() error) ([]byte, error) {
	least, line, head := apart, uint64(8), 0.0
	switch t.Family {
	case "french", "latin", "tarot", "uno": // have an index at the left edge, and may lie on each other
		least, line = 0.3, 13
	}
	if len(t.Hands) > 0 {
		head = 34
	}
	rows, left := t.rows(line)
	most := 1.0 // cards in a row
	for _, r := range rows {
		most = max(most, float64(min(r.size, mostInRow, uint64(mostOnTable/len(rows)))))
	}
	columns, scale, w, h := fit(len(rows), head, width*(1+least*(most-1)))
	step := func(count float64) float64 { return min(apart*width*scale, (w-width*scale)/max(count-1, 1)) }
	side := float64(edge)
	if columns == 1 {
		side = (tableWidth - width*scale - step(most)*(most-1)) / 2
	}

	canvas := image.NewRGBA(image.Rect(0, 0, tableWidth, tableHeight))
	p := newPen(canvas, 0, 1)
	p.draw([]byte("<svg>" + box(tableWidth/2, tableHeight/2, tableWidth, tableHeight, 0, "#0c4532") +
		box(tableWidth/2, tableHeight/2, tableWidth-28, tableHeight-28, 30, "#11573f") + "</svg>"))
	p.write(edge, 56, 36, "#f2f5f0", t.Title)
	if left > 0 {
		t.Note += fmt.Sprintf(" Not shown: %d.", left)
	}
	p.write(edge, tableHeight-46, 24, "#b9d3c4", t.Note)
	for i, r := range rows {
		count := min(float64(r.size), most)
		x, y := side+(w+gap)*float64(i%columns), top+h*float64(i/columns)+(h-head-10-height*scale)/2
		if more := r.size - uint64(count); more > 0 {
			r.label += fmt.Sprintf("  +%d", more)
		}
		if head > 0 {
			p.write(x, y+14, 22, "#f2f5f0", r.label)
		}
		for k := range uint64(count) {
			if err := wait(); err != nil {
				return nil, err
			}
			face := Back(t.Family)
			if c := t.Card(r.first + k); c != nil {
				face = Card(t.Family, c)
			}
			newPen(canvas, complex(math.Round(x+step(count)*float64(k)), math.Round(y+head)), scale).draw(face)
		}
	}
	var out bytes.Buffer
	err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&out, canvas)
	return out.Bytes(), err
}

// fit returns the number of columns in which rows of a length have the largest cards, the scale of
// those, and the room of a row, which has a head.
func fit(rows int, head, length float64) (columns int, scale, w, h float64) {
	for n := 1; n <= rows; n++ {
		wide, high := (tableWidth-2*edge+gap)/float64(n)-gap, (tableHeight-top-bottom)/float64((rows+n-1)/n)
		if fits := min((high-head-10)/height, wide/length, 1.25); fits > scale {
			columns, scale, w, h = n, fits, wide, high
		}
	}
	return columns, scale, w, h
}

// write writes a line that begins at x.
func (p pen) write(x, y, size float64, fill, words string) {
	words = legibleWithin(words, mostInTable)
	room := min(size*ems(words), tableWidth-x-edge)
	p.draw([]byte("<svg>" + write(x+room/2, y, size, room, fill, words) + "</svg>"))
}
