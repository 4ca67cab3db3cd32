package dealer

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/deck"
	"riffle/internal/ledger"
	"riffle/internal/shoe"
)

// A ShoeStatus is what a shoe is in.
type ShoeStatus string

// The statuses of a shoe.
const (
	ShoeOpen    ShoeStatus = "open"    // cards are dealt from it
	ShoeExpired ShoeStatus = "expired" // its time has passed, or its owner gave it up. It can still be closed
	ShoeClosed  ShoeStatus = "closed"  // its seeds are public
)

// Errors of shoes.
var (
	// ErrNoShoe is for an id that no shoe has.
	ErrNoShoe = errors.New("there is no such shoe")
	// ErrNotSeen is for a card that has not been drawn.
	ErrNotSeen = errors.New("the card has not been drawn")
)

// A ShoeOverError is for a change of a shoe that takes none any more.
type ShoeOverError struct {
	Status  ShoeStatus
	AuditID uuid.UUID // of the record that ended it; Nil if its time has passed and the log does not say so yet
}

func (e *ShoeOverError) Error() string { return "the shoe is " + string(e.Status) }

// A VersionError is for a change of a version that is no longer, or not yet, that of the shoe.
type VersionError struct{ Version uint64 } // which it has

func (e *VersionError) Error() string { return fmt.Sprintf("the shoe is at version %d", e.Version) }

// A CardsError is for cards that cannot be taken from where they were to be taken from.
type CardsError struct {
	Index     int    // which of the request
	Name      string // as it was
	Ambiguous bool   // several cards there have this code; otherwise none lies there
}

func (e *CardsError) Error() string { return "the card " + e.Name + " does not lie there" }

// A ShoeRequest asks for a shoe.
type ShoeRequest struct {
	Request
	Values     []string      // the items, as they came; nil unless it is a shoe of items
	Unshuffled bool          // the cards lie as the input has them
	Expires    time.Duration // after how long nothing more is dealt; 0 for never
	Sliding    bool          // the time begins anew with each change; it is up to a hundredth longer then
	Replaces   uuid.UUID     // the shoe whose id, which it keeps, the new one gets; Nil for none
}

// A Shoe is a sealed deck as its owner may see it, at one version.
type Shoe struct {
	ID        uuid.UUID     // what the owner knows it by, and nobody else
	First     *audit.Record // its first record
	LogIndex  uint64        // of the first record
	ChangedBy uuid.UUID     // the audit id of the record that made this version
	Version   uint64
	Status    ShoeStatus
	Size      uint64 // how many cards it has, wherever they lie
	Remaining uint64 // how many are in the deck
	Dealt     uint64 // how many were drawn and are on no pile
	Piles     []PileSize
	Shuffled  bool      // whether the deck ever was
	Expires   time.Time // zero for never

	state *shoeState
}

// A PileSize is how many cards a pile has.
type PileSize struct {
	Name  string
	Cards uint64
}

// A ShoeCard is a card that the owner of a shoe has drawn.
type ShoeCard struct {
	Number   uint64         // which of the shoe's cards it is: its place in what was shuffled first. It never changes, and no two cards share it
	SealedBy uuid.UUID      // the record that sealed it where it lay when it was drawn
	Position uint64         // and its position there
	Card     *deck.Card     // with its instance over all copies of the deck; nil unless the shoe is of a deck
	Item     string         // the JSON of the caller's item, as it came, or of the number, if the shoe is of those
	Opening  *audit.Opening // shows that it was sealed there; nil unless asked for
}

// A Change is something to do to a shoe.
type Change struct {
	Kind audit.Kind // of draw, add, return, reshuffle, close and expire

	From     shoe.Place // where cards are taken from, or sealed
	Taken    shoe.End   // how they are chosen there
	Count    *uint64    // how many of them, unless they are named; one if nil
	AtMost   bool       // fewer will do if there are not as many, but not none
	Cards    []CardName // those that are named; with Taken being [shoe.Named] and nil, all that lie there
	To       shoe.Place // where they are put
	Put      shoe.End   // and at which end
	Openings bool       // cards are answered with what proves them

	Algorithm  string // of what is shuffled; fisher-yates if empty
	ClientSeed string // of a reshuffle

	IfVersion uint64 // the version that is to be changed; 0 for any
	Call      *Call
}

// A CardName names a card of a shoe: by its number or, where only one with that code lies there, by its code.
type CardName struct {
	Number *uint64
	Code   string
	First  bool // of several with the code, the first that lies there will do
}

func (n *CardName) String() string {
	if n.Number != nil {
		return fmt.Sprint(*n.Number)
	}
	return n.Code
}

// A Changed is a change whose record is durable.
type Changed struct {
	AuditID  uuid.UUID
	LogIndex uint64
	Record   *audit.Record
	Shoe     Shoe       // as the change left it
	Cards    []ShoeCard // that were moved, in the order in which they were taken
}

// shoeClaims begins the names of claims on shoes. The record that last changed a shoe holds its claim, which is due when the shoe
// expires. As long as the shoe is open and never expires, the claim has its status.
const shoeClaims = "shoe "

// shoeClaim is named after the first record.
func shoeClaim(first uuid.UUID) string { return shoeClaims + first.String() }

// ownerClaim is held by the first record of the shoe with the id. The id itself is nowhere in the clear: who has it has the shoe.
func ownerClaim(id uuid.UUID) string {
	digest := sha256.Sum256(id[:])
	return callClaims + "shoe " + hex.EncodeToString(digest[:])
}

// claimOf returns the claim that the last record of a shoe holds.
func claimOf(first uuid.UUID, k *shoeKept) ledger.Claim {
	c := ledger.Claim{Name: shoeClaim(first)}
	switch {
	case k.Status != ShoeOpen:
	case k.Expires.IsZero():
		c.Status = string(ShoeOpen)
	default:
		c.Due = k.Expires.UnixMicro()
	}
	return c
}

