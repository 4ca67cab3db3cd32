package plan

import (
	"cmp"
	"slices"

	"riffle/internal/audit"
	"riffle/internal/beacon"
)

// fillIn returns a copy of the request with its omitted members taken from the commitment, or the
// request itself if it uses none.
func fillIn(request *Request, committed *audit.Record) (*Request, error) {
	switch {
	case committed != nil:
	case request.UniqueReference && request.Reference == "":
		return nil, Refuse("/unique_reference", "unique_reference requires a reference")
	case request.BeaconSignature != "":
		return nil, Refuse("/beacon_signature", "beacon_signature requires the commitment_id of a commitment with a beacon")
	case request.PlayerSeeds != nil:
		return nil, Refuse("/player_seeds", "player_seeds requires the commitment_id of a commitment with players")
	case request.Players != nil:
		return request, checkPlayers(request)
	default:
		return request, nil
	}
	r, s := *request, &committed.Statement
	if err := cmp.Or(takeSignature(&r, committed), takePlayerSeeds(&r, committed)); err != nil {
		return nil, err
	}
	if r.ClientSeed == "" {
		return nil, Refuse("/client_seed", "client_seed is required with commitment_id; use one that was not known when the commitment was made")
	}
	name, copies, isDeck := audit.DeckOf(s.Input)
	if r.Items == nil && r.Deck == "" && r.Size == nil {
		switch {
		case isDeck:
			r.Deck = name
		case s.Input == audit.RangeInput:
			r.Size = &s.Size
		default:
			return nil, Refuse("/items", "items is required: the service stores only the digest of the committed items")
		}
	}
	if isDeck && r.Deck == name {
		r.Decks = cmp.Or(r.Decks, &copies)
		if r.Parameters == nil {
			r.Parameters = committed.Parameters
		}
	}
	if r.Hands == nil && r.Preset == "" {
		r.Hands = s.Hands
	}
	r.Algorithm = cmp.Or(r.Algorithm, string(s.Algorithm))
	r.Draw = cmp.Or(r.Draw, &s.Draw)
	r.Repeat = cmp.Or(r.Repeat, &s.Repeat)
	r.Reference = cmp.Or(r.Reference, s.Reference)
	if r.UniqueReference && r.Reference == "" {
		return nil, Refuse("/unique_reference", "unique_reference requires a reference, and the commitment has none")
	}
	return &r, nil
}

// takeSignature makes the signature of the commitment's beacon the client seed.
func takeSignature(r *Request, committed *audit.Record) error {
	if committed.Beacon == "" && r.BeaconSignature == "" {
		return nil
	}
	switch round, _ := beacon.Parse(committed.Beacon); { // the program knows those in its log
	case committed.Beacon == "":
		return Refuse("/beacon_signature", "beacon_signature must be omitted: the commitment names no beacon")
	case r.ClientSeed != "":
		return Refuse("/client_seed", "client_seed must be omitted: it is the signature of %s, so that nobody chooses it", round)
	default:
		r.ClientSeed = cmp.Or(r.BeaconSignature, round.String()) // until there is the signature
		return nil
	}
}

// checkPlayers checks the players of a new commitment.
func checkPlayers(r *Request) error {
	if r.Count != nil || r.Beacon > 0 || r.BeaconAfter > 0 {
		return Refuse("/players", "players must be omitted with beacon or count: their seeds make the client seed of one shuffle or shoe")
	}
	if err := r.Players.Check(); err != nil {
		return Refuse("/players", "%s", err)
	}
	return nil
}

// takePlayerSeeds makes the client seed of the seeds of the commitment's players.
func takePlayerSeeds(r *Request, committed *audit.Record) (err error) {
	switch {
	case committed.Players == nil && r.PlayerSeeds == nil:
		return nil
	case committed.Players == nil:
		return Refuse("/player_seeds", "player_seeds must be omitted: the commitment names no players")
	case r.ClientSeed != "":
		return Refuse("/client_seed", "client_seed must be omitted: the seeds of the players make it, in player_seeds")
	}
	if r.ClientSeed, r.Joined, err = committed.Players.Join(r.PlayerSeeds); err != nil {
		return Refuse("/player_seeds", "player_seeds must be the seeds of all players of the commitment: %s", err)
	}
	return nil
}

// compareInput returns an error that names the input member which differs from the commitment.
func compareInput(p *Plan, record *audit.Record) error {
	r, got, committed := p.Request, &p.Statement, &record.Statement
	if got.Input == committed.Input && got.Size == committed.Size {
		return nil
	}
	pointer := "/size"
	switch {
	case r.Items != nil && p.ItemsDigest != record.ItemsDigest && record.ItemsDigest != "":
		return Refuse("/items_salt", "items_salt is required: send the salt of the committed items again, since only their digest is stored")
	case r.Items != nil && p.ItemsDigest != record.ItemsDigest:
		return Refuse("/items_salt", "items_salt must be omitted: the committed items are not salted")
	case r.Items != nil:
		pointer = "/items"
	case r.Deck != "":
		pointer = "/deck"
		if name, copies, _ := audit.DeckOf(committed.Input); name == r.Deck && copies != *r.Decks {
			pointer = "/decks"
		} else if name == r.Deck && len(r.Parameters) > 0 {
			pointer = "/parameters"
		}
	}
	return Refuse(pointer, "the commitment is to %s, of size %d; omit the committed members, except items, or make another commitment", committed.Input, committed.Size)
}

// compare returns an error that names the first other member which differs from the commitment.
func compare(got, committed *audit.Statement) error {
	differs := func(name string, got, committed any) error {
		return Refuse("/"+name, "%s is %v, but the commitment has %v; omit the committed members, except items, or make another commitment", name, got, committed)
	}
	switch {
	case got.Algorithm != committed.Algorithm:
		return differs("algorithm", got.Algorithm, committed.Algorithm)
	case got.Draw != committed.Draw:
		return differs("draw", got.Draw, committed.Draw)
	case got.Repeat != committed.Repeat:
		return differs("repeat", got.Repeat, committed.Repeat)
	case !slices.Equal(got.Hands, committed.Hands):
		return differs("hands", got.Hands, committed.Hands)
	case got.Reference != committed.Reference:
		return differs("reference", got.Reference, committed.Reference)
	}
	return nil
}
