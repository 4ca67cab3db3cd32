package picture

// pine draws fans of needles on a red trunk.
func pine(s *sheet, arranged layout) {
	trunk := "M13 290C70 250 40 190 110 160C160 140 120 80 200 50"
	fans := []spot{{178, 84, 1, 8}, {70, 132, 1, -10}, {170, 186, 1, 10}, {76, 238, 1.05, -8}, {172, 292, 1.05, 6}}
	if arranged == forBright {
		trunk = "M227 300C190 250 220 180 190 130C180 105 200 70 227 50"
		fans = []spot{{190, 92, 0.8, 6}, {208, 168, 0.85, 10}, {194, 250, 0.9, -6}, {56, 322, 1, -4}, {156, 326, 1, 4}}
	}
	s.line(hanaRed, 13, trunk)
	s.scatter(fans, func() {
		s.shape(hanaGreen, "M-56 10C-62-10-48-28-42-30C-38-46-20-54-14-50C-4-60 10-58 16-50C26-54 40-44 42-30C52-26 62-8 56 10C30 20-30 20-56 10Z")
		s.line(hanaLeaf, 3, "M0 8L-48 2M0 8L-40-18M0 8L-25-36M0 8L-9-44M0 8L9-44M0 8L25-36M0 8L40-18M0 8L48 2")
	})
}

var plumStamens = rosette(5, "M0 0L9-12")

// plum draws red flowers with five round petals on a bare, angular branch.
func plum(s *sheet, arranged layout) {
	branch := "M60 323L84 262L64 204L116 150L98 92L140 40M70 214L30 170M110 158L176 130L214 140M100 96L56 62"
	flowers := []spot{{140, 52, 1.1, 0}, {50, 66, 1, 20}, {104, 112, 1.1, 40}, {196, 134, 1.2, 10}, {36, 164, 1, 0}, {110, 186, 1.15, 30}, {84, 262, 1.2, 50}, {186, 236, 1, 12}}
	buds := []spot{{178, 58, 1, 0}, {64, 118, 1, 0}, {156, 178, 1, 0}, {150, 290, 1, 0}}
	if arranged == forAnimal {
		branch = "M227 300L180 268L120 276L74 236L40 244M180 268L196 196L176 140L196 90M74 236L52 180L66 130"
		flowers = []spot{{192, 88, 1.1, 0}, {172, 148, 1, 20}, {200, 206, 1.1, 40}, {62, 128, 1.1, 10}, {48, 186, 1, 0}, {40, 250, 1.1, 30}, {150, 286, 1.2, 50}}
		buds = []spot{{150, 104, 1, 0}, {206, 50, 1, 0}, {92, 100, 1, 0}, {96, 284, 1, 0}}
	}
	if arranged == forRibbon {
		flowers = append(flowers, spot{192, 60, 1, 0}, spot{200, 290, 1.1, 0})
	}
	s.outlined(hanaBlack, 11, func() { s.shape("none", branch) })
	s.scatter(buds, func() { s.circle(0, 0, 9, hanaRed) })
	s.scatter(flowers, func() {
		s.outlined(hanaPaper, 2, func() {
			for _, petal := range [][2]float64{{0, -16}, {15, -5}, {9, 13}, {-9, 13}, {-15, -5}} {
				s.circle(petal[0], petal[1], 13, hanaRed)
			}
		})
		s.line(hanaYellow, 2, plumStamens)
		s.circle(0, 0, 6, hanaYellow)
	})
}

var (
	cherryPetals  = rosette(5, "M0 0C-15-8-16-26-7-31L0-25L7-31C16-26 15-8 0 0Z")
	cherryStamens = rosette(5, "M0 0L0-13")
)

