// Blackjack deals rounds from a shoe of six decks until the cut card comes out, then closes the shoe
// and counts the records that prove every card.
//
//	go run ./examples/blackjack [URL]
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	client "riffle/clients/go"
)

func main() {
	server := "http://localhost:8080"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	if err := play(context.Background(), server); err != nil {
		fmt.Fprintln(os.Stderr, "blackjack:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, server string) error {
	riffle, err := client.NewClientWithResponses(server, client.WithRetries(time.Minute), client.WithToken(os.Getenv("RIFFLE_TOKEN")))
	if err != nil {
		return err
	}
	// The cut card follows 220 to 250 cards; the order's seed decides.
	deck, decks, cut := "standard52", client.Copies(6), new(client.CutCard)
	if err := cut.FromCutRange(client.CutRange{220, 250}); err != nil {
		return err
	}
	made, err := client.OK(riffle.CreateShoeWithResponse(ctx, nil, client.ShoeRequest{Deck: &deck, Decks: &decks, Cut: cut}))
	if err != nil {
		return err
	}
	shoe := made.JSON200
	fmt.Printf("%d cards, and the cut card behind %d of them\n", shoe.Size, *shoe.Cut)

	burnt, cards := "burnt", client.CardCount(6)
	if _, err := client.OK(riffle.DrawCardsWithResponse(ctx, shoe.ShoeID, nil, client.DrawRequest{To: &burnt})); err != nil {
		return err
	}
	for round, last := 1, false; !last; round++ { // the round in which the cut card comes out is played to its end
		drawn, err := client.OK(riffle.DrawCardsWithResponse(ctx, shoe.ShoeID, nil, client.DrawRequest{Count: &cards}))
		if err != nil {
			return err
		}
		last = *drawn.JSON200.CutReached
		fmt.Printf("round %2d:", round)
		for _, card := range drawn.JSON200.Cards {
			fmt.Print(" ", *card.Code)
		}
		fmt.Println()
	}

	if _, err := client.OK(riffle.CloseShoeWithResponse(ctx, shoe.ShoeID, nil, client.CloseRequest{})); err != nil {
		return err
	}
	records := 0
	answer, err := riffle.ProveShoe(ctx, shoe.ShoeID)
	if err != nil {
		return err
	}
	for _, err := range client.Proofs(answer) { // each is a line of what riffle verify checks
		if err != nil {
			return err
		}
		records++
	}
	fmt.Println("records that prove every card:", records)
	return nil
}
