package deck

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// These tests define every deck once more, in another notation.

// cross returns a code for every pair, so that cross("AK", "SH") is AS KS AH KH.
func cross(first, second string) []string {
	var codes []string
	for _, s := range second {
		for _, f := range first {
			codes = append(codes, string(f)+string(s))
		}
	}
	return codes
}

// times repeats each code.
func times(n int, codes []string) []string {
	var all []string
	for _, c := range codes {
		for range n {
			all = append(all, c)
		}
	}
	return all
}

func TestCodes(t *testing.T) {
	french := cross("A23456789TJQK", "SHDC")
	spanish := func(numbers ...int) (codes []string) {
		for _, s := range "OCEB" {
			for _, n := range numbers {
				codes = append(codes, fmt.Sprintf("%d%c", n, s))
			}
		}
		return codes
	}
	var trumps []string
	for i := 1; i <= 21; i++ {
		trumps = append(trumps, fmt.Sprintf("T%d", i))
	}
	var uno []string
	for _, colour := range []string{"R", "Y", "G", "B"} {
		uno = append(uno, colour+"0")
		for _, v := range "123456789SRD" {
			uno = append(uno, colour+string(v), colour+string(v))
		}
	}
	uno = append(uno, times(4, []string{"W", "WF"})...)
	suited, honours := cross("123456789", "mps"), cross("1234567", "z")
	var riichi []string
	for _, c := range append(slices.Clone(suited), honours...) {
		if c[0] == '5' && c[1] != 'z' {
			riichi = append(riichi, c, c, c, "0"+c[1:])
			continue
		}
		riichi = append(riichi, c, c, c, c)
	}
	var dominoes []string
	for i := range 7 {
		for j := i; j < 7; j++ {
			dominoes = append(dominoes, fmt.Sprintf("%d-%d", i, j))
		}
	}
	var set []string
	for n := 1; n <= 3; n++ {
		for _, c := range "RGP" {
			for _, s := range "DSO" {
				for _, h := range "STO" {
					set = append(set, fmt.Sprintf("%d%c%c%c", n, c, s, h))
				}
			}
		}
	}
	pips := func(pairs string) (codes []string) {
		for _, p := range strings.Fields(pairs) {
			codes = append(codes, p[:1]+"-"+p[1:])
		}
		return codes
	}

	for name, want := range map[string][]string{
		"standard52": french,
		"standard54": append(slices.Clone(french), "X1", "X2"),
		"euchre24":   cross("A9TJQK", "SHDC"),
		"piquet32":   cross("A789TJQK", "SHDC"),
		"pinochle48": times(2, cross("A9TJQK", "SHDC")),
		"spanish40":  spanish(1, 2, 3, 4, 5, 6, 7, 10, 11, 12),
		"spanish48":  spanish(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
		"tarot78":    slices.Concat(cross("A23456789TJNQK", "SHDC"), trumps, []string{"T0"}),
		"hanafuda48": strings.Fields(`01B 01R 01C1 01C2 02A 02R 02C1 02C2 03B 03R 03C1 03C2 04A 04R 04C1 04C2
			05A 05R 05C1 05C2 06A 06R 06C1 06C2 07A 07R 07C1 07C2 08B 08A 08C1 08C2
			09A 09R 09C1 09C2 10A 10R 10C1 10C2 11B 11A 11R 11C1 12B 12C1 12C2 12C3`),
		"uno108":     uno,
		"uno112":     slices.Concat(uno, []string{"WS", "WC", "WC", "WC"}),
		"mahjong136": times(4, slices.Concat(suited, honours)),
		"mahjong144": slices.Concat(times(4, slices.Concat(suited, honours)), cross("1234", "qf")),
		"sichuan108": times(4, suited),
		"riichi136":  riichi,
		"werewolf12": slices.Concat(times(4, []string{"werewolf", "villager"}), []string{"seer", "witch", "hunter", "idiot"}),
		"dominoes28": dominoes,
		"paigow32": slices.Concat(times(2, pips("66 11 44 13 55 33 22 56 46 16 15")),
			pips("36 45 26 35 25 34 24 14 23 12")),
		"set81": set,
	} {
		if got := builtinDeck(t, name, nil).Codes(); !slices.Equal(got, want) {
			// The two lists are long: the first difference tells more.
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Errorf("%s: %v and then %v, want %v", name, got[:i], got[i:], want[min(i, len(want)):])
					break
				}
			}
		}
	}
}

