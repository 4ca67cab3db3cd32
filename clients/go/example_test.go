package client_test

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/google/uuid"

	client "riffle/clients/go"
)

func Example() {
	folder, err := os.MkdirTemp("", "riffle")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(folder) }()
	url, stop, err := serve(folder)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = stop() }()
	if err := play(context.Background(), url); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// 9007199254740993
	// 9007199254740995
	// 9007199254740997
	// fisher-yates of 3 items, committed to as answered: true
	// 404 Not Found: There is no deck type "standard53"; did you mean standard52?
}

func play(ctx context.Context, url string) error {
	riffle, err := client.NewClientWithResponses(url)
	if err != nil {
		return err
	}

	// Shuffle three ids that no float64 can hold. A retry with the same key gets the same answer.
	reference, key := "table-4/round-9", uuid.NewString()
	shuffled, err := client.OK(riffle.ShuffleWithResponse(ctx, &client.ShuffleParams{IdempotencyKey: &key}, client.ShuffleRequest{
		Items:     []client.Item{client.Item("9007199254740993"), client.Item("9007199254740995"), client.Item("9007199254740997")},
		Reference: &reference,
	}))
	if err != nil {
		return err
	}
	for _, id := range shuffled.JSON200.Items {
		fmt.Println(string(id))
	}

	// Get its public record.
	audit, err := client.OK(riffle.GetAuditWithResponse(ctx, shuffled.JSON200.AuditID))
	if err != nil {
		return err
	}
	record, err := audit.JSON200.Record.AsShuffleRecord()
	if err != nil {
		return err
	}
	fmt.Printf("%s of %d items, committed to as answered: %t\n",
		record.Algorithm, record.Size, record.Commitment == shuffled.JSON200.Commitment)

	// Ask for an unknown deck.
	_, err = client.OK(riffle.DealDeckWithResponse(ctx, "standard53", nil))
	var problem *client.Problem
	if !errors.As(err, &problem) {
		return err
	}
	fmt.Println(problem)
	return nil
}
