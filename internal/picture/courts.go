package picture

// A livery is what the courts of a suit wear, and which way they turn.
type livery struct {
	robe, trim, lining, hair string
	side                     float64 // 1 if the attribute is on the right, -1 if on the left
}

const (
	skin   = "#fbe4d0"
	silver = "#dfe3ea"
	navy   = "#1f3a8a"
	cream  = "#fdf8ea"
)

var liveries = map[string]livery{
	"spades":   {navy, gold, red, "#2b2320", -1},
	"hearts":   {red, gold, navy, "#d9a441", 1},
	"diamonds": {"#e8a200", red, navy, "#a8552a", -1},
	"clubs":    {"#1d6b47", gold, red, "#6b4426", 1},
}

// Those of the Spanish suits.
var latinLiveries = map[string]livery{
	"oros":    {red, gold, navy, "#6b4426", 1},
	"copas":   {navy, gold, red, "#d9a441", 1},
	"espadas": {"#5a7fb8", red, gold, "#2b2320", 1},
	"bastos":  {"#1d6b47", gold, red, "#a8552a", 1},
}

// A court is a rank of figures. The origin of what it draws is the pit of the neck.
type court struct {
	head  func(s *sheet, l livery)
	holds map[string]func(s *sheet, l livery) // by suit
}

type held = map[string]func(s *sheet, l livery)

var frenchCourts = map[string]court{
	"J": {jackHead, held{"spades": halberd, "hearts": sprig, "diamonds": horn, "clubs": arrow}},
	"N": {knightHead, held{"spades": horse, "hearts": horse, "diamonds": horse, "clubs": horse}},
	"Q": {queenHead, held{"spades": sceptre, "hearts": rose, "diamonds": fan, "clubs": daisy}},
	"K": {kingHead, held{"spades": sword, "hearts": swordAside, "diamonds": axe, "clubs": orb}},
}

// halfFigures draws a court from both ends of the card, in a frame with the suit.
func halfFigures(s *sheet, c court, suitName string) {
	m, l := frenchSuits[suitName], liveries[suitName]
	s.box(midX, midY, 124, 280, 0, cream)
	s.twice(func() {
		s.clipped(58, 28, 124, 140, func() {
			s.at(midX, 122, l.side, 0, func() {
				s.outlined(ink, 1.8, func() {
					robe(s, l)
					c.head(s, l)
					c.holds[suitName](s, l)
				})
			})
		})
		s.mark("", m, midX-l.side*47, 45, 24, false)
	})
	s.line(navy, 3, "M58 28H182V308H58ZM58 168H182")
}

// robe draws shoulders and sleeves, with a broad front between them.
func robe(s *sheet, l livery) {
	s.shape(l.robe, "M-14-10C-40-6-58 8-66 60H66C58 8 40-6 14-10Z")
	s.shape(l.lining, "M-66 60C-62 30-56 16-48 8L-30 60Z")
	s.shape(l.lining, "M66 60C62 30 56 16 48 8L30 60Z")
	s.shape(l.trim, "M-58 24L-36 30L-33 40L-62 36Z")
	s.shape(l.trim, "M58 24L36 30L33 40L62 36Z")
	s.shape(cream, "M-13-10L-18 60H18L13-10Z")
	for _, y := range []float64{12, 32, 52} {
		s.at(0, y, 1, 0, func() { s.shape(l.robe, "M0-9L8 0L0 9L-8 0Z") })
	}
	s.shape(l.trim, "M-30-8C-26 8-12 18 0 22C12 18 26 8 30-8L14-14C10-4 4 0 0 2C-4 0-10-4-14-14Z")
}

// visage draws a face with a neck. It looks a little to the right.
func visage(s *sheet) {
	s.shape(skin, "M-9-20V-6C-6 0 6 0 9-6V-20Z")
	s.shape(skin, "M-19-40C-19-60 19-60 19-40C19-24 10-10 0-10C-10-10-19-24-19-40Z")
	s.line(ink, 1.6, "M-12-42C-9-45-5-45-3-42M5-42C8-45 12-45 14-42M3-38L6-28H1")
	s.circle(-7, -38, 1.6, ink)
	s.circle(10, -38, 1.6, ink)
	s.shape(red, "M-3-20C0-22 3-22 7-20C4-17 0-17-3-20Z")
}

