package picture

import "riffle/internal/deck"

// tarot draws the four suits as french does, and trumps and the Fool with their number and the
// emblem that it has had since the packs of Marseille.
func tarot(s *sheet, c *deck.Card) bool {
	number, suitName := c.Attributes["rank"], c.Attributes["suit"]
	if suitName != "trumps" && suitName != "fool" {
		return french(s, c)
	}
	emblem, known := emblems[number]
	if !known || (suitName == "fool") != (number == "0") {
		return false
	}
	s.card("#fbf6ff")
	s.add(`<rect x="20" y="72" width="200" height="192" rx="8" fill="#f1e6fb" stroke="%s" stroke-width="3"/>`, purple)
	s.twice(func() {
		for _, x := range []float64{42, 198} {
			if suitName == "fool" {
				s.at(x, 24, 1, 0, func() { s.shape(purple, starPath) })
			} else {
				s.write(x, 42, 50, 54, purple, number)
			}
		}
	})
	s.at(midX, midY, 1, 0, func() { s.outlined(ink, 2.2, func() { emblem(s) }) })
	return true
}

// emblems of the trumps, and that of the Fool, in the square from -90 to 90.
var emblems = map[string]func(s *sheet){
	"0": fool,
	"1": magician,
	"2": popess,
	"3": func(s *sheet) {
		bust(s, queenHead, sceptre, livery{robe: navy, trim: gold, lining: red, hair: "#d9a441"})
	},
	"4":  func(s *sheet) { bust(s, kingHead, orb, livery{robe: red, trim: gold, lining: navy, hair: "#e8e4dc"}) },
	"5":  pope,
	"6":  lovers,
	"7":  chariot,
	"8":  justice,
	"9":  hermit,
	"10": wheel,
	"11": strength,
	"12": hangedMan,
	"13": death,
	"14": temperance,
	"15": devil,
	"16": tower,
	"17": star,
	"18": moon,
	"19": sunFace,
	"20": judgement,
	"21": world,
}

const (
	wood  = "#9a6433"
	flame = "#e8742a"
	water = "#5fa3d0"
	stone = "#c9c4cf"
)

func bust(s *sheet, head, holds func(s *sheet, l livery), l livery) {
	s.at(0, 28, 1, 0, func() {
		robe(s, l)
		head(s, l)
		holds(s, l)
	})
}

func fool(s *sheet) {
	s.line(wood, 6, "M-80 76L66-62")
	s.shape(red, "M46-78C70-92 92-72 84-50C76-34 52-36 46-54Z")
	s.at(-8, 34, 1, 0, func() { jester(s, fools) })
}

// endless is the lying eight over who masters forces.
func endless(s *sheet, y float64) {
	s.at(0, y, 1, 0, func() {
		for _, l := range []struct {
			colour string
			width  float64
		}{{ink, 10}, {gold, 6}} {
			s.line(l.colour, l.width, "M0 0C-8-16-32-16-32 0C-32 16-8 16 0 0C8-16 32-16 32 0C32 16 8 16 0 0Z")
		}
	})
}

func magician(s *sheet) {
	endless(s, -66)
	s.at(0, -22, 1, -16, func() {
		s.box(0, 0, 104, 9, 4, wood)
		s.box(-52, 0, 12, 13, 4, gold)
		s.box(52, 0, 12, 13, 4, gold)
	})
	s.shape(wood, "M-66 44H-54V86H-66ZM54 44H66V86H54Z")
	s.shape(purple, "M-80 34H80V48C60 58 40 48 20 56C0 60-20 48-40 56C-60 60-72 50-80 50Z")
	s.shape(gold, "M-64 2H-32C-32 18-40 22-44 24V30H-36V34H-60V30H-52V24C-56 22-64 18-64 2Z")
	s.circle(0, 20, 14, gold)
	s.circle(0, 20, 7, cream)
	s.shape(silver, "M34 30L66 2L72 0L70 6L42 36Z")
	s.shape(red, "M40 22L50 34L46 38L34 26Z")
}

