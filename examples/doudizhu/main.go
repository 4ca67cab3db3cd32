// Doudizhu deals a round for three players so that nothing, not a lost answer nor a crash of the
// table, deals it twice.
//
//	go run ./examples/doudizhu [URL]
package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	client "riffle/clients/go"
)

func main() {
	server := "http://localhost:8080"
	if len(os.Args) > 1 {
		server = os.Args[1]
	}
	if err := play(context.Background(), server, filepath.Join(os.TempDir(), "doudizhu-"+rand.Text())); err != nil {
		fmt.Fprintln(os.Stderr, "doudizhu:", err)
		os.Exit(1)
	}
}

func play(ctx context.Context, server, round string) error {
	riffle, err := client.NewClientWithResponses(server, client.WithRetries(time.Minute), client.WithToken(os.Getenv("RIFFLE_TOKEN")))
	if err != nil {
		return err
	}
	// The key is stored before it is sent. A table that comes up again finds it and gets the same deal.
	if err := os.WriteFile(round, []byte(rand.Text()), 0o600); err != nil {
		return err
	}
	defer func() { _ = os.Remove(round) }() // the round is over
	first, err := deal(ctx, riffle, round)
	if err != nil {
		return err
	}
	again, err := deal(ctx, riffle, round) // after a crash
	if err != nil {
		return err
	}
	for i, hand := range first.Hands {
		fmt.Printf("player %d has %s\n", i+1, hand)
	}
	fmt.Printf("left for the landlord: %s\n", first.Rest)
	fmt.Printf("dealt again after a crash, the record is the same: %t\n", first.AuditID == again.AuditID)
	return nil
}

func deal(ctx context.Context, riffle *client.ClientWithResponses, round string) (*client.ShuffleResult, error) {
	stored, err := os.ReadFile(round)
	if err != nil {
		return nil, err
	}
	key, deck, reference, hands := string(stored), "standard54", filepath.Base(round), new(client.Hands)
	if err := hands.FromHandsName("doudizhu"); err != nil {
		return nil, err
	}
	answer, err := client.OK(riffle.ShuffleWithResponse(ctx, &client.ShuffleParams{IdempotencyKey: &key},
		client.ShuffleRequest{Deck: &deck, Hands: hands, Reference: &reference}))
	if err != nil {
		return nil, err
	}
	return answer.JSON200, nil
}
