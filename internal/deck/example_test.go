package deck_test

import (
	"fmt"
	"log"
	"testing/fstest"

	"riffle/internal/deck"
)

func Example() {
	catalogue, err := deck.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	kind, _ := catalogue.Type("standard52")
	d, err := kind.Deck(nil)
	if err != nil {
		log.Fatal(err)
	}
	ten, _ := d.Find("10H")
	hands, err := d.Hands(1, "bridge")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Size(), d.Codes()[:3])
	fmt.Println(ten.Code, ten.Name.English, ten.Name.Chinese, ten.Attributes["suit"])
	fmt.Println(hands)
	// Output:
	// 52 [AS 2S 3S]
	// TH Ten of Hearts 红桃10 hearts
	// [13 13 13 13]
}

// Some decks depend on who plays.
func ExampleType_Deck() {
	catalogue, err := deck.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	kind, _ := catalogue.Type("undercover")
	d, err := kind.Deck(map[string]int{"players": 5, "blank": 1})
	fmt.Println(d.Codes(), err)
	_, err = kind.Deck(map[string]int{"players": 4, "undercover": 2})
	fmt.Println(err)
	// Output:
	// [civilian civilian civilian undercover blank] <nil>
	// parameter undercover leaves 2 of 4 cards for civilian, which must be more than half
}

// A preset that deals one size to everybody is asked for with the number of players.
func ExampleDeck_Hands() {
	catalogue, err := deck.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	kind, _ := catalogue.Type("uno108")
	d, err := kind.Deck(nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(d.Hands(1, "uno:4"))
	fmt.Println(d.Hands(1, "uno:40"))
	// Output:
	// [7 7 7 7] <nil>
	// [] the deck covers 15 hands of 7
}

// An operator adds a type with one file.
func ExampleCatalogue_Load() {
	catalogue, err := deck.Builtin()
	if err != nil {
		log.Fatal(err)
	}
	folder := fstest.MapFS{"coin.json": {Data: []byte(`{
		"type": "coin",
		"name": {"en": "Coin", "zh": "硬币"},
		"family": "coin",
		"size": 2,
		"cards": [
			{"code": "H", "name": {"en": "Heads", "zh": "正面"}, "glyph": "H"},
			{"code": "T", "name": {"en": "Tails", "zh": "反面"}, "glyph": "T"}
		]
	}`)}}
	if err := catalogue.Load(folder); err != nil {
		log.Fatal(err)
	}
	kind, _ := catalogue.Type("coin")
	fmt.Println(kind.Name, kind.Size())
	// Output:
	// coin 2
}