func popess(s *sheet) {
	for i, colour := range []string{navy, cream} {
		s.at(float64(i*132-66), 0, 1, 0, func() {
			s.shape(colour, "M-12-54H12V72H-12Z")
			s.shape(gold, "M-18-66H18L14-54H-14ZM-14 72H14L18 84H-18Z")
		})
	}
	s.shape(silver, "M-28-82A32 32 0 1 0 28-82A30 30 0 0 1-28-82Z")
	s.shape(red, "M0 64C-14 54-34 54-46 60V-4C-34-10-14-10 0 2C14-10 34-10 46-4V60C34 54 14 54 0 64Z")
	s.shape(cream, "M0 56C-12 46-30 46-40 50V-10C-28-16-12-14 0-4C12-14 28-16 40-10V50C30 46 12 46 0 56Z")
	s.line(ink, 2, "M0-4V56M-32 4C-24 2-16 3-8 8M-32 18C-24 16-16 17-8 22M-32 32C-24 30-16 31-8 36M32 4C24 2 16 3 8 8M32 18C24 16 16 17 8 22M32 32C24 30 16 31 8 36")
}

func pope(s *sheet) {
	for _, side := range []float64{-1, 1} {
		s.at(0, 34, side, 0, func() {
			s.at(0, 0, 1, 42, func() {
				s.shape(gold, "M-5-34H5V52H-5ZM5 22H22V34H16V42H22V52H5ZM-15-50A15 15 0 1 1 15-50A15 15 0 1 1-15-50ZM-7-50A7 7 0 1 0 7-50A7 7 0 1 0-7-50Z")
			})
		})
	}
	s.at(0, -16, 0.92, 0, func() {
		s.shape(cream, "M-34 26C-40-24-22-58 0-62C22-58 40-24 34 26C12 34-12 34-34 26Z")
		for _, band := range []spot{{0, 22, 1, 0}, {0, -6, 0.98, 0}, {0, -32, 0.74, 0}} {
			s.at(band.x, band.y, band.size, 0, func() {
				s.shape(gold, "M-36 4C-12 12 12 12 36 4L38-8L26-4L18-12L8-2L0-12L-8-2L-18-12L-26-4L-38-8Z")
			})
		}
		s.shape(gold, "M-3-60V-66H-9V-72H-3V-78H3V-72H9V-66H3V-60Z")
	})
}

func lovers(s *sheet) {
	heart := frenchSuits["hearts"].shape
	s.add(`<g fill="#e98a9a" transform="translate(-24 4)rotate(-12)scale(1.15)">%s</g>`, heart)
	s.add(`<g fill="%s" transform="translate(22 6)rotate(10)scale(1.25)">%s</g>`, red, heart)
	s.at(0, 0, 1, 32, func() {
		s.shape(wood, "M-86-3H74V3H-86Z")
		s.shape(silver, "M96 0L70-12L76 0L70 12Z")
		s.shape(gold, "M-94-14H-74L-66-3H-86ZM-94 14H-74L-66 3H-86Z")
	})
}

func chariot(s *sheet) {
	s.shape(navy, "M-66-58C-40-88 40-88 66-58L60-44C44-36 36-48 24-40C12-34-4-46-16-40C-30-34-44-48-60-44Z")
	for _, x := range []float64{-36, 0, 36} {
		s.circle(x, -61, 4, gold)
	}
	s.shape(gold, "M-54-42H-46V4H-54ZM46-42H54V4H46Z")
	for _, side := range []float64{-1, 1} {
		s.at(70*side, 46, 1, 0, func() {
			s.ellipse(0, 0, 16, 38, wood)
			s.ellipse(0, 0, 9, 29, cream)
			s.line(wood, 4, "M0-29V29M-9 0H9M-6-20L6 20M6-20L-6 20")
		})
	}
	s.shape(red, "M-60 0H60L52 62C30 72-30 72-52 62Z")
	s.shape(gold, "M-64-8H64V6H-64Z")
	s.shape(silver, "M-24 16H24C26 44 14 56 0 62C-14 56-26 44-24 16Z")
	s.shape(purple, "M-14 26H14L0 50Z")
}

func justice(s *sheet) {
	s.shape(silver, "M0-88L7-70V52H-7V-70Z")
	s.shape(gold, "M-26 50H26V60H-26ZM-5 60H5V80H-5Z")
	s.circle(0, 83, 7, gold)
	s.shape(gold, "M-72-42C-40-54-20-46 0-50C20-46 40-54 72-42V-34C40-46 20-38 0-42C-20-38-40-46-72-34Z")
	for _, side := range []float64{-1, 1} {
		s.at(66*side, 0, 1, 0, func() {
			s.line(ink, 2, "M0-36L-20 20M0-36L20 20")
			s.shape(gold, "M-26 20H26C24 38 12 42 0 42C-12 42-24 38-26 20Z")
		})
	}
}

