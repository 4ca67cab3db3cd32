package picture

// inkLine is the width of the lines around animals and things.
const inkLine = 2.2

// sun rises behind the crane.
func sun(s *sheet) { s.circle(82, 84, 50, hanaRed) }

// crane stands on one side, its head before the sun.
func crane(s *sheet) {
	s.at(116, 198, 1.1, 0, func() {
		s.line(hanaBlack, 4, "M-2 36L-8 100M-8 100L-24 106M-8 100L6 106M14 36L18 100M18 100L2 106M18 100L32 106")
		s.outlined(hanaBlack, inkLine, func() {
			s.shape(hanaBlack, "M26-20C56-22 76-2 82 30C70 26 66 34 70 46C58 38 52 44 52 56C42 44 34 46 28 54Z")
			s.shape(hanaWhite, "M-50-8C-54-50-30-60-40-92C-44-104-62-104-62-92C-60-84-56-74-62-56C-70-20-62 28-14 42C20 50 52 34 56 8C52-14 20-26-10-16C-24-12-40-12-50-8Z")
		})
		s.line(hanaBlack, 2, "M-14 8C4 0 26 2 44 12M-18 22C0 14 22 16 38 24")
		s.line(hanaBlack, 7, "M-53-84C-48-70-56-58-58-40")
		s.outlined(hanaBlack, 1.6, func() {
			s.shape(hanaYellow, "M-60-96L-92-86L-60-88Z")
			s.shape(hanaRed, "M-62-96C-62-110-44-112-39-98C-46-102-54-100-62-96Z")
		})
		s.circle(-52, -92, 2.6, hanaBlack)
	})
}

// perched draws a small bird that looks left: the colours are of its back, breast and wing.
func perched(s *sheet, back, breast, wing string) {
	s.line(hanaBlack, 3, "M0 26L-4 44M12 26L10 44")
	s.outlined(hanaBlack, inkLine, func() {
		s.shape(back, "M34 6L92 34L84 46L26 26Z")
		s.shape(breast, "M-44-14C-44-38-18-44-4-30C14-18 40-8 44 10C34 30-10 38-30 20C-40 10-44-2-44-14Z")
		s.shape(back, "M-44-16C-44-38-18-44-4-30C14-18 42-8 46 12C20 14-18-4-44-16Z")
		s.shape(wing, "M-10-10C14-16 40 0 62 26C34 30 2 22-10-10Z")
		s.shape(hanaYellow, "M-43-22L-62-18L-42-12Z")
	})
	s.line(hanaBlack, 2, "M4 0C20 4 34 12 44 22M2 8C14 16 24 20 34 24")
	s.circle(-30, -22, 4, hanaBlack)
	s.circle(-31, -23, 1.4, hanaWhite)
}

// warbler sings on the branch of the plum.
func warbler(s *sheet) {
	s.at(104, 226, 1.1, 0, func() { perched(s, "#8a9a2c", hanaYellow, "#5f7020") })
}

// curtain hides those who look at the cherry trees.
func curtain(s *sheet) {
	const top, folds = 186, 6
	s.line(hanaBlack, 6, "M13 184C80 196 160 196 227 184")
	for i := range folds {
		x := 13 + 36*float64(i)
		colour := hanaRed
		if i%2 == 1 {
			colour = hanaWhite
		}
		s.at(x, top, 1, 0, func() { s.shape(colour, "M0 0H36V124H0Z") })
	}
	s.box(midX, top+16, 214, 30, 0, hanaPurple)
	for i := range 4 {
		x := 40 + 54*float64(i)
		s.circle(x, top+16, 9, hanaWhite)
		s.circle(x, top+16, 4, hanaPurple)
	}
	for i := range folds {
		x := 49 + 36*float64(i)
		s.at(x, top+31, 1, 0, func() { s.line(hanaBlack, 2.5, "M0 0V110") })
	}
	s.shape(hanaPaper, "M13 323V290C40 306 70 300 100 312C140 300 190 308 227 290V323Z")
	s.line(hanaBlack, 3, "M13 290C40 306 70 300 100 312C140 300 190 308 227 290")
	s.line(hanaYellow, 6, "M74 190C70 220 80 250 72 282M168 190C172 220 162 250 170 282")
	s.line(hanaBlack, 6, "M13 184C80 196 160 196 227 184")
}

