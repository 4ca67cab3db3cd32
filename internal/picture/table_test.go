package picture

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/png"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/deck"
)

func goOn() error { return nil }

// decode returns the pixels of a PNG.
func decode(t *testing.T, picture []byte, err error) image.Image {
	t.Helper()
	require.NoError(t, err)
	pixels, err := png.Decode(bytes.NewReader(picture))
	require.NoError(t, err)
	return pixels
}

// TestRasterKnowsTheMarkup looks at points inside and beside shapes of each kind, transformed and
// cut off.
func TestRasterKnowsTheMarkup(t *testing.T) {
	const shapes = `<svg><title>x</title>
<rect x="0" y="0" width="100" height="100" fill="#ffffff"/>
<rect x="2" y="2" width="16" height="16" rx="8" fill="#ff0000"/>
<g transform="translate(30 10)rotate(90)" fill="#00ff00"><path d="M-2-8h4v16H-2z"/></g>
<g transform="translate(60 0)scale(-1 1)"><svg x="0" y="0" width="10" height="20" viewBox="0 0 10 20"><rect x="5" y="2" width="16" height="16" fill="#0000ff"/></svg></g>
<path d="M70 10C70-1 86-1 86 10Z" fill="#00ffff"/>
<path d="M10 30C10 50 30 50 30 30" fill="none" stroke="#ff0000" stroke-width="4" stroke-linecap="round"/>
<path d="m40 30q10 20 20 0m10 0l10 10v-10" fill="none" stroke="#ff00ff" stroke-width="2"/>
<g fill="#ffff00"><circle cx="10" cy="70" r="8"/><ellipse cx="30" cy="70" rx="4" ry="9"/></g>
<path d="M50 60H66V76H50ZM54 64V72H62V64Z"/>
<g transform="rotate(180 80 70)"><rect x="70" y="60" width="4" height="4" fill="#ff0000"/></g></svg>`
	pixels := image.NewRGBA(image.Rect(0, 0, 100, 100))
	newPen(pixels, 0, 1).draw([]byte(shapes))
	white, red, green := color.NRGBA{255, 255, 255, 255}, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}
	blue, cyan, pink := color.NRGBA{0, 0, 255, 255}, color.NRGBA{0, 255, 255, 255}, color.NRGBA{255, 0, 255, 255}
	yellow, black := color.NRGBA{255, 255, 0, 255}, color.NRGBA{0, 0, 0, 255}
	for at, want := range map[image.Point]color.NRGBA{
		{10, 10}: red, {3, 3}: white, {24, 10}: green, {36, 10}: green, {30, 15}: white,
		{52, 10}: blue, {47, 10}: white, {58, 10}: white, {78, 5}: cyan, {78, 14}: white,
		{20, 45}: red, {20, 35}: white, {10, 29}: red, {50, 39}: pink, {74, 34}: pink, {80, 33}: pink, {75, 30}: white,
		{10, 70}: yellow, {30, 77}: yellow, {36, 70}: white, {51, 68}: black, {58, 68}: white, {88, 78}: red, {71, 61}: white,
	} {
		assert.Equalf(t, want, color.NRGBAModel.Convert(pixels.At(at.X, at.Y)), "at %v", at)
	}
	for _, other := range []string{`<svg><path d="M0 0S1 2 3 4"/></svg>`, `<svg><path d="M0 0A1 1 0 0 0 1 1"/></svg>`, "<svg>"} {
		assert.Panics(t, func() { newPen(image.NewRGBA(image.Rect(0, 0, 10, 10)), 0, 1).draw([]byte(other)) }, other)
	}
}

// TestTablesShowEveryCard draws every card, each different from all others, and hands of each family.
func TestTablesShowEveryCard(t *testing.T) {
	drawn, families := map[string]string{}, map[string]bool{}
	for _, kind := range types(t) {
		faces := kind.Faces()
		for i := range faces {
			document := Card(kind.Family, &faces[i])
			if drawn[string(document)] != "" { // by another type
				continue
			}
			canvas := image.NewRGBA(image.Rect(0, 0, width, height))
			newPen(canvas, 0, 1).draw(document)
			assert.Emptyf(t, drawn[string(canvas.Pix)], "%s: %s looks like it", kind.Name, faces[i].Code)
			drawn[string(document)], drawn[string(canvas.Pix)] = "drawn", faces[i].Code
		}
		if families[kind.Family] {
			continue
		}
		families[kind.Family] = true
		table := &Table{Family: kind.Family, Title: kind.Title.English, Hands: []uint64{30, 1, 0, 5, 2}, Size: 40}
		var orders [2][]byte
		for first := range orders {
			table.Card = func(place uint64) *deck.Card { return &faces[(uint64(first)+place)%uint64(len(faces))] }
			var err error
			orders[first], err = table.PNG(goOn)
			assert.Equal(t, image.Rect(0, 0, 1200, 630), decode(t, orders[first], err).Bounds())
		}
		assert.NotEqualf(t, orders[0], orders[1], "%s: another order looks the same", kind.Name)
	}
}

// What is drawn of a table, and so the work of it, does not grow with the deal. It ends when wait fails.
func TestTablesAreBounded(t *testing.T) {
	for _, hands := range [][]uint64{nil, {1e12}, {0}, make([]uint64, 1000), {5, 5, 5}, {1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}} {
		drawn := 0
		table := Table{Family: "list", Hands: hands, Size: 1e15, Card: func(uint64) *deck.Card {
			drawn++
			return &deck.Card{Code: "9007199254740991"}
		}}
		picture, err := table.PNG(goOn)
		decode(t, picture, err)
		assert.LessOrEqual(t, drawn, mostOnTable)
	}
	left, waited := errors.New("the caller left"), 0
	_, err := (&Table{Size: 52, Card: func(uint64) *deck.Card { return nil }}).PNG(func() error {
		if waited++; waited > 20 {
			return left
		}
		return nil
	})
	require.ErrorIs(t, err, left)
	assert.Equal(t, 21, waited)
}
