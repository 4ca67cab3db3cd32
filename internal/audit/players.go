package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"riffle/internal/audit/message"
)

// Players are the players of a commitment by their names, each with the SHA-256, in hex, of the
// name, a line feed and the player's seed. The client seed joins their seeds: docs/spec.md, "Client
// seeds of several players".
type Players map[string]string

// MaxPlayers is the most players of a commitment.
const MaxPlayers = 100

// Check checks the names and the hashes, and how many there are.
func (p Players) Check() error {
	if len(p) == 0 || len(p) > MaxPlayers {
		return ErrPlayers
	}
	for _, name := range p.Names() {
		if err := CheckPlayer(name, p[name]); err != nil {
			return err
		}
	}
	return nil
}

// ErrPlayers is for too few or too many players.
var ErrPlayers = fmt.Errorf("there are 1 to %d players", MaxPlayers)

// CheckPlayer checks the form of a player's name and hash.
func CheckPlayer(name, hash string) error {
	if !isPlayer(name) || name == "sha256" {
		return errors.New("a name has 1 to 32 of the characters A-Z, a-z, 0-9, - and _, and is not sha256")
	}
	if _, err := ParseHash(hash); err != nil {
		return fmt.Errorf("the hash of %s is %w", name, err)
	}
	return nil
}

// CheckPlayerSeed checks the form of a player's seed.
func CheckPlayerSeed(name, seed string) error {
	if !isPlayerSeed(seed) {
		return message.New("why.player.form", message.Values{"name": message.Short(name)})
	}
	return nil
}

// Names returns the names, sorted by their bytes.
func (p Players) Names() []string { return slices.Sorted(maps.Keys(p)) }

// Join returns the client seed that the seeds of all players make and, if that is a digest, the
// joined text. The error names a player and shows no seed.
func (p Players) Join(seeds map[string]string) (clientSeed, joined string, err error) {
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		if p[name] == "" {
			return "", "", message.New("why.player.unknown", message.Values{"name": message.Short(name)})
		}
	}
	parts := p.Names()
	for i, name := range parts {
		seed, isShown := seeds[name]
		form := CheckPlayerSeed(name, seed)
		hash := sha256.Sum256([]byte(name + "\n" + seed))
		switch {
		case !isShown:
			return "", "", message.New("why.player.missing", message.Values{"name": name})
		case form != nil:
			return "", "", form
		case hex.EncodeToString(hash[:]) != p[name]:
			return "", "", message.New("why.player.hash", message.Values{"name": name})
		}
		parts[i] = name + ":" + seed
	}
	text := strings.Join(parts, " ")
	if len(text) <= MaxClientSeed {
		return text, "", nil
	}
	return digestOf(text), text, nil
}

// digestOf returns the client seed for a joined text that is too long to be one.
func digestOf(joined string) string {
	sum := sha256.Sum256([]byte(joined))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// checkPlayers checks that the client seed joins the seeds of the players of the commitment c, if
// it has any.
func (r *Record) checkPlayers(c *Record) error {
	if c.Players == nil {
		return message.Rule(r.Joined == "", "why.players.none", nil)
	}
	seeds := map[string]string{}
	for part := range strings.SplitSeq(cmp.Or(r.Joined, r.ClientSeed), " ") {
		name, seed, _ := strings.Cut(part, ":")
		seeds[name] = seed
	}
	clientSeed, joined, err := c.Players.Join(seeds)
	return cmp.Or(err, message.Rule(clientSeed == r.ClientSeed && joined == r.Joined, "why.players.joined", nil))
}