// crescent is the moon of the cuckoo, among red clouds.
func crescent(s *sheet) {
	s.shape(hanaRed, "M13 252C60 236 90 262 130 248C170 234 200 258 227 246V290C190 282 170 304 130 290C90 276 50 302 13 288Z")
	s.outlined(hanaBlack, inkLine, func() {
		s.shape(hanaYellow, "M150 106A44 44 0 1 1 120 182A50 50 0 0 0 150 106Z")
	})
}

// cuckoo flies past the moon.
func cuckoo(s *sheet) {
	s.at(96, 232, 1, -14, func() { flying(s, hanaBlack, hanaYellow, hanaRed) })
}

// flying draws a bird on the wing that looks left: the colours are of wings and tail, body and
// head.
func flying(s *sheet, wing, body, head string) {
	s.outlined(hanaBlack, inkLine, func() {
		s.shape(wing, "M-6-8C-10-40 10-74 50-84C46-72 50-68 44-62C50-58 46-50 40-48C44-40 36-34 28-10Z")
		s.shape(wing, "M34-4L88 2L80 10L92 18L82 22L88 32L28 16Z")
		s.shape(body, "M-52-6C-50-22-28-22-14-14C8-18 34-12 46 6C30 22-4 26-24 14C-40 14-50 6-52-6Z")
		s.shape(head, "M-52-6C-50-22-30-22-18-15C-20-2-30 8-42 8C-48 4-52 0-52-6Z")
		s.shape(hanaBlack, "M-51-9L-68-5L-50-1Z")
		s.shape(wing, "M-4 4C-2 32 26 56 62 58C56 50 60 46 54 42C58 36 52 32 48 30C50 24 42 18 24 2Z")
	})
	s.line(hanaPaper, 2, "M8-24C12-44 22-60 38-70M18-18C24-36 30-46 40-54M8 14C16 32 30 44 48 50")
	s.circle(-38, -9, 3, hanaPaper)
	s.circle(-38, -9, 1.6, hanaBlack)
}

// bridge is of planks laid in a zigzag over the water.
func bridge(s *sheet) {
	for _, y := range []float64{212, 252, 292} {
		s.at(0, y, 1, 0, func() { s.line(hanaBlue, 3, "M13 0C40-10 60 10 90 0C120-10 150 10 180 0C200-8 214 4 227 0") })
	}
	s.outlined(hanaBlack, inkLine, func() {
		for _, post := range []spot{{44, 306, 1, 0}, {92, 282, 1, 0}, {150, 262, 1, 0}, {196, 240, 1, 0}, {120, 216, 1, 0}, {72, 196, 1, 0}} {
			s.at(post.x, post.y, 1, 0, func() { s.shape(hanaBrown, "M-5-16H5V30H-5Z") })
		}
		s.shape(hanaYellow, "M46 158L150 190L140 220L36 186Z")
		s.shape(hanaYellow, "M206 214L224 240L90 290L76 258Z")
		s.shape(hanaYellow, "M108 198L126 180L232 212L216 244Z")
		s.shape(hanaYellow, "M10 296L122 254L134 282L22 330Z")
	})
	s.line(hanaBrown, 2, "M43 167L147 200M39 177L143 210M120 186L227 222M114 192L222 232M210 226L80 268M216 234L85 279M14 306L126 264M18 318L130 273")
}

// butterflies dance above the peony.
func butterflies(s *sheet) {
	butterfly := func(upper, lower string) func() {
		return func() {
			s.outlined(hanaBlack, inkLine, func() {
				for _, side := range []float64{-1, 1} {
					s.at(0, 0, side, 0, func() {
						s.shape(upper, "M2-2C10-40 44-52 58-40C64-24 40 4 2 4Z")
						s.shape(lower, "M2 4C24 0 46 10 42 30C34 42 10 34 2 10Z")
					})
				}
				s.shape(hanaBlack, "M-4-14C-4-20 4-20 4-14L3 24C2 30-2 30-3 24Z")
			})
			s.line(hanaBlack, 2, "M-2-18C-6-32-14-36-20-36M2-18C6-32 14-36 20-36")
			for _, side := range []float64{-1, 1} {
				s.circle(38*side, -28, 7, hanaBlack)
				s.circle(26*side, 20, 5, hanaBlack)
			}
		}
	}
	s.at(84, 74, 1.05, -18, butterfly(hanaYellow, hanaRed))
	s.at(164, 134, 0.85, 24, butterfly(hanaRed, hanaYellow))
}

