package prooffile

import (
	"cmp"
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
	array := slices.Concat(jsontext.Value("["), value, jsontext.Value("]"))
	switch value.Kind() {
	case '[':
		array = value
	case '{':
		if answer, _, _ := members(value); answer["cards"] != nil { // no error, since it was parsed
			array = answer["cards"]
		}
	default:
		return nil, errors.New("neither an answer of a shoe nor cards")
	}
	list, err := elements(array)
	if err != nil {
		return nil, err
	}
	if list.len() == 0 || list.len() > shoe.MaxCards {
		return nil, fmt.Errorf("a hand of %d cards, and there are 1 to %d", list.len(), shoe.MaxCards)
	}
	h := &Hand{}
	for i, value := range list.all() {
		c, err := parseCard(value)
		if err != nil {
			return nil, fmt.Errorf("card %d, from 0: %w", i, err)
		}
		h.cards = append(h.cards, c)
	}
	return h, nil
}

// parseCard parses a card. It ignores members that it does not know.
func parseCard(value jsontext.Value) (c handCard, err error) {
	object, _, err := members(value)
	if err != nil || value.Kind() != '{' {
		return c, errors.New("it is not an object")
	}
	for _, name := range []string{"code", "salt", "path"} {
		if object[name].Kind() == 'n' {
			delete(object, name)
		}
	}
	position, err := number(object, "position")
	c.position = *position
	return c, cmp.Or(
		err,
		c.setSealedBy(unquoted(object["sealed_by"])),
		c.setNumbers(object),
		c.setText(object["code"], object["item"]),
		c.setOpening(object["salt"], object["path"]),
	)
}

// number returns a member that is a number from 0 on.
func number(object map[string]jsontext.Value, name string) (*uint64, error) {
	n, isWhole := wholeNumber(object[name])
	return &n, audit.Rule(isWhole, "its %s is not a number from 0 on", name)
}

func (c *handCard) setSealedBy(id string) (err error) {
	c.sealedBy, err = uuid.Parse(id)
	return audit.Rule(err == nil && c.sealedBy.String() == id, "its sealed_by is not the id of a record")
}

// setNumbers sets the number and the instance of the card, which may be missing.
func (c *handCard) setNumbers(object map[string]jsontext.Value) (err error) {
	if object["card"] != nil {
		c.number, err = number(object, "card")
	}
	if object["instance"] != nil && err == nil {
		c.instance, err = number(object, "instance")
	}
	return err
}

// setText sets what may have been sealed: the card has either a code or an item.
func (c *handCard) setText(code, item jsontext.Value) (err error) {
	if (code == nil) == (item == nil) {
		return errors.New("it must have either a code or an item")
	}
	if item != nil {
		c.texts, err = layouts(item)
		return err
	}
	c.texts, c.isCode = []string{unquoted(code)}, true
	return audit.Rule(isCode(c.texts[0]), "its code is invalid: codes are ASCII letters, digits and hyphens")
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
	return slices.Compact([]string{string(item), string(shortest), ascii.String()}), nil
}

func isCode(text string) bool {
	return text != "" && strings.Trim(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-") == ""
}

// maxPath is more hashes than a path in the tree over any shoe has.
const maxPath = 64

// setOpening sets salt and path, which may both be missing.
func (c *handCard) setOpening(salt, path jsontext.Value) error {
	if salt == nil && path == nil {
		return nil
	}
	hashes, err := elements(path)
	if salt == nil || err != nil || hashes.len() > maxPath {
		return errors.New("it takes both salt and path to prove it")
	}
	c.opening = &audit.Opening{Path: make([]tlog.Hash, hashes.len())}
	c.opening.Salt, err = audit.ParseHash(unquoted(salt))
	for i, hash := range hashes.all() {
		if err == nil {
			c.opening.Path[i], err = audit.ParseHash(unquoted(hash))
		}
	}
	return audit.Rule(err == nil, "its salt or a hash of its path is not 64 hex digits in lower case")
}