func hermit(s *sheet) {
	s.add(`<g stroke="none">`)
	s.shape("#f8dc8a", rays)
	s.circle(0, 6, 62, "#fbeec0")
	s.add("</g>")
	s.line(ink, 5, "M0-40V-58")
	s.line(ink, 4, "M-14-58A14 14 0 1 1 14-58")
	s.shape(wood, "M-34-18L0-44L34-18Z")
	s.shape(cream, "M-28-18H28V52H-28Z")
	s.shape(wood, "M-34 52H34V64H-34Z")
	s.shape(gold, starPath)
	s.line(ink, 2.5, "M-28-18V52M28-18V52")
}

var rays = rosette(12, "M-7-54L0-92L7-54Z")

// starPath is a star with six points.
const starPath = "M0-9L7 5L24 5L14 18L24 31L7 31L0 46L-7 31L-24 31L-14 18L-24 5L-7 5Z"

func wheel(s *sheet) {
	s.shape(wood, "M-64 88L-10 0H10L64 88H46L0 12L-46 88Z")
	s.circle(0, -8, 76, gold)
	s.circle(0, -8, 60, cream)
	s.at(0, -8, 1, 0, func() {
		s.around(8, 0, 45, func() { s.shape(wood, "M-4-60H4V0H-4Z") })
		s.circle(0, 0, 16, red)
		s.circle(0, 0, 6, gold)
		s.around(8, 22.5, 45, func() { s.circle(0, -68, 4.5, purple) })
	})
}

func strength(s *sheet) {
	s.shape("#b5601c", mane)
	s.circle(-36, -34, 13, gold)
	s.circle(36, -34, 13, gold)
	s.shape(gold, "M-44-18C-44-52 44-52 44-18C46 16 26 48 0 50C-26 48-46 16-44-18Z")
	s.shape(cream, "M-24 20C-24 4-8 2 0 10C8 2 24 4 24 20C22 38 10 44 0 44C-10 44-22 38-24 20Z")
	s.shape(ink, "M-13 0H13C12 8 6 14 0 16C-6 14-12 8-13 0Z")
	s.line(ink, 3, "M0 14V24M0 24C-6 32-14 30-18 26M0 24C6 32 14 30 18 26M-32-22C-26-28-18-28-12-22M32-22C26-28 18-28 12-22")
	s.circle(-21, -12, 4, ink)
	s.circle(21, -12, 4, ink)
}

var mane = rosette(12, "M-24-30C-30-62-12-78 0-88C12-78 30-62 24-30C10-20-10-20-24-30Z")

func hangedMan(s *sheet) {
	s.shape(wood, "M-82-84H82V-70H-82ZM-78-70H-64V88H-78ZM64-70H78V88H64Z")
	s.line(ink, 3, "M0-70V-52")
	s.shape(red, "M-6-54H8L10-8H-8Z")
	s.shape(red, "M-8-16L-40-20L-34-34L4-26Z")
	s.shape(navy, "M-22-10H22L26 34H-26Z")
	s.shape(gold, "M-24 26L-44 6L-36-2L-16 12ZM24 26L44 6L36-2L16 12Z")
	s.add(`<g stroke="none">`)
	s.circle(0, 58, 27, "#f8dc8a")
	s.add("</g>")
	s.shape("#d9a441", "M-17 56C-20 74-12 84-14 90C-4 84 6 84 14 90C12 84 20 74 17 56Z")
	s.shape(skin, "M-15 54C-15 32 15 32 15 54C15 68 8 74 0 74C-8 74-15 68-15 54Z")
	s.circle(-6, 58, 1.6, ink)
	s.circle(6, 58, 1.6, ink)
	s.line(ink, 1.8, "M-4 46H4")
	s.shape("#5a3a22", "M-8-62H10V-52H-8Z")
}

