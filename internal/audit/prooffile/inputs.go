package prooffile

import (
	"bytes"
	"cmp"

	"riffle/internal/audit"
	"riffle/internal/audit/message"
	"riffle/internal/deck"
	"riffle/internal/ledger/proof"
)

// MaxText is the longest text that a verifier reads, in bytes: docs/spec.md, "Inputs of a
// verifier".
const MaxText = 64 << 20

// Inputs are the texts that a proof is checked against, by docs/spec.md, "Inputs of a verifier".
// One that is nil was not given, and is not checked.
type Inputs struct {
	Key    []byte // the verifier key of the log
	Policy []byte // the logs and witnesses that are trusted
	Answer []byte // the answer of POST /shuffle
	Order  []byte // everything that was dealt
	Hand   []byte // one hand of a deal, or cards that were drawn from a shoe
	HandOf []byte // which hand of the deal it is
	Items  []byte // what was shuffled
	Salt   []byte // of the items
	Decks  *deck.Catalogue
}

// Verify verifies one proof: a proof file, or the proof of a whole shoe.
func Verify(text []byte, in *Inputs) *Conclusion {
	if len(text) > MaxText {
		return Refused("proof", message.New("why.given.long", message.Values{"most": MaxText >> 20}))
	}
	files, isShoe := filesOf(text)
	record := peek(files[0])
	isShoe = isShoe || record.Kind == audit.KindShoe || record.Kind.ChangesShoe()
	given, refused := in.parse(record, isShoe)
	if refused != nil {
		return refused
	}
	var c Conclusion
	switch {
	case len(files) > 1:
		c = conclude(VerifyShoe(files, given), (*Conclusion).sayOfShoe)
	case given.Hand != nil:
		c = conclude(VerifyRecord(files[0], given), (*Conclusion).sayOfHand)
	default:
		c = conclude(VerifyRecord(files[0], given), (*Conclusion).sayOfRecord)
	}
	c.write()
	return &c
}

// peek returns the record of a proof file, unchecked; one of no kind if it cannot be read.
func peek(text []byte) *audit.Record {
	if f, err := Parse(text); err == nil {
		if record, err := audit.ParseRecord(f.Record); err == nil {
			return record
		}
	}
	return &audit.Record{}
}

// Refused returns the verdict on an input that is not in its form, or could not be read.
func Refused(input string, why error) *Conclusion {
	c := &Conclusion{Steps: Steps{}, of: message.Values{"reason": message.New("why.given", message.Values{"input": input, "what": message.Of(why)})}}
	c.decide(VerdictUnchecked, summary{"id": "refused", "input": input}, "refused", "")
	c.write()
	return c
}

// parse parses the inputs for a proof whose first record is this one.
func (in *Inputs) parse(record *audit.Record, isShoe bool) (given *Given, refused *Conclusion) {
	given = &Given{Decks: in.Decks}
	read := func(name string, text []byte, parse func(text []byte) error) {
		if text == nil || refused != nil {
			return
		}
		err := message.Rule(len(text) <= MaxText, "why.given.long", message.Values{"most": MaxText >> 20})
		if err == nil {
			err = parse(text)
		}
		if err != nil {
			refused = Refused(name, err)
		}
	}
	read("key", in.Key, func(text []byte) (err error) {
		given.Key = string(bytes.Trim(withoutMark(text), whiteSpace))
		_, err = Verifier(given.Key)
		return err
	})
	read("policy", in.Policy, func(text []byte) (err error) {
		given.Policy, err = proof.ParsePolicy(withoutMark(text))
		return err
	})
	in.readOrder(read, given, record.Statement.Input == audit.RangeInput, isShoe)
	read("items", in.Items, func(text []byte) (err error) {
		given.Items, err = ParseItems(text)
		return err
	})
	read("salt", in.Salt, func(text []byte) error {
		given.ItemsSalt = string(bytes.Trim(withoutMark(text), whiteSpace))
		isSalt := audit.CheckItemsSalt(given.ItemsSalt) == nil
		return cmp.Or(message.Rule(in.Items != nil, "why.given.no-items", nil), message.Rule(isSalt, "why.given.salt", nil))
	})
	return given, refused
}

// readOrder reads what is compared with the order: an answer, an order or a hand, and which it is.
func (in *Inputs) readOrder(read func(name string, text []byte, parse func(text []byte) error), given *Given, isRange, isShoe bool) {
	alone := func(isAlone bool) error { return message.Rule(isAlone, "why.given.one", nil) }
	read("answer", in.Answer, func(text []byte) (err error) {
		given.Order, err = ParseAnswer(text)
		return cmp.Or(alone(in.Order == nil && in.Hand == nil), err)
	})
	read("order", in.Order, func(text []byte) (err error) {
		given.Order, err = ParseOrder(text, isRange)
		return cmp.Or(alone(in.Hand == nil), err)
	})
	read("hand", in.Hand, func(text []byte) (err error) {
		if isShoe {
			given.Hand, err = ParseHand(text)
			return err
		}
		if given.Order, err = ParseOrder(text, isRange); err == nil {
			given.Order.isHand = true
		}
		return err
	})
	read("hand_of", in.HandOf, func(text []byte) error {
		part, err := ParsePart(string(withoutMark(text)))
		given.HandOf = &part
		return cmp.Or(message.Rule(in.Hand != nil, "why.given.no-hand", nil), err)
	})
}