// cherry draws clouds of pink flowers with notched petals.
func cherry(s *sheet, arranged layout) {
	branch := "M13 120C70 130 120 90 227 110M60 124C70 180 110 220 160 230M13 300C60 290 90 270 120 220"
	flowers := []spot{
		{44, 54, 1.1, 0},
		{104, 40, 1, 30},
		{166, 54, 1.15, 10},
		{212, 96, 1, 0},
		{70, 104, 1.15, 40},
		{132, 104, 1.2, 20},
		{36, 168, 1, 12},
		{98, 168, 1.1, 50},
		{180, 160, 1.1, 5},
		{150, 224, 1.2, 25},
		{60, 240, 1.1, 0},
		{206, 250, 1, 30},
		{110, 284, 1.15, 10},
		{176, 298, 1, 45},
	}
	leaves := []spot{{190, 120, 1, 60}, {30, 110, 1, -60}, {130, 60, 1, 10}, {120, 210, 1, -80}, {196, 210, 1, 40}, {60, 288, 1, -120}}
	if arranged == forBright {
		branch = "M13 60C70 90 150 50 227 80M90 74C100 110 140 130 190 136"
		flowers = flowers[:6]
		flowers = append(flowers, spot{40, 146, 1, 0}, spot{96, 158, 1.1, 12}, spot{158, 150, 1.1, 40}, spot{208, 156, 1, 10})
		leaves = leaves[:3]
	}
	s.line(hanaBrown, 7, branch)
	s.scatter(leaves, func() { s.shape("#9c4a2c", "M0 0C-12-14-8-36 0-46C8-36 12-14 0 0Z") })
	s.scatter(flowers, func() {
		s.outlined(hanaRed, 1.6, func() { s.shape(hanaPink, cherryPetals+cherryStamens) })
		s.circle(0, 0, 4.5, hanaYellow)
	})
}

var wisteriaLeaf = placedAll("M0 0C-6-10-18-12-26-8C-20 0-8 4 0 0C8 4 20 0 26-8C18-12 6-10 0 0Z",
	spot{0, -14, 1, 0}, spot{0, -28, 1, 0}, spot{0, -42, 1, 0}) + "M0-42C-7-52-5-62 0-70C5-62 7-52 0-42Z"

// wisteria draws clusters that hang from a vine.
func wisteria(s *sheet, arranged layout) {
	clusters := []spot{{50, 62, 1.1, 0}, {104, 84, 1.25, 0}, {160, 60, 1.3, 0}, {204, 92, 1.05, 0}, {70, 190, 0.9, 0}, {186, 200, 0.8, 0}}
	leaves := []spot{{40, 40, 1, -120}, {90, 50, 1, 160}, {130, 44, 1, -150}, {186, 50, 1, 130}, {210, 40, 1, 170}}
	if arranged == forAnimal {
		clusters = []spot{{38, 62, 1.2, 0}, {88, 56, 0.9, 0}, {136, 48, 0.4, 0}, {212, 52, 0.75, 0}, {182, 56, 0.35, 0}}
	}
	s.line(hanaBrown, 8, "M13 40C60 70 110 20 150 44C190 66 210 40 227 30")
	s.scatter(leaves, func() {
		s.shape(hanaGreen, wisteriaLeaf)
	})
	s.scatter(clusters, func() {
		const rows = 9
		s.outlined(hanaPaper, 1, func() {
			for i := range rows {
				y, out := 13*float64(i), 15*(1-float64(i)/rows)+3
				colour := hanaPurple
				if i%2 == 1 {
					colour = hanaLilac
				}
				s.ellipse(-out, y, 12-0.6*float64(i), 9, colour)
				s.ellipse(out, y, 12-0.6*float64(i), 9, colour)
			}
			s.ellipse(0, 13*rows, 5, 9, hanaPurple)
		})
	})
}

// iris draws purple flowers among upright leaves.
func iris(s *sheet, arranged layout) {
	flowers := []spot{{76, 96, 1.25, -4}, {172, 84, 1.2, 6}, {122, 176, 1.3, 0}, {50, 206, 0.9, -8}, {196, 196, 0.95, 8}}
	if arranged == forAnimal {
		flowers = []spot{{64, 76, 1.1, -4}, {132, 60, 1.1, 4}, {192, 104, 1.1, 6}}
	}
	blades := []spot{
		{26, 330, 1.1, -6}, {52, 330, 1.5, -4}, {84, 330, 1.2, 2}, {104, 330, 1.6, -2}, {134, 330, 1.4, 4}, {160, 330, 1.15, -5}, {182, 330, 1.6, 3}, {212, 330, 1.2, 7},
	}
	s.scatter(flowers, func() { s.line(hanaGreen, 5, "M0 20L4 240") })
	s.scatter(blades, func() {
		s.shape(hanaGreen, "M-9 0C-8-70-4-120 0-150C4-120 8-70 9 0Z")
		s.line(hanaLeaf, 2, "M0 0V-110")
	})
	s.scatter(flowers, func() {
		s.outlined(hanaPaper, 1.6, func() {
			s.around(3, -24, 24, func() { s.shape(hanaLilac, "M0 6C-13-12-10-34 0-44C10-34 13-12 0 6Z") })
			for _, side := range []float64{-1, 1} {
				s.at(0, 0, side, 0, func() {
					s.shape(hanaPurple, "M0-4C14-14 34-12 44 6C48 20 40 34 30 38C30 20 16 12 0 6Z")
				})
			}
			s.shape(hanaPurple, "M0-4C-22 8-22 40 0 52C22 40 22 8 0-4Z")
		})
		s.shape(hanaYellow, "M0 4C-5 12-5 22 0 30C5 22 5 12 0 4Z")
		s.line(hanaYellow, 4, "M-12 2L-26 6M12 2L26 6")
	})
}

