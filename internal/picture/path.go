package picture

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// A spot is where a part of a picture is: its origin, size and turn in degrees.
type spot struct{ x, y, size, turn float64 }

// scatter draws the same at every spot.
func (s *sheet) scatter(spots []spot, draw func()) {
	for _, p := range spots {
		s.at(p.x, p.y, p.size, p.turn, draw)
	}
}

// placed returns a path at another spot, in whole units. A picture with a hundred leaves is a third
// as long with their outlines in one path as with a group for each. The path has absolute commands
// that take points: M, L, C and Z.
func placed(path string, to spot) string {
	sin, cos := math.Sincos(to.turn * math.Pi / 180)
	var out []byte
	number := func(x float64) {
		text := strconv.Itoa(int(math.Round(x)))
		if last := len(out) - 1; text[0] != '-' && out[last] >= '0' && out[last] <= '9' {
			out = append(out, ' ')
		}
		out = append(out, text...)
	}
	for rest := path; rest != ""; {
		if strings.IndexByte("MLCZ", rest[0]) >= 0 {
			out = append(out, rest[0])
			rest = rest[1:]
			continue
		}
		var x, y float64
		x, rest = leading(rest)
		y, rest = leading(rest)
		number(to.x + to.size*(x*cos-y*sin))
		number(to.y + to.size*(x*sin+y*cos))
	}
	return string(out)
}

// leading splits off the number that begins a list of coordinates.
func leading(list string) (number float64, rest string) {
	list = strings.TrimLeft(list, " ")
	end := 1
	for end < len(list) && strings.IndexByte("0123456789.", list[end]) >= 0 {
		end++
	}
	number, err := strconv.ParseFloat(list[:end], 64)
	if err != nil {
		panic(fmt.Sprintf("picture: coordinates %q", list)) // paths are constants
	}
	return number, list[end:]
}

// placedAll returns a path at every spot.
func placedAll(path string, spots ...spot) string {
	var all strings.Builder
	for _, p := range spots {
		all.WriteString(placed(path, p))
	}
	return all.String()
}

// rosette returns n of a path around the origin, in equal steps.
func rosette(n int, path string) string {
	spots := make([]spot, n)
	for i := range spots {
		spots[i] = spot{0, 0, 1, 360 * float64(i) / float64(n)}
	}
	return placedAll(path, spots...)
}