func death(s *sheet) {
	s.at(0, 0, 1, 24, func() { s.shape(wood, "M38-84H46V76H38Z") })
	s.shape(silver, "M82-66C30-100-40-92-80-46C-40-66 20-66 66-40Z")
	s.shape(cream, "M-46-6C-46-46 46-46 46-6C46 14 40 22 30 28L28 50H-28L-30 28C-40 22-46 14-46-6Z")
	s.shape(ink, "M-32-2C-30-18-10-18-8-2C-8 12-28 14-32-2ZM32-2C30-18 10-18 8-2C8 12 28 14 32-2ZM0 12L-7 28H7Z")
	s.line(ink, 3, "M-28 38H28M-14 34V50M0 34V50M14 34V50")
	s.shape(cream, "M-26 56H26C26 76 16 84 0 84C-16 84-26 76-26 56Z")
	s.line(ink, 3, "M-12 56V66M0 56V68M12 56V66")
}

func temperance(s *sheet) {
	jug := "M-14-30H18V-22L14-18C30-8 34 20 18 34H-14C-30 20-26-8-10-18L-14-22Z"
	s.line(ink, 12, "M-32-34C-4-36 16-4 22 16")
	s.line(water, 8, "M-32-34C-4-36 16-4 22 16")
	s.at(-56, -38, 1, 62, func() {
		s.line(ink, 5, "M-16-14C-40-16-40 18-22 20")
		s.shape(silver, jug)
		s.shape(red, "M-25 4H29V14H-25Z")
	})
	s.at(30, 46, 1.1, 0, func() {
		s.line(ink, 5, "M20-14C44-16 44 18 26 20")
		s.shape(gold, jug)
		s.shape(navy, "M-25 4H29V14H-25Z")
	})
}

func devil(s *sheet) {
	for _, side := range []float64{-1, 1} {
		s.at(0, 0, side, 0, func() {
			s.shape("#4a4458", "M24 10C40-20 60-40 88-46C84-30 86-20 90-8C78-10 74 0 76 12C64 8 58 16 58 28C48 22 36 26 26 40Z")
			s.shape(cream, "M18-36C22-60 40-66 38-88C58-70 56-40 36-24Z")
			s.shape("#a3201a", "M40-14L64-22C62-6 54 4 40 6Z")
		})
	}
	s.shape(red, "M-42-16C-42-50 42-50 42-16C44 14 28 46 0 64C-28 46-44 14-42-16Z")
	s.shape(ink, "M-14 44C-6 50 6 50 14 44L0 86Z")
	s.line(ink, 4, "M-32-22L-12-12M32-22L12-12")
	s.circle(-20, -6, 6, gold)
	s.circle(20, -6, 6, gold)
	s.circle(-20, -6, 2, ink)
	s.circle(20, -6, 2, ink)
	s.line(ink, 2.5, "M-6 16C-2 20 2 20 6 16")
	s.shape(cream, "M-22 26C-8 36 8 36 22 26C18 42-18 42-22 26Z")
}

func tower(s *sheet) {
	s.shape(stone, "M-30-30H34L40 88H-36Z")
	s.line("#8d8795", 2.5, "M-32 4H36M-33 30H37M-35 58H38M-10-30V4M14 4V30M-14 30V58M12 58V88")
	s.shape(ink, "M-10-4H12V22H-10ZM-8 62C-8 48 14 48 14 62V88H-8Z")
	s.at(-14, -56, 1, -24, func() {
		s.shape(stone, "M-36 18V-8H-24V2H-12V-8H4V2H16V-8H28V18Z")
	})
	s.shape(flame, "M-26-30C-30-46-20-50-22-60C-10-54-8-46-4-52C0-60-2-66 2-72C14-62 14-50 20-54C26-48 32-42 32-30Z")
	s.shape(gold, "M88-86L40-44L54-42L28-22L72-46L58-50L90-72Z")
	for _, p := range [][2]float64{{-62, -6}, {-70, 34}, {60, 12}, {70, 52}, {-56, 66}} {
		s.circle(p[0], p[1], 6, gold)
	}
}

func star(s *sheet) {
	s.shape(gold, "M0-86L13-41L49-69L36-28L82-20L40-4L58 36L18 16L0 62L-18 16L-58 36L-40-4L-82-20L-36-28L-49-69L-13-41Z")
	s.circle(0, -14, 15, cream)
	for _, p := range [][2]float64{{-72, -72}, {72, -72}, {-78, 34}, {78, 34}} {
		s.at(p[0], p[1], 1, 0, func() { s.shape(cream, "M0-12L4-4L12 0L4 4L0 12L-4 4L-12 0L-4-4Z") })
	}
	for _, y := range []float64{70, 84} {
		s.at(0, y, 1, 0, func() {
			s.line(water, 5, "M-84 0C-70-12-56 12-42 0C-28-12-14 12 0 0C14-12 28 12 42 0C56-12 70 12 84 0")
		})
	}
}