// kinds of Sanguosha in the two editions, each with suits and ranks 1 to 13. EX cards are marked.
const (
	sanguoshaStandard = `
		sha S7,8,8,9,9,10,10 C2,3,4,5,6,7,8,8,9,9,10,10,11,11 H10,10,11 D6,7,8,9,10,13
		shan H2,2,13 D2,2,3,4,5,6,7,8,9,10,11,11
		tao H3,4,6,7,8,9,12 D12
		guohe S3,4,12 C3,4 H12
		shunshou S3,4,11 D3,4
		wuxie S11 C12,13 D12EX
		wuzhong H7,8,9,11
		nanman S7,13 C7
		lebu S6 C6 H6
		juedou S1 C1 D1
		shandian S1 H12EX
		jiedao C12,13
		wugu H3,4
		taoyuan H1
		wanjian H1
		bagua S2 C2
		renwang C2EX
		liannu C1 D1
		hanbing S2EX
		qinggang S6
		shuanggu S2
		guanshi D5
		shemao S12
		qinglong S5
		fangtian D12
		qilin H5
		jueying S5
		dilu C5
		zhuahuang H13
		chitu H5
		dayuan S13
		zixing D13`
	sanguoshaBattle = `
		leisha C5,6,7,8 S4,5,6,7,8
		huosha H4,7,10 D4,5
		shan H8,9,11,12 D6,7,8,10,11
		tao H5,6 D2,3
		jiu S3,9 C3,9 D9
		tiesuo S11,12 C10,11,12,13
		huogong H2,3 D12
		bingliang S10 C4
		wuxie H1,13 S13
		guding S1
		zhuque D1
		tengjia S2 C2
		baiyin C1
		hualiu D13`
	ranks = "A23456789TJQK"
)

// sanguosha returns the codes of a list as above, and of those marked EX.
func sanguosha(t *testing.T, list string) (codes, ex []string) {
	t.Helper()
	for line := range strings.Lines(strings.TrimSpace(list)) {
		f := strings.Fields(line)
		for _, group := range f[1:] {
			for _, r := range strings.Split(group[1:], ",") {
				number, marked := strings.CutSuffix(r, "EX")
				n, err := strconv.Atoi(number)
				if err != nil {
					t.Fatal(err)
				}
				code := f[0] + "-" + group[:1] + ranks[n-1:n]
				codes = append(codes, code)
				if marked {
					ex = append(ex, code)
				}
			}
		}
	}
	return codes, ex
}