// Shoe returns the shoe with the id. The error is [ErrNoShoe] or one of the ledger's.
func (d *Dealer) Shoe(ctx context.Context, id uuid.UUID) (*Shoe, error) {
	t, done, err := d.tables.sit(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	s, err := d.read(ctx, t)
	if err != nil {
		return nil, err
	}
	return s.show(d.options.Now()), nil
}

// Recall returns the shoe with the id as this process last knew it, which may not be how it is, or nil. What never changes of a shoe
// can be told from it without asking the store.
func (d *Dealer) Recall(id uuid.UUID) *Shoe {
	if s := d.tables.recall(id); s != nil {
		return s.show(d.options.Now())
	}
	return nil
}

// Lying returns the cards at a place of the shoe, all of which its owner has drawn: [shoe.Dealt], [shoe.Out] or a pile. The
// error is [shoe.ErrNoPile], [ErrNotSeen] or one of the ledger's.
func (d *Dealer) Lying(ctx context.Context, s *Shoe, place shoe.Place, openings bool) ([]ShoeCard, error) {
	cards, err := s.state.kept.Layout.At(place)
	if err != nil {
		return nil, err
	}
	if place == shoe.Deck || place == shoe.All {
		return nil, ErrNotSeen
	}
	return d.cards(ctx, s.state, cards, openings)
}

// OpenCard returns the card at a position of a sealing with what proves it. A sealing is known by its record; Nil is for the last
// one of the deck. What has not been drawn is opened for nobody until the shoe is closed. The error is [ErrNoShoe],
// [ErrNotSeen], [ledger.ErrNotFound] for a record that is no sealing of the shoe, or another of the ledger's.
func (d *Dealer) OpenCard(ctx context.Context, id, sealedBy uuid.UUID, position uint64) (*ShoeCard, error) {
	s, err := d.Shoe(ctx, id)
	if err != nil {
		return nil, err
	}
	version := uint64(0)
	layout := s.state.kept.Layout
	if sealedBy == uuid.Nil {
		for i := range layout.Seals {
			if !layout.Seals[i].OfPile {
				version = layout.Seals[i].Version
			}
		}
	} else if version, err = d.sealedAs(ctx, s, sealedBy); err != nil {
		return nil, err
	}
	ref := shoe.Ref{Seal: version, Position: position}
	seal, found := layout.Seal(version)
	if !found || position >= seal.Size {
		return nil, ledger.ErrNotFound
	}
	if s.Status != ShoeClosed && !layout.IsSeen(ref) {
		return nil, ErrNotSeen
	}
	list, err := d.cards(ctx, s.state, shoe.List([]shoe.Ref{ref}), true)
	if err != nil {
		return nil, err
	}
	return &list[0], nil
}

// sealedAs returns the version that a record of the shoe has sealed.
func (d *Dealer) sealedAs(ctx context.Context, s *Shoe, sealedBy uuid.UUID) (uint64, error) {
	if sealedBy == s.First.ID {
		return 1, nil
	}
	stored, err := d.log.ByID(ctx, sealedBy)
	if err != nil {
		return 0, err
	}
	record, err := parse(stored)
	if err != nil {
		return 0, err
	}
	if !record.IsOfShoe(s.First.ID) || record.Root == nil {
		return 0, ledger.ErrNotFound
	}
	return record.Version, nil
}

// ProveShoe calls each with the proof of every record of the shoe, from the first to the last. It passes on an error of each.
func (d *Dealer) ProveShoe(ctx context.Context, id uuid.UUID, each func(*Proof) error) error {
	s, err := d.Shoe(ctx, id)
	if err != nil {
		return err
	}
	indexes := []uint64{s.state.index}
	for at, k := s.state.index, s.state.kept; at != s.LogIndex; {
		at = k.Previous
		indexes = append(indexes, at)
		stored, err := d.log.At(ctx, at)
		if err != nil {
			return err
		}
		record, err := parse(stored)
		if err != nil {
			return err
		}
		if !record.IsOfShoe(s.First.ID) {
			return fmt.Errorf("%w: record %d is not of the shoe %s", ledger.ErrCorrupt, at, s.First.ID)
		}
		earlier, err := d.keptOf(stored, record.Kind)
		if err != nil {
			return err
		}
		k = earlier.shoe
	}
	for _, at := range slices.Backward(indexes) {
		stored, err := d.log.At(ctx, at)
		if err != nil {
			return err
		}
		p, err := d.prove(ctx, stored)
		if err != nil {
			return err
		}
		if err := each(p); err != nil {
			return err
		}
	}
	return nil
}

// CountShoes returns how many shoes are open.
func (d *Dealer) CountShoes(ctx context.Context) (uint64, error) {
	lasting, err := d.log.CountClaims(ctx, ledger.ClaimQuery{Prefix: shoeClaims, Done: true, Status: string(ShoeOpen)})
	if err != nil {
		return 0, err
	}
	open, _, err := d.countDue(ctx, shoeClaims)
	return lasting + open, err
}

// isClosed reports whether the shoe with the first record is closed.
func (d *Dealer) isClosed(ctx context.Context, first uuid.UUID) (bool, error) {
	holder, err := d.log.ByClaim(ctx, shoeClaim(first))
	if errors.Is(err, ledger.ErrNotFound) {
		return false, fmt.Errorf("%w: nobody holds the claim of the shoe %s", ledger.ErrCorrupt, first)
	} else if err != nil {
		return false, err
	}
	record, err := parse(holder)
	return err == nil && record.Kind == audit.KindClose && record.IsOfShoe(first), err
}
