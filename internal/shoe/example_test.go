package shoe_test

import (
	"fmt"

	"riffle/internal/shoe"
)

// A layout is a value: each move returns the next one, and says nothing about what the cards are.
func ExampleLayout_Apply() {
	layout := shoe.New(52, true)
	cards, err := layout.Take(shoe.Deck, shoe.Top, 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	next, err := layout.Apply(&shoe.Move{From: shoe.Deck, Cards: cards, To: shoe.OnPile("alice")})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("version", next.Version, "deck", next.Deck.Len(), "alice", next.Piles[0].Cards)
	_, err = next.Take(shoe.OnPile("alice"), shoe.Top, 3)
	fmt.Println(err)
	// Output:
	// version 2 deck 50 alice 1:0-1
	// 3 cards are wanted, and there are 2
}