func TestSanguosha(t *testing.T) {
	standard, ex := sanguosha(t, sanguoshaStandard)
	battle, _ := sanguosha(t, sanguoshaBattle)
	slices.Sort(ex)
	for name, want := range map[string][]string{
		"sanguosha108": standard,
		"sanguosha160": slices.Concat(standard, battle),
	} {
		d := builtinDeck(t, name, nil)
		if got, want := multiplicities(d.Codes()), multiplicities(want); !maps.Equal(got, want) {
			for _, code := range slices.Sorted(maps.Keys(merged(got, want))) {
				if got[code] != want[code] {
					t.Errorf("%s: %d of %s, want %d", name, got[code], code, want[code])
				}
			}
		}
		var marked []string
		for _, c := range d.Cards() {
			if c.Attributes["edition"] == "EX" {
				marked = append(marked, c.Code)
			}
			suit, rank := c.Code[len(c.Code)-2:len(c.Code)-1], c.Code[len(c.Code)-1:]
			if !strings.HasPrefix(c.Attributes["suit"], strings.ToLower(suit)) || c.Attributes["rank"] != rank {
				t.Errorf("%s: %s has suit %s and rank %s", name, c.Code, c.Attributes["suit"], c.Attributes["rank"])
			}
		}
		slices.Sort(marked)
		if !slices.Equal(marked, ex) {
			t.Errorf("%s: EX cards are %v, want %v", name, marked, ex)
		}
	}

	places := func(codes []string) map[string]int {
		m := make(map[string]int)
		for _, c := range codes {
			m[c[len(c)-2:]]++
		}
		return m
	}
	// Two of every suit and rank, and a third where the EX cards are; 27 of each suit.
	codes := builtinDeck(t, "sanguosha108", nil).Codes()
	suits := make(map[byte]int)
	for _, c := range codes {
		suits[c[len(c)-2]]++
	}
	for _, suit := range "SHDC" {
		if suits[byte(suit)] != 27 {
			t.Errorf("%d of suit %c, want 27", suits[byte(suit)], suit)
		}
		for _, rank := range ranks {
			place, want := string(suit)+string(rank), 2
			if slices.Contains([]string{"S2", "C2", "HQ", "DQ"}, place) {
				want = 3
			}
			if got := places(codes)[place]; got != want {
				t.Errorf("%d of %s, want %d", got, place, want)
			}
		}
	}
	// The Battle cards, one of every suit and rank, are what the large deck has and the small one
	// has not.
	all, added := places(builtinDeck(t, "sanguosha160", nil).Codes()), 0
	for place, n := range all {
		if n-places(codes)[place] != 1 {
			t.Errorf("%d of %s in Battle, want 1", n-places(codes)[place], place)
		}
		added++
	}
	if added != 52 {
		t.Errorf("%d suits and ranks, want 52", added)
	}
}

func merged(a, b map[string]int) map[string]int {
	m := maps.Clone(a)
	maps.Copy(m, b)
	return m
}

// Sanguosha's kinds of card, as its rule book groups them.
func TestSanguoshaCategories(t *testing.T) {
	want := map[string]int{"basic": 30 + 15 + 8 + 32, "trick": 31 + 12, "delayed trick": 5 + 2, "weapon": 10 + 2, "armour": 3 + 3, "mount": 6 + 1}
	got := make(map[string]int)
	for _, c := range builtinDeck(t, "sanguosha160", nil).Cards() {
		got[c.Attributes["category"]]++
	}
	if !maps.Equal(got, want) {
		t.Errorf("categories are %v, want %v", got, want)
	}
}

// Bright, animal, ribbon and chaff of every month.
func TestHanafudaKinds(t *testing.T) {
	want := map[string]string{
		"1": "1/0/1/2", "2": "0/1/1/2", "3": "1/0/1/2", "4": "0/1/1/2", "5": "0/1/1/2", "6": "0/1/1/2",
		"7": "0/1/1/2", "8": "1/1/0/2", "9": "0/1/1/2", "10": "0/1/1/2", "11": "1/1/1/1", "12": "1/0/0/3",
	}
	kinds := make(map[string]map[string]int)
	letter := map[string]byte{"bright": 'B', "animal": 'A', "ribbon": 'R', "chaff": 'C'}
	for _, c := range builtinDeck(t, "hanafuda48", nil).Cards() {
		month, kind := c.Attributes["month"], c.Attributes["kind"]
		if kinds[month] == nil {
			kinds[month] = make(map[string]int)
		}
		kinds[month][kind]++
		if n, _ := strconv.Atoi(c.Code[:2]); strconv.Itoa(n) != month || c.Code[2] != letter[kind] {
			t.Errorf("%s is of month %s and kind %s", c.Code, month, kind)
		}
	}
	for month, want := range want {
		k := kinds[month]
		if got := fmt.Sprintf("%d/%d/%d/%d", k["bright"], k["animal"], k["ribbon"], k["chaff"]); got != want {
			t.Errorf("month %s: %s, want %s", month, got, want)
		}
	}
}