func kingHead(s *sheet, l livery) {
	s.shape(l.hair, "M-18-50C-34-40-24-24-32-12C-36-2-24 6-18-2C-12-8-14-30-14-40ZM18-50C34-40 24-24 32-12C36-2 24 6 18-2C12-8 14-30 14-40Z")
	visage(s)
	s.shape(l.hair, "M-19-36C-20-8-8 10 0 14C8 10 20-8 19-36C16-27 10-25 3-27C-6-25-14-27-19-36Z")
	s.shape(red, "M-3-19C0-21 4-21 7-19C4-16 0-16-3-19Z")
	s.line(ink, 1.4, "M-8-8C-6 0-3 4-2 8M8-8C7 0 4 4 3 8")
	s.shape(l.lining, "M-22-54C-22-74 22-74 22-54Z")
	s.shape(gold, "M-25-50L-31-76L-15-64L-6-76V-80H-11V-86H-6V-91H6V-86H11V-80H6V-76L15-64L31-76L25-50C10-55-10-55-25-50Z")
	for _, x := range []float64{-15, 0, 15} {
		s.circle(x, -58, 2.6, red)
	}
}

func queenHead(s *sheet, l livery) {
	s.shape(l.hair, "M0-60C-30-62-30-34-28-14C-28 0-36 8-32 20C-22 16-14 4-14-8L-16-34L0-48L16-34L14-8C14 4 22 16 32 20C36 8 28 0 28-14C30-34 30-62 0-60Z")
	visage(s)
	s.shape(l.hair, "M-20-36C-22-60 0-60 1-53C2-60 22-60 20-36C16-42 10-48 1-50C-8-48-16-42-20-36Z")
	s.shape(gold, "M-22-56L-27-76L-13-68L0-82L13-68L27-76L22-56C8-61-8-61-22-56Z")
	for _, p := range [][2]float64{{-27, -78}, {0, -85}, {27, -78}} {
		s.circle(p[0], p[1], 4, cream)
	}
	s.circle(0, -66, 3, l.lining)
	for _, p := range [][2]float64{{-9, -1}, {-5, 3}, {0, 4}, {5, 3}, {9, -1}} {
		s.circle(p[0], p[1], 2.4, cream)
	}
}

func jackHead(s *sheet, l livery) {
	s.shape(l.hair, "M-18-52C-30-44-26-24-30-10C-22-6-16-6-13-10L-15-40ZM18-52C30-44 26-24 30-10C22-6 16-6 13-10L15-40Z")
	visage(s)
	s.shape(l.hair, "M-19-40C-18-50-8-54 0-54C8-54 18-50 19-40C10-46-10-46-19-40Z")
	s.shape(l.lining, "M-26-50C-30-72-10-80 4-78C22-78 30-66 26-50C10-56-10-56-26-50Z")
	s.shape(l.trim, "M-27-48C-10-56 10-56 27-48L26-56C10-64-10-64-26-56Z")
	s.shape(cream, "M20-58C22-80 34-88 46-86C48-74 40-62 26-56Z")
	s.line(ink, 1.4, "M24-60C30-70 34-76 40-80")
}

func knightHead(s *sheet, l livery) {
	s.shape(l.lining, "M0-76C10-94 34-92 44-72C48-60 46-46 38-36C36-50 26-60 8-64Z")
	visage(s)
	s.shape(silver, "M-22-14C-26-50-26-80 0-80C26-80 26-50 22-14C18-10 14-12 12-16L17-44C8-52-8-52-17-44L-12-16C-14-12-18-10-22-14Z")
	s.shape(silver, "M-22-52C-18-70 18-70 24-52C10-60-10-60-22-52Z")
	s.circle(-20, -50, 3, gold)
	s.circle(21, -50, 3, gold)
}

// hand draws a fist with its cuff.
func hand(s *sheet, l livery, x, y float64) {
	s.at(x, y, 1, 0, func() {
		s.shape(l.trim, "M6 6L18 22L2 30L-8 12Z")
		s.shape(skin, "M-8-8C0-13 10-8 10 0C12 8 4 13-4 11C-11 8-13-3-8-8Z")
		s.line(ink, 1.2, "M-9-2H0M-9 3H0")
	})
}

func sword(s *sheet, l livery) {
	s.shape(silver, "M38-86L43-74V18H33V-74Z")
	s.shape(gold, "M24 16H52V22H24Z")
	hand(s, l, 38, 32)
}

// swordAside is held behind the head, as the king of hearts does.
func swordAside(s *sheet, l livery) {
	s.at(0, 0, 1, -14, func() {
		s.shape(silver, "M32-90L37-78V0H27V-78Z")
		s.shape(gold, "M18-2H46V4H18Z")
	})
	hand(s, l, 34, 12)
}

func axe(s *sheet, l livery) {
	s.shape("#8a5a2b", "M36-80H42V60H36Z")
	s.shape(silver, "M42-76C50-78 54-82 56-85C60-72 60-58 56-45C54-50 50-54 42-54Z")
	s.shape(silver, "M36-74L26-80V-54L36-60Z")
	hand(s, l, 38, 26)
}

func orb(s *sheet, l livery) {
	s.circle(42, 6, 15, l.lining)
	s.shape(gold, "M27 4H57V9H27Z")
	s.shape(gold, "M39-9V-17H33V-22H39V-29H45V-22H51V-17H45V-9Z")
	hand(s, l, 42, 28)
}

