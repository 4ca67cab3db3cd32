package api

import (
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/budget"
	"riffle/internal/dealer"
	"riffle/internal/httpjson"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/scheduler"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// A shuffleRequest is a decoded request for a shuffle, a commitment or a shoe.
type shuffleRequest struct {
	dealer.Request
	items   []httpjson.Span // of the body; nil unless the caller's own items are shuffled
	list    bool            // the answer is a list of shuffles, even of one
	details bool            // cards are answered whole
	expires time.Duration   // of a shoe; 0 for never
	cut     *shoe.Cut       // of a shoe; nil for none
	job     *scheduler.Job  // nil unless it takes long to shuffle
}

// A form says which members a request has.
type form struct {
	excluded []string // members of a shuffle that the request does not have
	reason   string   // why not
	ofShoe   bool     // it has expires_in and cut
}

// members returns the names of the members of the request.
func (f *form) members() []string {
	all := []string{
		"items", "items_salt", "deck", "decks", "parameters", "size", "algorithm", "draw", "hands", "repeat",
		"client_seed", "reference", "unique_reference", "commitment_id", "reveal", "expires_in", "cut",
	}
	return slices.DeleteFunc(all, func(name string) bool {
		return slices.Contains(f.excluded, name) || (name == "expires_in" || name == "cut") && !f.ofShoe
	})
}

// The forms of requests.
var (
	shuffleForm    = &form{}
	commitmentForm = &form{
		excluded: []string{"client_seed", "commitment_id", "reveal"},
		reason:   "belongs to the shuffle that uses the commitment, not to the commitment. Leave it out here.",
	}
	shoeForm = &form{
		excluded: []string{"draw", "hands", "repeat", "reveal"}, ofShoe: true,
		reason: "is not for shoes: the whole deck is shuffled once, dealt later, and revealed when the shoe is closed. Leave it out.",
	}
)

// readBody receives the body of a request that takes no parameters.
func (a *API) readBody(w http.ResponseWriter, r *http.Request, lease *budget.Lease) ([]byte, error) {
	if err := noParameters(r); err != nil {
		return nil, err
	}
	return httpjson.Read(w, r, a.MaxBody, lease)
}

// readRequest receives and decodes a request of a form. It also returns the body, which has its
// items.
func (a *logAPI) readRequest(
	w http.ResponseWriter, r *http.Request, f *form, lease *budget.Lease,
) (q *shuffleRequest, body []byte, err error) {
	if body, err = a.readBody(w, r, lease); err != nil {
		return nil, nil, err
	}
	if q, err = decodeShuffle(body, a.Rules.Limits.Items, f, lease); err != nil {
		return nil, nil, err
	}
	return q, body, a.prepare(w, r, q, body, lease)
}

// elementBytes is the memory of an element that is shuffled: its position, a second time where the
// algorithm makes a copy, and its place in the algorithm's notes.
const elementBytes = 32

// prepare adds to a decoded request what its retries are known by, and has it admitted, if it is
// long, and the lease charged for the elements, before they are shuffled.
func (a *API) prepare(w http.ResponseWriter, r *http.Request, q *shuffleRequest, body []byte, lease *budget.Lease) (err error) {
	q.Reserve = func(s *audit.Statement) (err error) {
		if s.Cost() > shortShuffle && q.job == nil {
			if q.job, err = a.long.Admit(w, r); err != nil {
				return err
			}
		}
		return lease.Grow(int64(plan.Elements(s)) * elementBytes)
	}
	q.Key, err = idempotencyKey(w, r, body)
	return err
}

// decodeShuffle reads the body of a request of a form. Items beyond maxItems are only counted.
func decodeShuffle(body []byte, maxItems uint64, f *form, lease *budget.Lease) (*shuffleRequest, error) {
	q := &shuffleRequest{}
	d, err := httpjson.NewReader(body, lease)
	if err != nil {
		return nil, err
	}
	err = d.Object(func(name string) (err error) {
		switch {
		case slices.Contains(f.excluded, name):
			return unprocessable("%s %s", name, f.reason).at("/" + name)
		case name == "expires_in" && f.ofShoe:
			q.expires, err = readExpiry(d)
			return err
		case name == "cut" && f.ofShoe:
			q.cut, err = readCut(d)
			return err
		}
		if err = q.member(d, name, maxItems); errors.Is(err, errNoMember) {
			return unknownMember(d, name, f.members())
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return q, d.End()
}

// member reads one member of the request.
func (q *shuffleRequest) member(d *httpjson.Reader, name string, maxItems uint64) (err error) {
	switch name {
	case "items":
		return q.readItems(d, maxItems)
	case "items_salt":
		if q.ItemsSalt, err = d.String(); err == nil {
			err = textError(audit.CheckItemsSalt(q.ItemsSalt), "/items_salt")
		}
	case "deck":
		if q.Deck, err = d.String(); err == nil && q.Deck == "" {
			err = unprocessable(`deck must be a deck type such as "standard52"; got "". GET /decks lists them.`).at("/deck")
		}
	case "decks":
		q.Decks, err = readCount(d)
	case "parameters":
		return q.readParameters(d)
	case "size":
		q.Size, err = readCount(d)
	case "algorithm":
		q.Algorithm, err = readAlgorithm(d)
	case "draw":
		q.Draw, err = readCount(d)
		if wrong := (*httpjson.Error)(nil); errors.As(err, &wrong) && q.outOfRange(wrong) {
			err = nil
		}
	case "hands":
		return q.readHands(d)
	case "repeat":
		q.Repeat, err = readCount(d)
		q.list = true
	case "client_seed":
		q.ClientSeed, err = readClientSeed(d)
	case "reference":
		if q.Reference, err = d.String(); err == nil {
			err = textError(audit.CheckReference(q.Reference), "/reference")
		}
	case "reveal":
		var when string
		if when, err = d.String(); err == nil && when != "now" {
			err = unprocessable(`reveal must be "now" or left out; got %s.`, suggest.Quote(when)).at("/reveal")
		}
		q.RevealNow = true
	case "commitment_id":
		var text string
		if text, err = d.String(); err == nil {
			var ok bool
			if q.CommitmentID, ok = parseID(text); !ok || q.CommitmentID == uuid.Nil {
				err = dealer.ErrNoCommitment
			}
		}
	case "unique_reference":
		q.UniqueReference, err = d.Bool()
	default:
		return errNoMember
	}
	return err
}

// errNoMember is for a name that is no member of any such request.
var errNoMember = errors.New("no such member")

// outOfRange reports whether a draw is wrong because it is out of any range. The error then waits
// until the size of what is drawn from is known, and with it the range.
func (q *shuffleRequest) outOfRange(wrong *httpjson.Error) bool {
	if wrong.Integer == "" {
		return false
	}
	most := uint64(math.MaxUint64)
	q.Draw, q.DrawText = &most, wrong.Integer
	return true
}

// unknownMember returns the error for a member that a request does not have, and says which was
// meant or what it has.
func unknownMember(d *httpjson.Reader, name string, members []string) error {
	otherwise := "it takes none."
	if len(members) > 0 {
		otherwise = "it takes " + strings.Join(members, ", ") + "."
	}
	return badRequest("%s is not a member of this request; %s", suggest.Quote(name), suggest.Or(name, members, otherwise)).at(d.Pointer())
}

// readItems reads the caller's own items.
func (q *shuffleRequest) readItems(d *httpjson.Reader, limit uint64) error {
	found, err := d.Elements(limit)
	if err != nil {
		return err
	}
	q.items = found.Spans
	q.Items = &plan.Items{Count: found.Count, Digest: found.Digest}
	return nil
}

// values returns the items as text, for a shoe to store; nil if there are none, or more than a shoe
// has cards.
func (q *shuffleRequest) values(body []byte) []string {
	if q.Items == nil || q.Items.Count > shoe.MaxCards {
		return nil
	}
	values := make([]string, len(q.items))
	for i, item := range q.items {
		values[i] = string(item.Of(body))
	}
	return values
}

func readCount(d *httpjson.Reader) (*uint64, error) {
	n, err := d.Count()
	if err != nil {
		return nil, err
	}
	return &n, nil
}

// readAlgorithm reads the member of that name.
func readAlgorithm(d *httpjson.Reader) (string, error) {
	name, err := d.String()
	if err == nil && name == "" {
		err = problemNoAlgorithm().at("/algorithm")
	}
	return name, err
}

func problemNoAlgorithm() *problem {
	return unprocessable(`algorithm must be a name such as "sattolo", or left out for "fisher-yates"; got "".`)
}

// readClientSeed reads client_seed.
func readClientSeed(d *httpjson.Reader) (string, error) {
	text, err := d.String()
	if err == nil {
		err = textError(audit.CheckClientSeed(text), "/client_seed")
	}
	return text, err
}

// textError returns the problem of a text that has a wrong form; nil for a nil error.
func textError(err error, pointer string) error {
	if err == nil {
		return nil
	}
	return badRequest("%s", sentence("", err.Error())).at(pointer)
}

// readHands reads hand sizes, or the name of a preset.
func (q *shuffleRequest) readHands(d *httpjson.Reader) error {
	const accepted = `the sizes of the hands, such as [5,5], or a preset of the deck, such as "bridge"`
	switch d.Kind() {
	case '"':
		preset, err := d.String()
		if err == nil && preset == "" {
			err = unprocessable(`hands must be %s; got "".`, accepted).at("/hands")
		}
		q.Preset = preset
		return err
	case '[':
	default:
		return d.WrongKind(accepted)
	}
	q.Hands = []uint64{}
	err := d.Array(func(int) error {
		n, err := d.Count()
		q.Hands = append(q.Hands, n)
		return err
	})
	if err == nil && len(q.Hands) == 0 {
		err = unprocessable("hands must have at least one size, as in [13,13,13,13], or be left out; got [].").at("/hands")
	}
	return err
}

// readParameters reads the parameters of a deck type.
func (q *shuffleRequest) readParameters(d *httpjson.Reader) error {
	if d.Kind() != '{' {
		return d.WrongKind(`an object of integers such as {"players": 9}`)
	}
	q.Parameters = map[string]int{}
	return d.Object(func(name string) error {
		n, err := d.Count()
		if err != nil {
			return err
		}
		if wrong := q.setParameter(name, n); wrong != nil {
			return wrong.at(d.Pointer())
		}
		return nil
	})
}

// setParameter sets a parameter of the deck type.
func (q *shuffleRequest) setParameter(name string, n uint64) *problem {
	const largest = 1 << 20
	if n > largest {
		return unprocessable("%s must be at most %d, as every parameter of a deck type; got %d.", suggest.Brief(name), largest, n)
	}
	if q.Parameters == nil {
		q.Parameters = map[string]int{}
	}
	q.Parameters[name] = int(n)
	return nil
}

// readExpiry reads after how many seconds a shoe expires.
func readExpiry(d *httpjson.Reader) (time.Duration, error) {
	n, err := d.Count()
	if err != nil {
		return 0, err
	}
	const most = uint64(liveshoes.MaxExpiry / time.Second)
	if n < 1 || n > most {
		return 0, unprocessable("expires_in must be from 1 to %d seconds, or left out for a shoe that does not expire.",
			most).at("/expires_in")
	}
	return time.Duration(n) * time.Second, nil
}

// readCut reads where a cut card lies: behind a number of cards, or a range to draw that from.
func readCut(d *httpjson.Reader) (*shoe.Cut, error) {
	c := &shoe.Cut{}
	switch d.Kind() {
	case '0':
		n, err := d.Count()
		if err == nil && n == 0 {
			err = problemCut("0")
		}
		c.At = n
		return c, err
	case '[':
	default:
		return nil, d.WrongKind("a number of cards such as 234 or a range of them such as [220,250]")
	}
	ends := []uint64{}
	err := d.Array(func(i int) error {
		if i == 2 {
			return problemCut("more than two numbers")
		}
		n, err := d.Count()
		ends = append(ends, n)
		return err
	})
	if err == nil && (len(ends) != 2 || ends[0] < 1 || ends[0] >= ends[1]) {
		err = problemCut(strings.ReplaceAll(fmt.Sprint(ends), " ", ","))
	}
	if err != nil {
		return nil, err
	}
	c.From, c.To = ends[0], ends[1]
	return c, nil
}

func problemCut(got string) *problem {
	return unprocessable("cut must be how many cards lie before the cut card, such as 234, or a range to draw that from, such as [220,250]; got %s.", got).at("/cut")
}

// decodeReveal reads the body of a reveal and returns the seed.
func decodeReveal(body []byte, lease *budget.Lease) ([]byte, error) {
	var text string
	d, err := httpjson.NewReader(body, lease)
	if err != nil {
		return nil, err
	}
	err = d.Object(func(name string) (err error) {
		if name != "seed" {
			return unknownMember(d, name, []string{"seed"})
		}
		text, err = d.String()
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := d.End(); err != nil {
		return nil, err
	}
	seed, err := hex.DecodeString(text)
	if err != nil || len(seed) == 0 || hex.EncodeToString(seed) != text {
		return nil, badRequest("seed must be the seed of an answer, copied exactly: lower-case hex digits.").at("/seed")
	}
	return seed, nil
}