// TestGlyphs checks the code points whose order differs from the cards': knights come before
// queens, the dragons are red, green, white, bamboo comes before chrysanthemum, and three code
// points are jokers.
func TestGlyphs(t *testing.T) {
	tests := []struct{ deck, code, glyph string }{
		{"standard52", "AS", "\U0001F0A1"},
		{"standard52", "TS", "\U0001F0AA"},
		{"standard52", "JS", "\U0001F0AB"},
		{"standard52", "QS", "\U0001F0AD"},
		{"standard52", "KS", "\U0001F0AE"},
		{"standard52", "AH", "\U0001F0B1"},
		{"standard52", "KH", "\U0001F0BE"},
		{"standard52", "QD", "\U0001F0CD"},
		{"standard52", "AC", "\U0001F0D1"},
		{"standard52", "KC", "\U0001F0DE"},
		{"euchre24", "QH", "\U0001F0BD"},
		{"piquet32", "7D", "\U0001F0C7"},
		{"pinochle48", "KC", "\U0001F0DE"},
		{"standard54", "X1", "\U0001F0CF"},
		{"standard54", "X2", "\U0001F0BF"},
		{"tarot78", "JS", "\U0001F0AB"},
		{"tarot78", "NS", "\U0001F0AC"},
		{"tarot78", "QS", "\U0001F0AD"},
		{"tarot78", "NC", "\U0001F0DC"},
		{"tarot78", "T0", "\U0001F0E0"},
		{"tarot78", "T1", "\U0001F0E1"},
		{"tarot78", "T21", "\U0001F0F5"},
		{"mahjong136", "1z", "\U0001F000"},
		{"mahjong136", "2z", "\U0001F001"},
		{"mahjong136", "3z", "\U0001F002"},
		{"mahjong136", "4z", "\U0001F003"},
		{"mahjong136", "5z", "\U0001F006"},
		{"mahjong136", "6z", "\U0001F005"},
		{"mahjong136", "7z", "\U0001F004"},
		{"mahjong136", "1m", "\U0001F007"},
		{"mahjong136", "9m", "\U0001F00F"},
		{"mahjong136", "1s", "\U0001F010"},
		{"mahjong136", "9s", "\U0001F018"},
		{"mahjong136", "1p", "\U0001F019"},
		{"mahjong136", "9p", "\U0001F021"},
		{"sichuan108", "5p", "\U0001F01D"},
		{"riichi136", "5p", "\U0001F01D"},
		{"riichi136", "0p", "🔴\U0001F01D"},
		{"riichi136", "0m", "🔴\U0001F00B"},
		{"riichi136", "0s", "🔴\U0001F014"},
		{"mahjong144", "1q", "\U0001F026"},
		{"mahjong144", "4q", "\U0001F029"},
		{"mahjong144", "1f", "\U0001F022"},
		{"mahjong144", "2f", "\U0001F023"},
		{"mahjong144", "3f", "\U0001F025"},
		{"mahjong144", "4f", "\U0001F024"},
		{"dominoes28", "0-0", "\U0001F031"},
		{"dominoes28", "0-6", "\U0001F037"},
		{"dominoes28", "1-1", "\U0001F039"},
		{"dominoes28", "6-6", "\U0001F061"},
		{"paigow32", "1-1", "\U0001F06B"},
		{"paigow32", "6-6", "\U0001F093"},
	}
	for _, test := range tests {
		if c, _ := builtinDeck(t, test.deck, nil).Find(test.code); c.Glyph != test.glyph {
			t.Errorf("%s %s: glyph %+q, want %+q", test.deck, test.code, c.Glyph, test.glyph)
		}
	}
	for _, name := range []string{"standard52", "standard54", "euchre24", "piquet32", "pinochle48"} {
		for _, c := range builtinDeck(t, name, nil).Cards() {
			r, _ := utf8.DecodeRuneInString(c.Glyph)
			if c.Attributes["suit"] != "jokers" && (r&0xF == 0xC || r&0xF == 0xF || r&0xF == 0) {
				t.Errorf("%s: %s looks like a knight, a joker or the back: %+q", name, c.Code, c.Glyph)
			}
		}
	}
}