const peonyPetal = "M0 0C-22-8-30-42-20-54C-16-60-8-56-6-58C-2-62 2-62 6-58C8-56 16-60 20-54C30-42 22-8 0 0Z"

// peony draws large red flowers that are full of petals, on lobed leaves.
func peony(s *sheet, arranged layout) {
	flowers := []spot{{78, 92, 1, 0}, {158, 196, 1.15, 20}, {64, 270, 0.75, 10}}
	leaves := []spot{{150, 90, 1.1, 60}, {184, 120, 1, 110}, {70, 170, 1.1, -150}, {60, 190, 1, -80}, {110, 280, 1.1, 160}, {200, 270, 1.1, 130}, {190, 50, 0.8, 30}, {30, 40, 0.7, -40}}
	if arranged == forAnimal {
		flowers = []spot{{72, 250, 1.15, 0}, {176, 210, 0.85, 20}}
		leaves = []spot{{30, 180, 0.9, -30}, {120, 190, 1, 0}, {136, 262, 1, 110}, {200, 280, 1.1, 150}, {140, 290, 1, 180}, {216, 150, 0.8, 40}}
	}
	s.scatter(leaves, func() {
		s.shape(hanaGreen, "M0 0C-14-6-26-20-28-40L-14-32L0-62L14-32L28-40C26-20 14-6 0 0Z")
		s.line(hanaLeaf, 2, "M0 0V-46M0-10L-18-28M0-10L18-28")
	})
	s.scatter(flowers, func() {
		for _, ring := range []struct {
			petals int
			size   float64
			colour string
		}{{8, 1, hanaRed}, {7, 0.74, "#de4a44"}, {6, 0.5, "#ef8a86"}} {
			s.outlined(hanaPaper, 2, func() {
				for i := range ring.petals {
					s.shape(ring.colour, placed(peonyPetal, spot{0, 0, ring.size, 360 * float64(i) / float64(ring.petals)}))
				}
			})
		}
		s.circle(0, 0, 10, hanaYellow)
	})
}

var (
	cloverJoints = []spot{{1, -26, 1, -70}, {4, -50, 1, 60}, {11, -74, 1, -50}, {22, -95, 1, 90}, {37, -113, 1, -20}, {56, -126, 1, 130}, {78, -134, 1, 80}}
	cloverLeaves = placedAll(placedAll("M0 0C-7-5-6-16 0-19C6-16 7-5 0 0Z", spot{0, 0, 1, -58}, spot{0, 0, 1, 0}, spot{0, 0, 1, 58}), cloverJoints...)
	cloverRed    = placedAll("M0 2C-7 4-9 12-4 14C0 12 2 8 0 2ZM0 10C-5 14-3 20 0 21C3 20 5 14 0 10Z", cloverJoints[1:]...)
	cloverPink   = placedAll("M0 2C7 4 9 12 4 14C0 12-2 8 0 2Z", cloverJoints[1:]...)
)

// bushClover draws arching stems with leaves in threes and small flowers.
func bushClover(s *sheet, arranged layout) {
	stems := []spot{{30, 330, 1.55, -10}, {76, 330, 2, -22}, {214, 330, -1.55, 10}, {150, 330, -1.9, 24}, {120, 330, 1.2, -4}}
	if arranged == forAnimal {
		stems = []spot{{16, 190, 1.15, 0}, {22, 260, 1.35, -20}, {224, 190, -1.15, 0}, {218, 260, -1.35, 20}}
	}
	s.scatter(stems, func() {
		s.line(hanaBrown, 2.6, "M0 0C2-70 20-124 78-134")
		s.shape(hanaGreen, cloverLeaves)
		s.shape(hanaRed, cloverRed)
		s.shape(hanaPink, cloverPink)
	})
}

// blades is the grass of a hill.
var blades = func() string {
	var spots []spot
	for row, n := range []int{4, 6, 7, 8} {
		for i := range n {
			out := float64(i) - float64(n-1)/2 // from the middle of the row
			spots = append(spots, spot{midX + 27*out, 224 + 30*float64(row), 0.8, 9*out - 5})
		}
	}
	return placedAll("M0 0C-2-16 2-34 12-44", spots...)
}()

