//go:build ignore

// Render makes img/*.png from the package's SVG pictures: 226 by 314 pixels, at most 256 colours.
// It needs rsvg-convert of librsvg2-bin.
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"log"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"riffle/internal/deck"
	"riffle/internal/picture"
)

func main() {
	decks, err := deck.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	kind, _ := decks.Type("standard54")
	drawn := map[string][]byte{"back": picture.Back(kind.Family)}
	for _, face := range kind.Faces() {
		name := face.Code
		if name[0] == 'T' {
			name = "0" + name[1:]
		}
		drawn[name] = picture.Card(kind.Family, &face)
	}
	for name, svg := range drawn {
		if err := render(filepath.Join("img", name+".png"), svg); err != nil {
			log.Fatal(fmt.Errorf("%s: %w", name, err))
		}
	}
}

func render(file string, svg []byte) error {
	convert := exec.Command("rsvg-convert", "--width", "226", "--height", "314")
	convert.Stdin, convert.Stderr = bytes.NewReader(svg), os.Stderr
	raw, err := convert.Output()
	if err != nil {
		return err
	}
	full, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, reduced(full)); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// reduced returns the picture in its 256 most frequent colours. Few others occur, at the edges of
// shapes.
func reduced(full image.Image) image.Image {
	often := map[color.NRGBA]int{}
	box := full.Bounds()
	for y := box.Min.Y; y < box.Max.Y; y++ {
		for x := box.Min.X; x < box.Max.X; x++ {
			often[color.NRGBAModel.Convert(full.At(x, y)).(color.NRGBA)]++
		}
	}
	colours := slices.SortedFunc(maps.Keys(often), func(a, b color.NRGBA) int {
		return cmp.Or(often[b]-often[a], int(a.R)-int(b.R), int(a.G)-int(b.G), int(a.B)-int(b.B), int(a.A)-int(b.A))
	})
	var palette color.Palette
	for _, c := range colours[:min(len(colours), 256)] {
		palette = append(palette, c)
	}
	out := image.NewPaletted(box, palette)
	draw.Draw(out, box, full, box.Min, draw.Src)
	return out
}
