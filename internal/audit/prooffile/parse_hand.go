package prooffile

import (
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

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
		var answer map[string]jsontext.Value
		if answer, _, err = members(value); err == nil && answer["cards"] != nil {
			list, err = elements(answer["cards"])
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

// parseCard parses a card. It ignores members that it does not know.
func parseCard(value jsontext.Value) (*handCard, error) {
	object, _, err := members(value)
	if err != nil || value.Kind() != '{' {
		return nil, errors.New("it is not an object")
	}
	for _, name := range []string{"code", "salt", "path"} {
		if object[name].Kind() == 'n' {
			delete(object, name)
		}
	}
	c := &handCard{}
	for _, m := range []struct {
		name string
		to   **uint64
	}{{"position", nil}, {"card", &c.number}, {"instance", &c.instance}} {
		number, isWhole := whole(object[m.name])
		switch {
		case m.to != nil && object[m.name] == nil:
		case !isWhole:
			return nil, fmt.Errorf("its %s is not a number from 0 on", m.name)
		case m.to == nil:
			c.position = number
			id := unquoted(object["sealed_by"])
			if c.sealedBy, err = uuid.Parse(id); err != nil || c.sealedBy.String() != id {
				return nil, errors.New("its sealed_by is not the id of a record")
			}
		default:
			*m.to = &number
		}
	}
	code, item := object["code"], object["item"]
	switch {
	case (code == nil) == (item == nil):
		return nil, errors.New("it must have either a code or an item")
	case item != nil:
		if c.texts, err = layouts(item); err != nil {
			return nil, err
		}
	case !isCode(unquoted(code)):
		return nil, errors.New("its code is invalid: codes are ASCII letters, digits and hyphens")
	default:
		c.texts, c.isCode = []string{unquoted(code)}, true
	}
	c.opening, err = parseOpening(object["salt"], object["path"])
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
func parseOpening(salt, path jsontext.Value) (*audit.Opening, error) {
	if salt == nil && path == nil {
		return nil, nil
	}
	hashes, err := elements(path)
	if salt == nil || err != nil || len(hashes) > maxPath {
		return nil, errors.New("it takes both salt and path to prove it")
	}
	o := &audit.Opening{Path: make([]tlog.Hash, len(hashes))}
	isValid := decodeHash(o.Salt[:], unquoted(salt))
	for i := range hashes {
		isValid = isValid && decodeHash(o.Path[i][:], unquoted(hashes[i]))
	}
	if !isValid {
		return nil, errors.New("its salt or a hash of its path is not 64 hex digits in lower case")
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
