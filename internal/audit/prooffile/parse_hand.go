package prooffile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/audit"
	"riffle/internal/shoe"
)

// A Hand is cards that were drawn from a shoe, each with the proof that it was sealed at its
// position.
type Hand struct{ cards []handCard }

// A handCard is one card of a hand.
type handCard struct {
	sealedBy uuid.UUID
	position uint64
	number   *uint64  // of the card; nil if missing
	instance *uint64  // which of the equal cards of a deck; nil if missing
	texts    []string // one of them is sealed: the code, or the item or number as JSON without white space
	isCode   bool
	opening  *audit.Opening // nil if missing
}

// wireCard is the JSON of a card. Other members are ignored.
type wireCard struct {
	Card     jsontext.Value `json:"card"`
	Code     *string        `json:"code"`
	Instance jsontext.Value `json:"instance"`
	Item     jsontext.Value `json:"item"`
	Position jsontext.Value `json:"position"`
	SealedBy string         `json:"sealed_by"`
	Salt     *string        `json:"salt"`
	Path     *[]string      `json:"path"`
}

// ParseHand parses cards as the service returns them: a whole answer with cards, an array of cards,
// or one card.
func ParseHand(text []byte) (*Hand, error) {
	value, err := compact(text)
	if err != nil {
		return nil, err
	}
	list := []jsontext.Value{value}
	switch value.Kind() {
	case '[':
		list, err = elements(value)
	case '{':
		var answer struct {
			Cards jsontext.Value `json:"cards"`
		}
		if err = json.Unmarshal(value, &answer); err == nil && answer.Cards != nil {
			list, err = elements(answer.Cards)
		}
	default:
		err = errors.New("neither an answer of a shoe nor cards")
	}
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > shoe.MaxCards {
		return nil, fmt.Errorf("a hand of %d cards, and there are 1 to %d", len(list), shoe.MaxCards)
	}
	h := &Hand{}
	for i, value := range list {
		c, err := parseCard(value)
		if err != nil {
			return nil, fmt.Errorf("card %d, from 0: %w", i, err)
		}
		h.cards = append(h.cards, *c)
	}
	return h, nil
}

func parseCard(value jsontext.Value) (*handCard, error) {
	var w wireCard
	if err := json.Unmarshal(value, &w); err != nil {
		return nil, err
	}
	c := &handCard{}
	var err error
	if c.sealedBy, err = uuid.Parse(w.SealedBy); err != nil || c.sealedBy.String() != w.SealedBy {
		return nil, errors.New("its sealed_by is not the id of a record")
	}
	var isWhole bool
	if c.position, isWhole = whole(w.Position); !isWhole {
		return nil, errors.New("its position is not a number from 0 on")
	}
	for _, m := range []struct {
		name  string
		value jsontext.Value
		to    **uint64
	}{{"card", w.Card, &c.number}, {"instance", w.Instance, &c.instance}} {
		if m.value == nil {
			continue
		}
		number, isWhole := whole(m.value)
		if !isWhole {
			return nil, fmt.Errorf("its %s is not a number from 0 on", m.name)
		}
		*m.to = &number
	}
	switch {
	case (w.Code == nil) == (w.Item == nil):
		return nil, errors.New("it must have either a code or an item")
	case w.Item != nil:
		if c.texts, err = layouts(w.Item); err != nil {
			return nil, err
		}
	case !isCode(*w.Code):
		return nil, errors.New("its code is invalid: codes are ASCII letters, digits and hyphens")
	default:
		c.texts, c.isCode = []string{*w.Code}, true
	}
	c.opening, err = parseOpening(&w)
	return c, err
}

// layouts returns the texts of an item that may have been sealed: the text unchanged, and with its
// strings escaped as JSON programs do. Other spellings of numbers and orders of members are not
// tried.
func layouts(item jsontext.Value) ([]string, error) {
	shortest := item.Clone()
	if err := shortest.Format(); err != nil {
		return nil, err
	}
	var ascii strings.Builder
	for _, r := range string(shortest) {
		if r < 0x80 {
			ascii.WriteRune(r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&ascii, `\u%04x`, unit)
		}
	}
	list := []string{string(item), string(shortest), ascii.String()}
	return slices.Compact(list), nil
}

func isCode(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// maxPath is more hashes than a path in the tree over any shoe has.
const maxPath = 64

// parseOpening parses the salt and path of a card. It returns nil if both are missing.
func parseOpening(w *wireCard) (*audit.Opening, error) {
	if w.Salt == nil && w.Path == nil {
		return nil, nil
	}
	if w.Salt == nil || w.Path == nil || len(*w.Path) > maxPath {
		return nil, errors.New("it takes both salt and path to prove it")
	}
	o := &audit.Opening{}
	if !decodeHash(o.Salt[:], *w.Salt) {
		return nil, errors.New("its salt is not 64 hex digits in lower case")
	}
	for _, text := range *w.Path {
		var hash tlog.Hash
		if !decodeHash(hash[:], text) {
			return nil, errors.New("a hash of its path is not 64 hex digits in lower case")
		}
		o.Path = append(o.Path, hash)
	}
	return o, nil
}

// decodeHash decodes lower-case hex of exactly the length of to.
func decodeHash(to []byte, text string) bool {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(to) || hex.EncodeToString(raw) != text {
		return false
	}
	copy(to, raw)
	return true
}