// boar rests under the bush clover.
func boar(s *sheet) {
	s.at(120, 246, 1.12, 0, func() {
		s.outlined(hanaBlack, inkLine, func() {
			for _, x := range []float64{-50, -30, 34, 56} {
				s.at(x, 34, 1, 0, func() { s.shape("#4a3a33", "M-8-10H9L6 26H-7Z") })
			}
			s.shape("#5d4a40", "M-88 14C-92 2-84-4-72-8C-66-34-40-46-22-44L-14-54L-8-46L2-58L8-48L20-58L24-48L36-54L38-44C64-38 80-18 80 8C80 36 60 46 20 46C-20 48-50 46-64 30C-74 28-84 24-88 14Z")
			s.shape(hanaRed, "M-88 14C-92 4-88-2-80-5C-74 2-74 14-80 20C-84 20-87 18-88 14Z")
			s.shape("#5d4a40", "M-48-40C-44-56-34-60-28-58C-26-48-30-38-38-32Z")
			s.shape(hanaWhite, "M-68 20C-76 16-80 8-78 0C-72 6-66 10-60 14Z")
		})
		s.line(hanaYellow, 4, "M-20-24C-14-8-14 12-22 30M4-30C12-12 12 14 4 34M28-28C38-12 38 12 30 32M52-20C60-8 60 12 54 24")
		s.line("#5d4a40", 5, "M78-4C90-6 92-16 88-22")
		s.circle(-58, -12, 4.5, hanaYellow)
		s.circle(-58, -12, 2.2, hanaBlack)
		s.circle(-85, 6, 1.8, hanaBlack)
		s.circle(-82, 13, 1.8, hanaBlack)
	})
}

// fullMoon stands in a red sky.
func fullMoon(s *sheet) {
	s.box(midX, 130, hanaWidth, 240, 0, hanaRed)
	s.circle(132, 110, 74, hanaWhite)
}

// geese fly home over the hill.
func geese(s *sheet) {
	for _, goose := range []spot{{78, 64, 0.72, -6}, {164, 104, 0.72, 4}, {76, 146, 0.72, -4}} {
		s.at(goose.x, goose.y, goose.size, goose.turn, func() {
			s.outlined(hanaBlack, inkLine, func() {
				s.shape("#6f6a63", "M0-4C-2-30 22-54 60-58C56-48 58-42 50-38C52-30 44-24 36-4Z")
				s.shape(hanaBlack, "M48-6L74-10L68 0L78 8L48 10Z")
				s.shape(hanaYellow, "M-70-18C-66-30-52-28-48-16C-44-8-30-14-10-14C20-16 44-8 54 2C40 16 0 22-24 10C-44 8-58-4-60-12Z")
				s.shape("#6f6a63", "M2 4C6 26 26 40 52 40C48 32 50 26 44 24C44 16 36 10 28 4Z")
				s.shape(hanaRed, "M-62-26L-84-14L-60-12Z")
			})
			s.line(hanaBlack, 2, "M10-14C14-30 26-42 40-48M14 12C22 24 30 30 42 34")
			s.circle(-58, -20, 2.6, hanaBlack)
		})
	}
}

// sakeCup is the shallow cup that wishes a long life.
func sakeCup(s *sheet) {
	s.outlined(hanaBlack, inkLine, func() {
		s.shape("#8f1a12", "M92 286H148L156 308H84Z")
		s.shape(hanaRed, "M34 222C36 270 80 294 120 294C160 294 204 270 206 222Z")
		s.ellipse(midX, 222, 86, 40, hanaRed)
		s.ellipse(midX, 223, 74, 32, hanaYellow)
		s.ellipse(midX, 225, 66, 27, hanaRed)
	})
	s.letter(midX, 225, 46, 60, 0.03, hanaYellow, "寿")
}

