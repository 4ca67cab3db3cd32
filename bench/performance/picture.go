package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"strings"
	"time"

	"riffle/bench/contest"
)

// A bar is a contender in the picture.
type bar struct {
	name  string
	value float64
	label string
}

// A panel is bars of one scale.
type panel struct {
	title string
	bars  []bar
}

// panels chooses what the picture shows. What was not measured has no bar.
func panels(f *figures) []panel {
	rates := func(title string, cells []cell, each float64) panel {
		p := panel{title: title}
		for _, c := range cells {
			if c.Connections == counted {
				p.bars = append(p.bars, bar{c.Name, each * c.rate(), count(each * c.rate())})
			}
		}
		return p
	}
	list := []panel{
		rates("POST /shuffle of 52 strings: answers a second, 64 connections", f.Lists, 1),
		rates("GET /decks/standard52: answers a second, 64 connections", f.Decks, 1),
		rates("1,000 decks in one request: decks a second, 64 connections", f.Repeats, decksOfRepeat),
	}
	large := panel{title: "1,000,000 items: time of a request; shorter is better"}
	for _, c := range f.Large {
		large.bars = append(large.bars, bar{c.Name, float64(c.P50), span(c.P50)})
	}
	cards := panel{title: "52 cards in process: time of a shuffle; shorter is better"}
	for _, k := range kernelNames {
		if times := f.kernel(k.kernel, 52); times != nil && k.kernel != kernelCrypto { // which would leave no room for the others
			ns := contest.Median(times)
			cards.bars = append(cards.bars, bar{k.name, ns, fmt.Sprintf("%.0f ns", ns)})
		}
	}
	return append(list, large, cards)
}

// Lengths of the picture, in pixels.
const (
	pictureWidth = 860
	margin       = 24
	barStart     = 300 // names end before it
	barLength    = 440 // of the longest
	barHeight    = 18
	barStep      = 26
	titleStep    = 32
	panelGap     = 22
)

// picture returns the bars as SVG.
func picture(f *figures) []byte {
	list := panels(f)
	height := 2*margin + 24
	for _, p := range list {
		height += titleStep + len(p.bars)*barStep + panelGap
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" font-family="system-ui, sans-serif" font-size="14" fill="#1f2328">`+"\n", pictureWidth, height, pictureWidth, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", "Riffle beside other handlers and shuffles")
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", pictureWidth, height)
	y := margin
	for _, p := range list {
		fmt.Fprintf(&b, `<text x="%d" y="%d" font-weight="600">%s</text>`+"\n", margin, y+16, html.EscapeString(p.title))
		y += titleStep
		most := 0.0
		for _, v := range p.bars {
			most = max(most, v.value)
		}
		for _, v := range p.bars {
			fill := "#9aa4af"
			if strings.HasPrefix(v.name, "Riffle") {
				fill = "#2b6cb0"
			}
			length := barLength * v.value / most
			fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="end">%s</text>`, barStart-10, y+14, html.EscapeString(v.name))
			fmt.Fprintf(&b, `<rect x="%d" y="%d" width="%.1f" height="%d" fill="%s"/>`, barStart, y, length, barHeight, fill)
			fmt.Fprintf(&b, `<text x="%.1f" y="%d">%s</text>`+"\n", barStart+length+8, y+14, html.EscapeString(v.label))
			y += barStep
		}
		y += panelGap
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" font-size="12" fill="#57606a">%s</text>`+"\n", margin, y+12, html.EscapeString(caption(f)))
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// caption says what the picture was measured on.
func caption(f *figures) string {
	m := &f.Machine
	text := fmt.Sprintf("%d cores, %s, %s; medians of %s of %s; %s", m.Cores, cmp.Or(m.CPU, "unknown CPU"), m.Go, runsOf(f.Runs), f.Length, m.When.Format(time.DateOnly))
	if f.Quick {
		text = "A quick run, whose figures mean little. " + text
	}
	return text
}
