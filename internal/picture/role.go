package picture

import "riffle/internal/deck"

var teams = map[string]string{
	"werewolves": "#7f1d1d", "village": "#1f6f5c", "civilians": "#1f6f5c", "undercover": "#37306b", "blank": "#6b7280",
}

// roles are the emblems by role, or by team where a team has one role. They are drawn in the square
// from -60 to 60.
var roles = map[string]func(s *sheet){
	"werewolf":   wolf,
	"villager":   villager,
	"seer":       crystalBall,
	"witch":      witch,
	"hunter":     bow,
	"idiot":      func(s *sheet) { s.at(0, 30, 0.8, 0, func() { jester(s, fools) }) },
	"civilians":  civilian,
	"undercover": spy,
	"blank":      noWord,
}

var fools = livery{robe: purple, trim: gold, lining: green, hair: "#6b4426"}

// role draws what someone plays: an emblem and the names, in the colour of the team. A role that
// has no emblem gets its initial.
func role(s *sheet, c *deck.Card) bool {
	team := c.Attributes["team"]
	if team == "" {
		return false
	}
	colour, known := teams[team]
	if !known {
		colour = colourOf(team)
	}
	s.card(paper)
	s.box(midX, midY, 216, 312, 12, colour)
	s.circle(midX, 104, 80, paper)
	name := c.Attributes["role"]
	if name == "" {
		name = team
	}
	if emblem := roles[name]; emblem != nil {
		s.at(midX, 104, 1.1, 0, func() { s.outlined(ink, 2, func() { emblem(s) }) })
	} else if english := []rune(legible(c.Name.English)); len(english) > 0 {
		s.write(midX, 104, 110, 120, colour, string(english[0]))
	}
	names(s, c, paper, paper)
	return true
}

func wolf(s *sheet) {
	const fur, pale = "#5d6470", "#c3c8d0"
	s.shape(fur, "M-56-58C-44-54-30-44-22-36C-8-42 8-42 22-36C30-44 44-54 56-58C58-38 54-22 46-10L58 4L44 8L50 22L34 22C28 38 16 54 0 60C-16 54-28 38-34 22L-50 22L-44 8L-58 4L-46-10C-54-22-58-38-56-58Z")
	s.shape("#e2a7a0", "M-48-44C-40-40-34-34-30-28L-42-18C-46-26-48-34-48-44ZM48-44C40-40 34-34 30-28L42-18C46-26 48-34 48-44Z")
	s.shape(pale, "M0-4C12 2 24 14 26 22C20 38 10 50 0 54C-10 50-20 38-26 22C-24 14-12 2 0-4Z")
	s.shape(gold, "M-34-10L-12-2C-16 6-30 4-34-10ZM34-10L12-2C16 6 30 4 34-10Z")
	s.circle(-20, -2, 2, ink)
	s.circle(20, -2, 2, ink)
	s.shape(ink, "M-10 14H10C10 22 4 26 0 27C-4 26-10 22-10 14Z")
	s.shape(ink, "M-18 34C-8 40 8 40 18 34C12 48-12 48-18 34Z")
	s.shape(paper, "M-13 36.5L-9 45L-6 38.5ZM13 36.5L9 45L6 38.5Z")
}

// shoulders draws the coat of a bust, whose neck is at the origin.
func shoulders(s *sheet, coat, collar string) {
	s.shape(coat, "M-46 44C-44 12-28-2-12-6H12C28-2 44 12 46 44Z")
	visage(s)
	s.shape(collar, "M-14-8C-16 4-12 12 0 20C12 12 16 4 14-8C8 0-8 0-14-8Z")
}

func villager(s *sheet) {
	s.at(0, 20, 1, 0, func() {
		s.shape("#6b4426", "M-22-48C-28-30-26-18-22-10H22C26-18 28-30 22-48Z")
		shoulders(s, "#3f7d5c", cream)
		s.shape("#e6c15a", "M-52-46C-30-52-24-54-22-60C-18-82 18-82 22-60C24-54 30-52 52-46C34-36-34-36-52-46Z")
		s.shape(red, "M-22-58C-8-52 8-52 22-58L23-52C8-46-8-46-23-52Z")
	})
}

func civilian(s *sheet) {
	s.at(0, 20, 1, 0, func() {
		shoulders(s, "#3a6ea5", cream)
		s.shape("#6b4426", "M-21-34C-28-72 28-72 21-34C18-44 14-48 8-50C-2-46-14-46-18-44C-19-40-20-38-21-34Z")
	})
}

func spy(s *sheet) {
	s.at(0, 20, 1, 0, func() {
		shoulders(s, "#2c2f3a", "#5a5f6e")
		s.shape("#2c2f3a", "M-54-46C-34-50-26-50-24-54C-24-78-10-80 0-74C10-80 24-78 24-54C26-50 34-50 54-46C34-38-34-38-54-46Z")
		s.shape("#9aa0ae", "M-24-56C-8-52 8-52 24-56V-49C8-45-8-45-24-49Z")
		s.shape(ink, "M-19-40H19V-34C17-26 6-26 3-34H-3C-6-26-17-26-19-34Z")
	})
}

func noWord(s *sheet) {
	s.shape(paper, "M-34-52H34C38-52 42-48 42-44V44C42 48 38 52 34 52H-34C-38 52-42 48-42 44V-44C-42-48-38-52-34-52Z")
	s.write(0, 0, 70, 60, grey, "?")
}

func witch(s *sheet) {
	s.at(0, 24, 1, 0, func() {
		s.shape("#b5502a", "M-20-44C-32-24-30-4-38 16C-24 16-18 4-14-8H14C18 4 24 16 38 16C30-4 32-24 20-44Z")
		shoulders(s, "#4b2a78", "#8a5cc0")
		s.shape("#3a2060", "M-58-40C-36-46-26-48-24-50C-20-66-8-78 14-92C10-80 20-74 24-50C26-48 36-46 58-40C36-30-36-30-58-40Z")
		s.shape(gold, "M-24-52C-8-46 8-46 24-52L25-45C8-39-8-39-25-45Z")
	})
}

func crystalBall(s *sheet) {
	s.shape("#8a5a2b", "M-34 34H34L44 56H-44Z")
	s.shape(gold, "M-38 28H38V38H-38Z")
	s.circle(0, -10, 44, "#b9a3e3")
	s.circle(0, -10, 34, "#d9ccf3")
	s.at(0, -22, 0.7, 0, func() { s.shape(gold, starPath) })
	s.line(paper, 5, "M-30-26C-26-36-18-42-10-44")
}

func bow(s *sheet) {
	s.at(0, 0, 1, 40, func() {
		s.line(ink, 2, "M-12-58L-30 0L-12 58")
		s.shape("#8a5a2b", "M-14-62C22-40 22 40-14 62L-12 54C10 34 10-34-12-54Z")
		s.shape("#c8a165", "M-30-2.5H44V2.5H-30Z")
		s.shape(silver, "M62 0L40-10L45 0L40 10Z")
		s.shape(red, "M-44-9H-30L-24 0L-30 9H-44L-37 0Z")
	})
}
