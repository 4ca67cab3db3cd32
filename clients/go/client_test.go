package client_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle"
	client "riffle/clients/go"
	"riffle/internal/api"
	"riffle/internal/budget"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/plan"
	"riffle/internal/services"
)

// serve serves the real API at the url, with its ledger in the folder.
func serve(folder string) (url string, stop func() error, err error) {
	store, err := sqlite.Open(context.Background(), filepath.Join(folder, "riffle.db"))
	if err != nil {
		return "", nil, err
	}
	log, err := ledger.Open(context.Background(), store, ledger.Options{Folder: folder})
	if err != nil {
		return "", nil, errors.Join(err, store.Close())
	}
	decks, err := deck.Builtin()
	if err != nil {
		return "", nil, errors.Join(err, log.Close())
	}
	registry := prometheus.NewRegistry()
	a := api.New(api.Options{
		Services: services.New(log, &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1_000_000, Results: 10_000_000}}, services.Options{Random: rand.Reader}),
		Logger:   slog.New(slog.DiscardHandler),
		Metrics:  api.NewMetrics(registry, "v0", "test"), Gatherer: registry,
		Contract: riffle.Contract, MaxBody: 16 << 20, Budget: budget.New(512 << 20),
	})
	a.Watch(registry)
	server := httptest.NewServer(a)
	return server.URL, func() error { server.Close(); return log.Close() }, nil
}

// connect returns a client of a service that runs until the test ends.
func connect(t *testing.T) *client.ClientWithResponses {
	t.Helper()
	url, stop, err := serve(t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, stop()) })
	c, err := client.NewClientWithResponses(url)
	require.NoError(t, err)
	return c
}

// must returns the answer to a call, and ends the test if the call failed.
func must[A client.Answer](t *testing.T) func(a A, err error) A {
	return func(a A, err error) A {
		t.Helper()
		a, err = client.OK(a, err)
		require.NoError(t, err)
		return a
	}
}

func TestItemsKeepTheirBytes(t *testing.T) {
	c := connect(t)
	items := []client.Item{
		client.Item(`9007199254740993`), client.Item(`18446744073709551615`), client.Item(`-0`), client.Item(`1e400`),
		client.Item(`0.30000000000000000000000000001`), client.Item(`"\u00e9\/"`), client.Item(`{"b":[null],"a":1.50}`),
	}
	made := must[*client.ShuffleResp](t)(c.ShuffleWithResponse(t.Context(), nil, client.ShuffleRequest{Items: items})).JSON200
	sort := func(list []client.Item) []client.Item {
		return slices.SortedFunc(slices.Values(list), func(a, b client.Item) int { return bytes.Compare(a, b) })
	}
	got := sort(made.Items)
	assert.Truef(t, slices.EqualFunc(got, sort(items), func(a, b client.Item) bool { return bytes.Equal(a, b) }),
		"sent %s, answered %s", items, got)
	none := must[*client.ShuffleResp](t)(c.ShuffleWithResponse(t.Context(), nil, client.ShuffleRequest{Items: []client.Item{}})).JSON200
	assert.Truef(t, none.Items != nil && len(none.Items) == 0, "an empty list shuffles to %v", none.Items)
}

func TestHandsAndParameters(t *testing.T) {
	c := connect(t)
	deck, repeat := "standard52", uint64(2)
	sizes, name := new(client.Hands), new(client.Hands)
	require.NoError(t, errors.Join(sizes.FromHandSizes(client.HandSizes{5, 5}), name.FromHandsName("bridge")))
	shuffle := must[*client.ShuffleResp](t)
	dealt := shuffle(c.ShuffleWithResponse(t.Context(), nil, client.ShuffleRequest{Deck: &deck, Hands: sizes})).JSON200
	assert.Truef(t, len(dealt.Hands) == 2 && len(dealt.Hands[1]) == 5 && len(dealt.Rest) == 42 && dealt.Items == nil, "two hands of five: %+v", dealt)
	twice := shuffle(c.ShuffleWithResponse(t.Context(), nil, client.ShuffleRequest{Deck: &deck, Hands: name, Repeat: &repeat})).JSON200
	assert.Lenf(t, twice.Shuffles, 2, "bridge, twice: %+v", twice)
	assert.Lenf(t, twice.Shuffles[1], 5, "bridge, twice: %+v", twice)

	hands, players := "undercover", client.DeckParameters{"players": 8, "undercover": 2}
	roles := must[*client.DealDeckResp](t)(c.DealDeckWithResponse(t.Context(), "undercover", &client.DealDeckParams{Hands: &hands, Parameters: &players})).JSON200
	assert.Lenf(t, roles.Hands, 8, "eight roles: %s", joined(roles.Hands))
	assert.Equalf(t, 2, strings.Count(joined(roles.Hands), "undercover"), "eight roles: %s", joined(roles.Hands))
	code := "10S"
	card := must[*client.ListCardsResp](t)(c.ListCardsWithResponse(t.Context(), deck, &client.ListCardsParams{Code: &code})).JSON200
	assert.Truef(t, card.Size == 52 && len(card.Cards) == 1 && card.Cards[0].Code == "TS" && card.Cards[0].Attributes.MustGet()["suit"] == "spades",
		"the ten of spades: %+v", card)
}