func TestNames(t *testing.T) {
	tests := []struct{ deck, code, english, chinese string }{
		{"standard52", "AS", "Ace of Spades", "黑桃A"},
		{"standard52", "TD", "Ten of Diamonds", "方块10"},
		{"standard54", "X1", "Black Joker", "小王"},
		{"standard54", "X2", "Red Joker", "大王"},
		{"spanish48", "12B", "King of Clubs", "棍棒国王"},
		{"tarot78", "NH", "Knight of Hearts", "红桃骑士"},
		{"hanafuda48", "01B", "Pine with Crane", "松与鹤"},
		{"uno112", "WF", "Wild Draw Four", "万能+4"},
		{"mahjong136", "5z", "White Dragon", "白板"},
		{"mahjong136", "6z", "Green Dragon", "发财"},
		{"mahjong136", "7z", "Red Dragon", "红中"},
		{"mahjong136", "9s", "Nine of Bamboos", "九条"},
		{"sanguosha108", "sha-S7", "Strike (Seven of Spades)", "杀（黑桃7）"},
		{"dominoes28", "6-6", "Double Six", "双6"},
		{"paigow32", "6-6", "Heaven (6-6)", "天牌（6-6）"},
		{"set81", "2RSO", "Two Open Red Squiggles", "两个红色空心波浪"},
		{"werewolf12", "seer", "Seer", "预言家"},
	}
	for _, test := range tests {
		c, _ := builtinDeck(t, test.deck, nil).Find(test.code)
		if c.Name != (Text{test.english, test.chinese}) {
			t.Errorf("%s %s is %v, want %s, %s", test.deck, test.code, c.Name, test.english, test.chinese)
		}
	}
}

// No two different cards of a type share a name or a glyph, and every card is fully described.
func TestEveryCard(t *testing.T) {
	c, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	families := []string{"french", "latin", "tarot", "hanafuda", "uno", "mahjong", "sanguosha", "roles", "dominoes", "set"}
	ascii := regexp.MustCompile(`^[A-Za-z0-9-]{1,16}$`)
	for _, kind := range c.Types() {
		if kind.Title.English == "" || kind.Title.Chinese == "" || !slices.Contains(families, kind.Family) {
			t.Errorf("%s: title %v, family %s", kind.Name, kind.Title, kind.Family)
		}
		owner := make(map[string]string)
		d, err := kind.Deck(nil)
		if err != nil {
			t.Fatal(err)
		}
		attributes := make(map[string]string)
		for _, card := range d.Cards() {
			if !ascii.MatchString(card.Code) || card.Name.English == "" || card.Name.Chinese == "" || card.Glyph == "" || len(card.Attributes) == 0 {
				t.Errorf("%s: incomplete card %+v", kind.Name, card)
			}
			for _, unique := range []string{"en " + card.Name.English, "zh " + card.Name.Chinese, "glyph " + card.Glyph} {
				if other, taken := owner[unique]; taken && other != card.Code {
					t.Errorf("%s: %s and %s share %s", kind.Name, other, card.Code, unique)
				}
				owner[unique] = card.Code
			}
			// Attributes tell all cards apart, except the chaff of one month.
			text, _ := json.Marshal(card.Attributes)
			if other, taken := attributes[string(text)]; taken && other != card.Code && card.Attributes["kind"] != "chaff" {
				t.Errorf("%s: %s and %s share %s", kind.Name, other, card.Code, text)
			}
			attributes[string(text)] = card.Code
		}
	}
}

func TestDeadWall(t *testing.T) {
	for _, name := range order {
		want := 0
		if name == "riichi136" {
			want = 14
		}
		if got := builtinDeck(t, name, nil).Type().DeadWall; got != want {
			t.Errorf("%s: a dead wall of %d, want %d", name, got, want)
		}
	}
}

// Records bind these digests: SHA-256 of the compact JSON array of the codes in catalogue order.
// Lines may be added but never changed: a change makes all earlier records of the type impossible
// to check.
func TestGoldenOrder(t *testing.T) {
	text, err := os.ReadFile("testdata/codes.sha256")
	if err != nil {
		t.Fatal(err)
	}
	golden := make(map[string]string)
	for line := range strings.Lines(string(text)) {
		digest, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		golden[name] = digest
	}
	for _, name := range order {
		array, err := json.Marshal(builtinDeck(t, name, nil).Codes())
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(array)); golden[name] != got {
			t.Errorf("the codes are\n%s  %s\nwant %s", got, name, golden[name])
		}
		delete(golden, name)
	}
	for name := range golden {
		t.Errorf("there is a digest and no type %s", name)
	}
}