func sceptre(s *sheet, l livery) {
	s.shape(gold, "M36-58H42V60H36Z")
	s.shape(gold, "M39-88C50-80 52-70 44-60H34C26-70 28-80 39-88Z")
	s.circle(39, -71, 5, red)
	hand(s, l, 38, 26)
}

func rose(s *sheet, l livery) {
	stem(s)
	s.at(42, -30, 1, 0, func() {
		for _, p := range [][2]float64{{0, -10}, {10, -3}, {6, 9}, {-6, 9}, {-10, -3}} {
			s.circle(p[0], p[1], 9, red)
		}
		s.circle(0, 0, 7, "#f0868f")
	})
	hand(s, l, 40, 24)
}

func daisy(s *sheet, l livery) {
	stem(s)
	s.at(42, -32, 1, 0, func() {
		s.shape(cream, daisyPetals)
		s.circle(0, 0, 7, gold)
	})
	hand(s, l, 40, 24)
}

var daisyPetals = rosette(9, "M0 0C-7-6-7-20 0-22C7-20 7-6 0 0Z")

// stem draws that of a flower, with two leaves.
func stem(s *sheet) {
	s.line(green, 4, "M42-20C38 0 42 20 40 50")
	s.shape(green, "M41 6C30 4 24-4 22-10C32-12 38-6 41 6ZM41 2C44-8 52-12 58-12C58-4 50 4 41 2Z")
}

func fan(s *sheet, l livery) {
	s.shape(l.lining, "M38 22L14-22C24-44 48-46 60-26Z")
	s.shape(l.trim, "M38 22L24-2C31-11 45-12 51-3Z")
	s.line(ink, 1.4, "M38 22L25-35M38 22L38-41M38 22L50-38")
	hand(s, l, 40, 26)
}

func halberd(s *sheet, l livery) {
	s.shape("#8a5a2b", "M37-60H42V60H37Z")
	s.shape(silver, "M39-92L45-64H34Z")
	s.shape(silver, "M42-66C50-72 57-66 58-58C57-48 50-42 42-44Z")
	s.shape(silver, "M37-62L22-52L37-46Z")
	hand(s, l, 38, 26)
}

func sprig(s *sheet, l livery) {
	s.line(green, 4, "M40 40C38 10 42-10 42-30")
	s.shape(green, "M42-24C24-34 26-58 42-74C58-58 60-34 42-24Z")
	s.shape(green, "M41 0C26 0 22-12 22-20C34-20 40-12 41 0ZM41-2C46-14 54-18 62-18C62-8 54 0 41-2Z")
	s.line(cream, 1.6, "M42-24V-62M42-36L33-46M42-36L51-46")
	hand(s, l, 40, 24)
}

func horn(s *sheet, l livery) {
	s.shape(gold, "M28 28C22-8 26-36 44-58L58-46C46-30 40-8 42 24Z")
	s.shape(l.lining, "M44-58C48-66 62-56 58-46C54-42 42-52 44-58Z")
	s.shape(l.trim, "M30-2L44 4L42 12L29 8Z")
	hand(s, l, 36, 26)
}

func arrow(s *sheet, l livery) {
	s.shape("#8a5a2b", "M37-66H41V60H37Z")
	s.shape(silver, "M39-90L50-62L39-68L28-62Z")
	s.shape(l.lining, "M37 40L28 48V64L39 54L50 64V48L41 40Z")
	hand(s, l, 38, 20)
}

// horse is what a knight rides: its head is beside that of the rider.
func horse(s *sheet, l livery) {
	const coat, mane = "#c9935f", "#4a2f1c"
	s.at(6, 20, 1.1, 0, func() {
		s.shape(mane, "M6-36C-8-26-14-6-10 40H6C4 10 8-10 14-26Z")
		s.shape(coat, "M0 46C-4 16 0-8 8-24L6-40L15-32L22-40L26-28C35-18 41-8 45 4C48 12 42 20 36 17C29 13 26 8 22 6C24 20 28 32 32 46Z")
		s.line(l.trim, 3.5, "M26-26L32 8M30-8C20 8 10 20 4 30")
		s.circle(24, -14, 2, ink)
		s.circle(41, 8, 1.5, ink)
	})
}

