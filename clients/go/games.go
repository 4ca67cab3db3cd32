package client

import (
	"context"
	"encoding/json"
	"fmt"
)

// A Game is a preset of a deck, such as holdem of standard52. ListDecks lists them.
type Game struct {
	Deck, Name string
	Players    int // 0 for a game with a number of its own
}

// DealtGame has the cards of a game by name. Its Answer shows every card, so it stays in the
// backend.
type DealtGame struct {
	Players [][]string
	Parts   map[string][]string // dealt after the hands, such as burn, flop, turn and river, or dealer
	Board   []string            // the flop, the turn and the river, as far as there are any
	Rest    []string
	Answer  *ShuffleResp
}

// Deal deals a game. The request has other members of the shuffle, such as a reference; params may
// be nil. It asks for the list of the decks first, for the names of what the game deals.
func Deal(ctx context.Context, riffle *ClientWithResponses, game Game, request ShuffleRequest, params *ShuffleParams) (*DealtGame, error) {
	list, err := OK(riffle.ListDecksWithResponse(ctx))
	if err != nil {
		return nil, err
	}
	var preset Preset // zero for a game that the service refuses
	for _, deck := range list.JSON200.Decks {
		for _, p := range deck.Hands {
			if deck.Type == game.Deck && p.Name == game.Name {
				preset = p
			}
		}
	}
	name := game.Name
	if game.Players > 0 && preset.PlayersFrom != nil {
		request.Parameters = &DeckParameters{*preset.PlayersFrom: game.Players}
	} else if game.Players > 0 {
		name = fmt.Sprintf("%s:%d", name, game.Players)
	}
	request.Deck, request.Hands = &game.Deck, new(Hands)
	if err := request.Hands.FromHandsName(name); err != nil {
		return nil, err
	}
	answer, err := OK(riffle.ShuffleWithResponse(ctx, params, request))
	if err != nil {
		return nil, err
	}
	var cards struct {
		Hands [][]string
		Rest  []string
	}
	if err := json.Unmarshal(answer.Body, &cards); err != nil {
		return nil, err
	}
	seats := len(cards.Hands) - len(preset.Then)
	dealt := &DealtGame{Players: cards.Hands[:seats], Parts: map[string][]string{}, Rest: cards.Rest, Answer: answer}
	for i, part := range preset.Then {
		dealt.Parts[part.Name] = append(dealt.Parts[part.Name], cards.Hands[seats+i]...)
	}
	for _, name := range []string{"flop", "turn", "river"} {
		dealt.Board = append(dealt.Board, dealt.Parts[name]...)
	}
	return dealt, nil
}

// DrawFrom draws cards from the top of a shoe.
func DrawFrom(ctx context.Context, riffle *ClientWithResponses, shoe ShoeID, count uint64) ([]ShoeCard, error) {
	answer, err := OK(riffle.DrawCardsWithResponse(ctx, shoe, nil, DrawRequest{Count: &count}))
	if err != nil {
		return nil, err
	}
	return answer.JSON200.Cards, nil
}

// Pick picks winners of a list. The request has other members of the shuffle, such as a reference.
func Pick[T any](ctx context.Context, riffle *ClientWithResponses, list []T, count int, request ShuffleRequest) (winners []T, answer *ShuffleResp, err error) {
	request.Draw = new(DrawCount(count))
	for _, entry := range list {
		item, err := json.Marshal(entry)
		if err != nil {
			return nil, nil, err
		}
		request.Items = append(request.Items, item)
	}
	if answer, err = OK(riffle.ShuffleWithResponse(ctx, nil, request)); err != nil {
		return nil, nil, err
	}
	var picked struct{ Items []T }
	return picked.Items, answer, json.Unmarshal(answer.Body, &picked)
}

// VerifyDeal verifies a deal whose seed is public against the key of the log, which players have
// from elsewhere.
func VerifyDeal(ctx context.Context, riffle *ClientWithResponses, dealt *DealtGame, key string) (Verdict, []Check, error) {
	proof, err := OK(riffle.ProveAuditWithResponse(ctx, dealt.Answer.JSON200.AuditID, nil))
	if err != nil {
		return "", nil, err
	}
	return Verify(proof.Body, Given{Key: []byte(key), Answer: dealt.Answer.Body})
}