// TestCommitment commits to a shuffle, uses the commitment with a client seed, and retries both.
func TestGames(t *testing.T) {
	riffle, ctx, key, now := connect(t), t.Context(), uuid.NewString(), client.Now
	request, params := client.ShuffleRequest{Reveal: &now}, &client.ShuffleParams{IdempotencyKey: &key}
	holdem := client.Game{Deck: "standard52", Name: "holdem", Players: 6}
	dealt, err := client.Deal(ctx, riffle, holdem, request, params)
	require.NoError(t, err)
	assert.Equal(t, dealt.Board, slices.Concat(dealt.Parts["flop"], dealt.Parts["turn"], dealt.Parts["river"]))
	assert.Equal(t, []int{6, 2, 3, 5, 32}, []int{len(dealt.Players), len(dealt.Players[5]), len(dealt.Parts["burn"]), len(dealt.Board), len(dealt.Rest)})
	again, err := client.Deal(ctx, riffle, holdem, request, params)
	require.NoError(t, err)
	assert.Equal(t, dealt.Players, again.Players, "with the same key")
	verdict, _, err := client.VerifyDeal(ctx, riffle, dealt, string(must[*client.GetLogKeyResp](t)(riffle.GetLogKeyWithResponse(ctx)).Body))
	assert.Equal(t, client.VerdictVerified, verdict, err)
	roles, err := client.Deal(ctx, riffle, client.Game{Deck: "werewolf", Name: "werewolf", Players: 8}, client.ShuffleRequest{}, nil)
	require.NoError(t, err)
	assert.Len(t, roles.Players, 8)
	_, err = client.Deal(ctx, riffle, client.Game{Deck: "standard52", Name: "skat"}, client.ShuffleRequest{}, nil)
	assert.ErrorContains(t, err, "422")

	winners, _, err := client.Pick(ctx, riffle, []string{"ann", "bob"}, 1, client.ShuffleRequest{})
	require.NoError(t, err)
	assert.Contains(t, [][]string{{"ann"}, {"bob"}}, winners)
	deck := "standard52"
	shoe := must[*client.CreateShoeResp](t)(riffle.CreateShoeWithResponse(ctx, nil, client.ShoeRequest{Deck: &deck}))
	cards, err := client.DrawFrom(ctx, riffle, shoe.JSON200.ShoeID, 3)
	require.NoError(t, err)
	assert.Len(t, cards, 3)
}

func joined(hands [][]client.Item) string {
	var list []string
	for _, hand := range hands {
		for _, item := range hand {
			list = append(list, string(item))
		}
	}
	return strings.Join(list, " ")
}

func TestProblem(t *testing.T) {
	c := connect(t)
	answer, err := c.GetAuditWithResponse(t.Context(), uuid.New())
	require.NoError(t, err)
	var problem *client.Problem
	err = client.AsError(answer)
	assert.Truef(t, errors.As(err, &problem) && problem.Status == 404 && answer.ApplicationProblemJSON404 != nil, "an unknown audit: %v", err)
	size, draw := uint64(3), uint64(4)
	refused, err := c.ShuffleWithResponse(t.Context(), nil, client.ShuffleRequest{Size: &size, Draw: &draw})
	require.NoError(t, err)
	err = client.AsError(refused)
	assert.Truef(t, errors.As(err, &problem) && len(problem.Errors) == 1 && *problem.Errors[0].Pointer == "/draw", "a draw above the size: %v", err)
}