// standing draws a whole figure: a page in a tunic, or a king in a robe that reaches the ground.
func standing(s *sheet, l livery, robed bool) {
	if robed {
		s.shape(l.robe, "M-30 10C-44 70-52 120-58 176H58C52 120 44 70 30 10Z")
		s.shape(l.trim, "M-59 164H59L60 178H-60Z")
		s.shape(cream, "M-10 10L-18 164H18L10 10Z")
		for _, y := range []float64{40, 70, 100, 130} {
			s.at(0, y, 1, 0, func() { s.shape(l.robe, "M0-10L8 0L0 10L-8 0Z") })
		}
	} else {
		s.shape(l.lining, "M-20 84L-24 162H-6L-2 90L4 162H22L20 84Z")
		s.shape("#5a3a22", "M-24 158H-5V174H-34C-34 166-28 164-24 158ZM3 158H22C26 164 34 166 34 174H3Z")
		s.shape(l.robe, "M-26 0C-34 40-40 70-46 100C-16 112 16 112 46 100C40 70 34 40 26 0Z")
		s.shape(l.trim, "M-46 92C-16 104 16 104 46 92L48 104C16 116-16 116-48 104Z")
		s.shape(l.trim, "M-33 46C-12 52 12 52 33 46L35 56C12 62-12 62-35 56Z")
	}
	s.shape(l.robe, "M-14-10C-34-6-46 4-48 30L-46 66H-32L-26 20Z")
	s.shape(l.robe, "M14-10C32-4 44 0 54 4L68-18L56-30L46-18L14-10Z")
	s.circle(-39, 70, 8, skin)
	s.circle(62, -26, 8, skin)
	s.shape(l.trim, "M-28-8C-24 8-12 16 0 20C12 16 24 8 28-8L14-14C10-4 4 0 0 2C-4 0-10-4-14-14Z")
}

// rider draws a figure on a walking horse.
func rider(s *sheet, l livery) {
	s.line(ink, 16, "M-34 150L-44 196M36 150L48 196M-20 150L-12 196M22 150L16 196")
	s.line("#f3ece0", 12, "M-34 150L-44 194M36 150L48 194M-20 150L-12 194M22 150L16 194")
	s.shape(l.hair, "M-48 108C-72 116-70 150-60 176C-52 160-50 140-42 124Z")
	s.shape("#f3ece0", "M-50 132C-54 108-30 98-6 104C12 106 26 98 34 80C36 66 44 50 56 42L60 34L66 44C74 50 84 66 90 80C88 88 78 90 72 84C66 80 62 78 60 78C62 104 58 136 42 154C10 164-30 164-46 154C-50 148-50 140-50 132Z")
	s.shape(l.hair, "M56 40C40 50 32 66 30 92C40 84 46 66 60 56Z")
	s.line(l.trim, 4, "M64 52L72 82M72 82C50 84 30 78 18 70M28 104C40 112 52 110 60 104")
	s.circle(68, 60, 2, ink)
	s.shape(l.robe, "M-26 4C-34 50-30 84-26 104C-14 112 6 112 16 104C24 80 26 40 22 4Z")
	s.shape(l.lining, "M-14 96C-10 120-6 136 0 146L18 142C10 126 10 112 14 98Z")
	s.shape("#5a3a22", "M0 142L18 138L34 150C30 158 10 158 2 154Z")
	s.shape(l.robe, "M-14-10C-34-6-40 10-34 30L2 74L14 62L-14 24Z")
	s.circle(12, 70, 8, skin)
	s.shape(l.robe, "M14-10C32-4 44 0 54 4L68-18L56-30L46-18L14-10Z")
	s.circle(62, -26, 8, skin)
	s.shape(l.trim, "M-28-8C-24 8-12 16 0 20C12 16 24 8 28-8L14-14C10-4 4 0 0 2C-4 0-10-4-14-14Z")
}

// jester draws the bust of one, with bells on cap and collar. It is taller than a court.
func jester(s *sheet, l livery) {
	s.shape(l.robe, "M-52 50C-48 14-26 0 0 0C26 0 48 14 52 50Z")
	s.shape(l.lining, "M0 0C26 0 48 14 52 50H0Z")
	visage(s)
	s.shape(l.trim, "M-34-8L-46 14L-24 12L-16 32L0 14L16 32L24 12L46 14L34-8C14 2-14 2-34-8Z")
	s.shape(l.robe, "M-21-32C-26-50-34-58-48-54C-60-50-64-36-62-22C-74-40-72-76-44-82C-22-86-4-74 0-52Z")
	s.shape(l.lining, "M21-32C26-50 34-58 48-54C60-50 64-36 62-22C74-40 72-76 44-82C22-86 4-74 0-52Z")
	s.shape(l.trim, "M-16-48C-20-74-14-92 0-104C14-92 20-74 16-48C8-54-8-54-16-48Z")
	s.shape(cream, "M-22-32C-20-60 20-60 22-32C12-46-12-46-22-32Z")
	for _, bell := range [][2]float64{{-62, -18}, {0, -104}, {62, -18}, {-46, 15}, {-16, 33}, {16, 33}, {46, 15}} {
		s.circle(bell[0], bell[1], 6.5, gold)
	}
}