// deer looks back under the maple.
func deer(s *sheet) {
	const coat = "#b5702f"
	s.at(122, 236, 1.1, 0, func() {
		s.line(hanaBrown, 6, "M-36-82C-50-90-56-104-52-118M-46-96L-62-100M-26-84C-16-94-14-106-20-120M-18-98L-4-102")
		s.outlined(hanaBlack, inkLine, func() {
			for _, x := range []float64{-34, -20, 36, 50} {
				s.at(x, 30, 1, 0, func() {
					s.shape(coat, "M-7-14H8L4 44H-4Z")
					s.shape(hanaBlack, "M-4.5 38H4.5L6 48H-6Z")
				})
			}
			s.shape(hanaWhite, "M62-12C74-20 80-10 74 0C70 8 64 8 60 6Z")
			s.shape(coat, "M-44 24C-50-4-40-24-44-48C-46-64-36-82-22-80C-10-78 4-66 10-58C10-50 0-48-10-50C-8-38-6-30 2-24C24-32 58-30 68-6C72 16 66 36 48 38C20 34-10 36-28 42C-38 40-42 34-44 24Z")
			s.shape(coat, "M-36-76C-50-84-58-76-60-70C-52-64-42-64-36-68Z")
		})
		for _, p := range []spot{{-20, -14, 4, 0}, {-6, 2, 5, 0}, {14, -12, 5, 0}, {32, 0, 5, 0}, {50, -12, 5, 0}, {14, 14, 4, 0}, {-24, 12, 4, 0}, {52, 12, 4, 0}} {
			s.circle(p.x, p.y, p.size, hanaYellow)
		}
		s.circle(-20, -66, 3, hanaBlack)
		s.circle(8, -57, 3, hanaBlack)
	})
}

// swallow dives through the willow.
func swallow(s *sheet) {
	s.at(122, 178, 1.15, -24, func() {
		s.outlined(hanaBlack, inkLine, func() {
			s.shape(hanaBlack, "M-4-6C0-40 26-66 74-74C60-50 48-24 26-6Z")
			s.shape(hanaBlack, "M30-4C56-6 76-16 100-30C88-10 76 0 62 6C78 10 92 20 100 34C78 26 54 20 30 14Z")
			s.shape(hanaYellow, "M-48 0C-48-18-26-18-12-10C10-14 34-8 44 4C30 18-4 22-22 12C-36 14-46 8-48 0Z")
			s.shape(hanaRed, "M-48 0C-48-16-28-18-14-11C-14 0-24 10-36 10C-44 8-48 4-48 0Z")
			s.shape(hanaYellow, "M-47-4L-62 2L-46 4Z")
			s.shape(hanaBlack, "M-4 6C0 34 24 58 66 70C56 48 44 24 22 6Z")
		})
		s.line(hanaRed, 3, "M8-16C18-36 34-50 56-60M10 18C20 36 34 48 52 58")
		s.circle(-34, -4, 2.8, hanaBlack)
	})
}

// rainMan is the poet Ono no Michikaze with his umbrella, and the frog that taught him patience.
func rainMan(s *sheet) {
	s.shape(hanaYellow, "M13 270C60 256 90 268 130 262C170 258 200 268 227 260V323H13Z")
	s.shape(hanaBlue, "M227 222C190 226 150 250 120 276C104 294 106 312 110 323H190C176 304 196 280 227 262Z")
	s.line(hanaSky, 3, "M214 240C180 250 150 270 134 300M220 252C194 262 170 282 160 306")
	s.at(118, 176, 1, 0, func() {
		s.line(hanaBlack, 5, "M6-86L16 30")
		s.outlined(hanaBlack, inkLine, func() {
			s.shape(hanaBlack, "M-34 92L-16 92L-14 104H-40ZM22 92H38L46 104H20Z")
			s.shape(hanaRed, "M-20 10C-40 40-46 70-46 96H46C44 66 40 36 22 10Z")
			s.shape(hanaBlack, "M-30 46C-12 56 16 56 34 46L38 62C16 72-16 72-36 62Z")
			s.shape(hanaPurple, "M-20-4C-46 6-54 30-52 48C-30 52-14 44-6 28L12 26C22 44 38 48 50 42C52 22 42 4 20-4Z")
			s.circle(-2, -24, 17, hanaWhite)
			s.shape(hanaBlack, "M-19-28C-18-46 12-48 15-26C8-34-8-34-19-28ZM2-42L12-58L18-40Z")
			s.circle(14, 22, 7, hanaWhite)
			s.shape(hanaYellow, "M-84-58C-70-104-20-124 6-118C40-112 74-92 84-52C60-66 46-60 36-52C24-64 4-66-8-56C-22-66-38-66-48-54C-58-62-72-64-84-58Z")
		})
		s.line(hanaBlack, 2.5, "M2-118C-20-104-40-84-48-54M2-118C0-96-4-74-8-56M2-118C18-100 30-78 36-52")
		s.circle(-8, -24, 2, hanaBlack)
		s.circle(2, -24, 2, hanaBlack)
		s.line(hanaRed, 2, "M-6-15H0")
	})
	s.at(72, 290, 1.1, 0, func() {
		s.outlined(hanaBlack, inkLine, func() {
			s.shape(hanaGreen, "M-24 8C-34 10-36 20-28 22H-8L-14 12ZM-26 6C-24-8-6-18 8-16C10-24 20-24 20-16C28-14 28-2 20 2C16 10 22 14 26 20H12C4 16-12 20-26 6Z")
		})
		s.circle(15, -14, 2.4, hanaYellow)
	})
}