var (
	plumeFlorets = placedAll("M0 4C-5-12-4-26 2-36C7-26 6-12 0 4Z", plume(0)...)
	plumeShade   = placedAll("M0 4C-4-10-3-22 1-30C5-22 5-10 0 4Z", plume(44)...)
)

// plume returns where a plume of grass has its florets.
func plume(turn float64) []spot {
	spots := make([]spot, 6)
	for i := range spots {
		up := 11 * float64(i)
		spots[i] = spot{7 + 0.4*up, -84 - 0.7*up, 1, turn + 28 + 8*float64(i)}
	}
	return spots
}

// pampasGrass draws a bare hill with grass and plumes.
func pampasGrass(s *sheet, arranged layout) {
	if arranged != forBright {
		plumes := []spot{{36, 220, 0.95, -4}, {86, 196, 1.1, -12}, {128, 190, 1.2, 2}, {178, 204, 1, 10}}
		if arranged == forAnimal {
			plumes = []spot{{190, 236, 0.7, -8}, {214, 246, 0.75, 6}}
		}
		s.scatter(plumes, func() {
			s.line(hanaBrown, 3, "M0 30C0-30 2-70 8-100C10-114 20-126 34-130")
			s.shape("#e6d5a0", plumeFlorets)
			s.shape("#c9a85c", plumeShade)
		})
	}
	s.shape(hanaBlack, "M13 262C50 190 100 170 130 172C180 176 214 220 227 250V323H13Z")
	s.line(hanaPaper, 3, blades)
}

var (
	outerPetals = rosette(16, "M0-10C-9-22-8-40 0-46C8-40 9-22 0-10Z")
	innerPetals = rosette(12, "M0 0C-7-10-6-24 0-29C6-24 7-10 0 0Z")
)

// chrysanthemum draws yellow and red flowers with many petals.
func chrysanthemum(s *sheet, arranged layout) {
	flowers := []spot{{74, 82, 1.1, 0}, {166, 134, 1.25, 8}, {72, 206, 1.15, 4}, {164, 262, 1, 12}}
	leaves := []spot{{140, 66, 1, 40}, {196, 60, 0.9, 10}, {110, 140, 1, -130}, {36, 140, 1, -60}, {120, 210, 1, 120}, {206, 200, 1, 60}, {50, 284, 1.1, -100}, {112, 296, 1, 150}}
	if arranged == forAnimal {
		flowers = []spot{{64, 76, 1.1, 0}, {164, 70, 1.2, 8}, {116, 140, 1, 4}}
		leaves = []spot{{114, 50, 0.9, 0}, {40, 150, 1, -140}, {196, 150, 1, 140}, {30, 230, 0.9, -40}, {208, 236, 0.9, 30}}
	}
	s.scatter(leaves, func() {
		s.shape(hanaGreen, "M0 0C-8-6-22-6-26-16L-14-22C-24-28-26-38-20-46L-8-40C-8-50-4-58 0-62C4-58 8-50 8-40L20-46C26-38 24-28 14-22L26-16C22-6 8-6 0 0Z")
		s.line(hanaLeaf, 2, "M0 0V-48")
	})
	for i, f := range flowers {
		colour, centre := hanaYellow, hanaRed
		if i%2 == 1 {
			colour, centre = hanaRed, hanaYellow
		}
		s.at(f.x, f.y, f.size, f.turn, func() {
			s.outlined(hanaPaper, 1.6, func() {
				s.shape(colour, outerPetals)
				s.shape(colour, innerPetals)
			})
			s.circle(0, 0, 9, centre)
		})
	}
}

// maple draws red and yellow leaves.
func maple(s *sheet, arranged layout) {
	branch := "M13 60C70 70 110 110 227 100M90 84C110 150 90 210 130 270M104 160C140 170 170 200 200 240"
	leaves := []spot{{64, 78, 1.2, -20}, {140, 66, 1.15, 15}, {196, 122, 1.2, 40}, {92, 160, 1.25, -40}, {168, 198, 1.25, 20}, {56, 240, 1.15, -10}, {128, 272, 1.25, 30}, {202, 284, 1, 60}}
	if arranged == forAnimal {
		branch = "M13 40C80 50 140 90 227 80"
		leaves = []spot{{50, 70, 1.05, -20}, {108, 56, 1, 15}, {166, 92, 1.1, 40}, {210, 58, 1, 10}, {40, 132, 0.9, -50}, {206, 150, 0.95, 30}}
	}
	s.line(hanaBrown, 6, branch)
	for i, p := range leaves {
		colour := []string{hanaRed, "#e2702a", hanaRed, hanaYellow}[i%4]
		s.at(p.x, p.y, p.size, p.turn, func() { mapleLeaf(s, colour) })
	}
}