func moon(s *sheet) {
	s.circle(0, -26, 54, "#8fb3dc")
	s.shape(gold, "M14-78C-40-72-44 10 10 24C-12 6-12 4-4-4L-14-12L-6-26C-8-40-4-62 14-78Z")
	s.circle(-15, -36, 3.5, ink)
	s.line(ink, 2.5, "M-10-8L-18-4")
	for _, p := range [][2]float64{{-70, -58}, {70, -58}, {-76, -14}, {76, -14}} {
		s.at(p[0], p[1], 1, 0, func() { s.shape(red, "M0-12C6-2 8 2 6 7C4 12-4 12-6 7C-8 2-6-2 0-12Z") })
	}
	for _, side := range []float64{-1, 1} {
		s.at(66*side, 60, 1, 0, func() {
			s.shape(stone, "M-18 28V-28H-22V-40H-12V-32H-5V-40H5V-32H12V-40H22V-28H18V28Z")
			s.shape(ink, "M-5-8H5V8H-5Z")
		})
	}
	for _, y := range []float64{58, 72, 86} {
		s.at(0, y, 1, 0, func() { s.line(water, 5, "M-42 0C-30-10-18 10-6 0C6-10 18 10 30 0C34-4 38-4 42-2") })
	}
}

func sunFace(s *sheet) {
	s.around(8, 0, 45, func() { s.shape(gold, "M-14-44L0-90L14-44Z") })
	s.around(8, 22.5, 45, func() { s.shape(flame, "M-9-44C-18-58 2-66-6-84C12-76 8-60 9-44Z") })
	s.circle(0, 0, 50, "#ffd34d")
	s.line(ink, 3, "M-28-14C-22-22-12-22-8-14M28-14C22-22 12-22 8-14M2-8L7 10H-3")
	s.circle(-18, -6, 4, ink)
	s.circle(18, -6, 4, ink)
	s.shape(red, "M-18 20C-6 26 6 26 18 20C12 34-12 34-18 20Z")
	s.circle(-30, 8, 6, "#f4a261")
	s.circle(30, 8, 6, "#f4a261")
}

func judgement(s *sheet) {
	s.at(0, -50, 1, 0, func() {
		s.around(7, -60, 20, func() { s.shape("#f8dc8a", "M-6 0L0 110L6 0Z") })
	})
	s.shape(cream, "M-74-46C-86-66-60-80-48-70C-40-90-10-88-2-74C12-90 42-84 46-68C66-78 84-60 72-44C60-30-60-30-74-46Z")
	s.at(0, -34, 1, 28, func() {
		s.shape(gold, "M-5-20H5V62C10 80 20 90 34 98C10 106-10 106-34 98C-20 90-10 80-5 62Z")
		s.shape(cream, "M5 4H60V50H5Z")
		s.shape(red, "M26 4H38V20H60V32H38V50H26V32H5V20H26Z")
	})
}

func world(s *sheet) {
	s.around(20, 0, 18, func() {
		s.at(0, -72, 1, 66, func() { s.shape(green, "M0 16C-12 4-8-14 0-22C8-14 12 4 0 16Z") })
	})
	s.shape(red, "M-16-80L16-64L14-80L-14-64ZM-16 80L16 64L14 80L-14 64Z")
	s.circle(0, 0, 50, water)
	s.shape("#4d9a55", "M-36-34C-20-46-2-46 4-36C6-26-6-26-8-16C-10-4-24-2-28 8C-40 6-48-14-36-34ZM10-14C22-28 40-22 46-12C50 6 44 22 32 34C20 36 22 20 14 14C4 8 2-4 10-14ZM-22 22C-10 18 0 28-4 42C-14 46-26 40-30 34Z")
	for _, p := range [][2]float64{{-78, -78}, {78, -78}, {-78, 78}, {78, 78}} {
		s.at(p[0], p[1], 1, 0, func() { s.shape(gold, "M0-13L4-4L13 0L4 4L0 13L-4 4L-13 0L-4-4Z") })
	}
}