// storm is the sky behind the willow where the thunder rolls.
func storm(s *sheet) {
	s.box(midX, midY, hanaWidth, hanaHeight, 0, hanaRed)
	s.shape(hanaBlack, "M13 13H227V120C200 140 186 108 160 126C140 142 120 110 98 130C70 150 50 116 13 136Z")
	s.shape(hanaBlack, "M13 323V270C50 250 80 280 120 262C160 250 190 276 227 256V323Z")
}

// lightning strikes beside the drum of the god of thunder.
func lightning(s *sheet) {
	s.outlined(hanaBlack, 3, func() {
		s.shape(hanaYellow, "M112 40L176 40L142 116L184 110L88 262L110 164L70 172Z")
	})
	s.at(176, 222, 1, 16, func() {
		s.outlined(hanaBlack, 3, func() {
			s.shape(hanaBrown, "M-34-34C-20-46 20-46 34-34V34C20 46-20 46-34 34Z")
			s.circle(0, 0, 33, hanaWhite)
		})
		s.around(3, 0, 120, func() { s.shape(hanaBlack, "M0-26A13 13 0 0 1 6-2C8-10 0-14-8-12C-14-16-10-26 0-26Z") })
	})
}

// phoenix spreads wings and tail above the paulownia.
func phoenix(s *sheet) {
	s.at(92, 100, 1, 0, func() {
		for i, colour := range []string{hanaRed, hanaYellow, hanaGreen} {
			s.at(24, 4, 1, 8+24*float64(i), func() {
				s.outlined(hanaBlack, inkLine, func() {
					s.shape(colour, "M0-8C24-30 52-34 74-22C82-34 102-30 104-14C104 0 88 6 78-4C56-14 28-4 0 10Z")
				})
				s.circle(92, -15, 5, hanaPurple)
			})
		}
		s.outlined(hanaBlack, inkLine, func() {
			s.shape(hanaGreen, "M2-4C-8-40 10-70 46-84C42-72 52-68 46-60C58-58 54-48 48-44C58-38 50-28 36-4Z")
			s.shape(hanaRed, "M8-4C4-30 14-50 36-60C34-50 40-46 36-40C44-36 40-28 32-4Z")
			s.shape(hanaYellow, "M-52-52C-50-62-34-62-32-50C-32-36-28-28-10-24C18-18 40-8 36 10C22 32-14 32-30 14C-44 0-46-26-52-52Z")
			s.shape(hanaRed, "M-18 4C-4-10 22-8 40 12C24 26-4 24-18 4Z")
			s.shape(hanaGreen, "M-44-58C-56-66-56-78-50-86C-44-78-42-68-40-60Z")
			s.shape(hanaRed, "M-40-60C-44-72-40-84-32-90C-30-80-32-68-35-58Z")
			s.shape(hanaYellow, "M-35-57C-34-68-26-76-16-78C-18-68-24-58-32-53Z")
			s.shape(hanaBlack, "M-52-53L-70-42L-50-44Z")
		})
		s.line(hanaBlack, 2, "M-8 6C4 4 20 6 32 14M14-24C14-36 22-46 30-50")
		s.line(hanaRed, 2.5, "M-43-30C-38-28-34-30-31-34M-40-18C-34-14-28-16-24-20")
		s.circle(-42, -51, 3, hanaBlack)
	})
}