var (
	mapleSpots = []spot{{0, 0, 0.55, -128}, {0, 0, 0.55, 128}, {0, 0, 0.8, -84}, {0, 0, 0.8, 84}, {0, 0, 0.95, -42}, {0, 0, 0.95, 42}, {0, 0, 1.1, 0}}
	mapleLobes = placedAll("M0 4L-7-14L-5-15L-9-26L-5-25L0-46L5-25L9-26L5-15L7-14Z", mapleSpots...)
	mapleVeins = placedAll("M0 0L0-32", mapleSpots...)
)

// mapleLeaf draws a leaf with seven lobes.
func mapleLeaf(s *sheet, colour string) {
	s.line(colour, 3, "M0 0C2 14 6 22 12 30")
	s.shape(colour, mapleLobes)
	s.line(hanaPaper, 1.4, mapleVeins)
}

var willowLeaves = placedAll("M0 0C-10 2-18 12-20 26C-8 22 0 12 0 0C0 12 10 22 20 26C20 12 10 2 0 0Z", column(11, 20, 19)...)

// column returns n spots below each other.
func column(n int, first, step float64) []spot {
	spots := make([]spot, n)
	for i := range spots {
		spots[i] = spot{0, first + step*float64(i), 1, 0}
	}
	return spots
}

// willow draws strands that hang from the top, in front of what the wind leaves free.
func willow(s *sheet, arranged layout) {
	strands := map[layout][]spot{
		forBright: {{24, 4, 0.9, 0}, {50, 0, 0.65, 0}, {190, 4, 0.6, 0}, {214, 0, 1, 0}},
		forAnimal: {{24, 4, 1.3, 0}, {56, 0, 0.9, 0}, {100, 0, 0.5, 0}, {180, 4, 0.75, 0}, {212, 0, 1.35, 0}},
		forRibbon: {{30, 4, 1.1, 0}, {62, 0, 1.35, 0}, {96, 4, 1, 0}, {140, 0, 1.15, 0}, {176, 4, 1.4, 0}, {208, 0, 1.1, 0}},
		forChaff:  {{28, 4, 0.8, 0}, {60, 0, 0.6, 0}, {180, 0, 0.6, 0}, {210, 4, 0.9, 0}},
	}
	s.scatter(strands[arranged], func() {
		s.line(hanaGreen, 3, "M0 0C-10 60 10 130 4 220")
		s.shape(hanaGreen, willowLeaves+"M4 214C-2 226 0 238 5 246C10 238 10 226 4 214Z")
	})
}

// paulownia draws spikes of flowers over three leaves, as in the crest that everybody knows.
func paulownia(s *sheet, arranged layout) {
	spikes := []spot{{60, 176, 0.95, -14}, {180, 176, 0.95, 14}, {midX, 168, 1.2, 0}}
	down := 0.0
	if arranged == forBright {
		spikes, down = []spot{{60, 182, 0.6, -14}, {180, 182, 0.6, 14}, {midX, 178, 0.7, 0}}, 64
	}
	if arranged == forChaff {
		spikes = []spot{{60, 190, 0.8, -16}, {176, 176, 1.05, 16}, {midX, 168, 1.2, -2}}
	}
	s.at(0, down, 1, 0, func() {
		s.scatter(spikes, func() {
			s.line(hanaBrown, 4, "M0 24V-104")
			s.ellipse(0, -118, 7, 11, hanaPurple)
			for i := range 6 {
				up, out := -104+22*float64(i), 7+2.2*float64(i)
				s.outlined(hanaPaper, 1.4, func() {
					s.ellipse(-out, up, 9, 11, hanaPurple)
					s.ellipse(out, up, 9, 11, hanaPurple)
				})
			}
		})
		leaf := func() {
			s.outlined(hanaPaper, 2.5, func() {
				s.shape(hanaBlack, "M0-70C22-78 44-66 50-48C74-46 88-24 80-2C72 22 40 26 28 16C24 40 10 62 0 74C-10 62-24 40-28 16C-40 26-72 22-80-2C-88-24-74-46-50-48C-44-66-22-78 0-70Z")
			})
			s.line(hanaPaper, 3, "M0-62V56M0-50L56-8M0-50L-56-8M0-20L22 4M0-20L-22 4M30-27L52-30M-30-27L-52-30")
		}
		s.at(62, 246, 0.86, 34, leaf)
		s.at(178, 246, 0.86, -34, leaf)
		s.at(midX, 252, 1, 0, leaf)
	})
}
