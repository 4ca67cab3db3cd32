package api

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/beacon"
	"riffle/internal/dealer"
	"riffle/internal/httpjson"
	"riffle/internal/journal"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/scheduler"
	"riffle/internal/shoe"
	"riffle/internal/suggest"
)

// A shuffleRequest is a decoded request for a shuffle, a commitment or a shoe.
type shuffleRequest struct {
	dealer.Request
	maxItems uint64          // more are only counted
	body     []byte          // has the items
	items    []httpjson.Span // of the body; nil unless the caller's own items are shuffled
	details  bool            // the answer has whole cards
	cut      *shoe.Cut       // of a shoe; nil for none
	job      *scheduler.Job  // nil unless it takes long
}

// A member is a member of a JSON body, with the function that reads its value into a T.
type member[T any] struct {
	name     string
	read     func(d *httpjson.Reader, into T) error
	excluded string // why the request does not have the member; empty if it has
}

// value returns a member whose value is what read returns.
func value[T, V any](name string, field func(T) *V, read func(*httpjson.Reader) (V, error)) member[T] {
	return member[T]{name: name, read: func(d *httpjson.Reader, into T) (err error) {
		*field(into), err = read(d)
		return err
	}}
}

// count returns a function that reads an integer from least on.
func count(least uint64) func(*httpjson.Reader) (*uint64, error) {
	return func(d *httpjson.Reader) (*uint64, error) {
		n, err := d.Count(least, audit.MaxSize)
		return &n, err
	}
}

// text returns a member that is a text of a restricted form.
func text[T any](name string, field func(T) *string, check func(string) error) member[T] {
	return value(name, field, func(d *httpjson.Reader) (string, error) { return readText(d, check) })
}

// readText reads a text of a restricted form.
func readText(d *httpjson.Reader, check func(string) error) (string, error) {
	text, err := d.String()
	if err != nil {
		return "", err
	}
	if err := check(text); err != nil {
		return "", badRequest("%s", sentence(d.Pointer(), err.Error())).at(d.Pointer())
	}
	return text, nil
}

// oneOf returns a function that reads a string, which must be one of a few words.
func oneOf[T ~string](words ...T) func(d *httpjson.Reader) (T, error) {
	var list []string
	for _, word := range words {
		list = append(list, strconv.Quote(string(word)))
	}
	accepted := strings.Join(list, " or ")
	return func(d *httpjson.Reader) (T, error) {
		if d.Kind() != '"' {
			return "", d.WrongKind(accepted)
		}
		text, err := d.String()
		if err == nil && !slices.Contains(words, T(text)) {
			name := strings.ReplaceAll(strings.TrimPrefix(d.Pointer(), "/"), "/", ".")
			err = badRequest("%s must be %s; got %s.", name, accepted, suggest.Quote(text)).at(d.Pointer())
		}
		return T(text), err
	}
}

// readNow reads when a seed is revealed.
var readNow = oneOf("now")

// readFilled reads a string. If it is empty, the error has the text.
func readFilled(d *httpjson.Reader, ifEmpty string) (string, error) {
	return readText(d, func(text string) error { return audit.Rule(text != "", "%s", ifEmpty) })
}

const noAlgorithm = `algorithm must be a name such as "sattolo", or left out for "fisher-yates"; got ""`

// readAlgorithm reads the name of an algorithm.
func readAlgorithm(d *httpjson.Reader) (string, error) { return readFilled(d, noAlgorithm) }

// shuffleMembers are the members of all forms.
var shuffleMembers = []member[*shuffleRequest]{
	{name: "items", read: readItems},
	text("items_salt", func(q *shuffleRequest) *string { return &q.ItemsSalt }, audit.CheckItemsSalt),
	{name: "deck", read: func(d *httpjson.Reader, q *shuffleRequest) (err error) {
		q.Deck, err = readFilled(d, `deck must be a deck type such as "standard52"; got ""; GET /decks lists them`)
		return err
	}},
	relative("decks", func(q *shuffleRequest) **uint64 { return &q.Decks }),
	{name: "parameters", read: readParameters},
	value("size", func(q *shuffleRequest) **uint64 { return &q.Size }, count(0)),
	value("algorithm", func(q *shuffleRequest) *string { return &q.Algorithm }, readAlgorithm),
	relative("draw", func(q *shuffleRequest) **uint64 { return &q.Draw }),
	{name: "hands", read: readHands},
	value("repeat", func(q *shuffleRequest) **uint64 { return &q.Repeat }, count(1)),
	text("client_seed", func(q *shuffleRequest) *string { return &q.ClientSeed }, audit.CheckClientSeed),
	text("reference", func(q *shuffleRequest) *string { return &q.Reference }, audit.CheckReference),
	value("unique_reference", func(q *shuffleRequest) *bool { return &q.UniqueReference }, (*httpjson.Reader).Bool),
	{name: "commitment_id", read: func(d *httpjson.Reader, q *shuffleRequest) error {
		text, err := readText(d, isID("commitment_id", "the commitment_id of an answer to POST /commitments"))
		if q.CommitmentID = parseID(text); err == nil && q.CommitmentID == uuid.Nil {
			err = dealer.ErrNoCommitment
		}
		return err
	}},
	text("beacon_signature", func(q *shuffleRequest) *string { return &q.BeaconSignature }, func(text string) error {
		return audit.Rule(len(text) == 96 && strings.Trim(text, "0123456789abcdef") == "", "beacon_signature must be the signature of a round, 96 hex digits in lower case")
	}),
	value("player_seeds", func(q *shuffleRequest) *map[string]string { return &q.PlayerSeeds }, readPlayers("player_seeds", audit.CheckPlayerSeed)),
	{name: "reveal", read: func(d *httpjson.Reader, q *shuffleRequest) error {
		_, err := readNow(d)
		q.RevealNow = true
		return err
	}},
	value("expires_in", func(q *shuffleRequest) *time.Duration { return &q.Expiry }, readExpiry),
	value("cut", func(q *shuffleRequest) **shoe.Cut { return &q.cut }, readCut),
	relative("count", func(q *shuffleRequest) **uint64 { return &q.Count }),
	{name: "beacon", read: readBeacon},
	value("players", func(q *shuffleRequest) *map[string]string { return (*map[string]string)(&q.Players) }, readPlayers("players", audit.CheckPlayer)),
}

// readPlayers returns a function that reads a member with a text of each player, by the name.
func readPlayers(member string, check func(name, text string) error) func(*httpjson.Reader) (map[string]string, error) {
	return func(d *httpjson.Reader) (map[string]string, error) {
		texts := map[string]string{}
		err := d.Object(`an object of names and texts such as {"ann": "...", "bob": "..."}`, func(name string) (err error) {
			if len(texts) == audit.MaxPlayers {
				return audit.ErrPlayers
			}
			texts[name], err = readText(d, func(text string) error { return check(name, text) })
			return err
		})
		if err == nil && len(texts) == 0 || errors.Is(err, audit.ErrPlayers) {
			err = unprocessable("%s", sentence("", audit.ErrPlayers.Error())).at("/" + member)
		}
		return texts, err
	}
}

var beaconMembers = []member[*shuffleRequest]{
	{name: "chain", read: func(d *httpjson.Reader, _ *shuffleRequest) error {
		_, err := readChain(d)
		return err
	}},
	value("round", func(q *shuffleRequest) *uint64 { return (*uint64)(&q.Beacon) }, func(d *httpjson.Reader) (uint64, error) {
		return d.Count(1, audit.MaxSize)
	}),
	value("after", func(q *shuffleRequest) *time.Duration { return &q.BeaconAfter }, func(d *httpjson.Reader) (after time.Duration, err error) {
		text, err := readText(d, func(text string) (err error) {
			after, err = time.ParseDuration(text)
			return audit.Rule(err == nil, "beacon.after must be a time such as 10s or 5m; got %s", suggest.Quote(text))
		})
		if err == nil && after <= 0 {
			err = unprocessable("beacon.after must be more than 0; got %s.", suggest.Quote(text)).at(d.Pointer())
		}
		return after, err
	}),
}

var readChain = oneOf(beacon.Chain)

// readBeacon reads the round of a beacon, or how far away it is.
func readBeacon(d *httpjson.Reader, q *shuffleRequest) error {
	const accepted = `a round such as {"chain":"quicknet","after":"10s"}`
	given, err := readObject(d, accepted, beaconMembers, q)
	switch {
	case err != nil:
		return err
	case !slices.Contains(given, "chain"):
		return badRequest("beacon.chain is missing; beacon must be %s.", accepted).at("/beacon/chain")
	case len(given) != 2:
		return unprocessable("beacon must have either round or after: %s.", accepted).at("/beacon")
	}
	return nil
}

// The members of each kind of request.
var (
	shuffleForm    = form([]string{"expires_in", "cut", "count", "beacon", "players"}, nil, "")
	commitmentForm = form([]string{"cut"}, []string{"client_seed", "commitment_id", "beacon_signature", "player_seeds", "reveal"},
		"belongs to the shuffle that uses the commitment, not to the commitment. Leave it out here.")
	shoeForm = form([]string{"count", "beacon", "players"}, []string{"draw", "hands", "repeat", "reveal"},
		"is not for shoes: the whole deck is shuffled once, dealt later, and revealed when the shoe is closed. Leave it out.")
)

// form returns the members of a request: shuffleMembers without the unknown ones. The excluded ones are
// rejected for a reason.
func form(unknown, excluded []string, reason string) (members []member[*shuffleRequest]) {
	for _, m := range shuffleMembers {
		if slices.Contains(excluded, m.name) {
			m.excluded = reason
		}
		if !slices.Contains(unknown, m.name) {
			members = append(members, m)
		}
	}
	return members
}

// readMembers receives and reads a body that is an object of the members. It returns the names of
// those that the body has.
func readMembers[T any](a *API, x *exchange, members []member[T], into T) (body []byte, given []string, err error) {
	if body, err = httpjson.Read(x, x.r, a.MaxBody, x.lease); err != nil {
		return nil, nil, err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil, nil, badRequest("The body is empty. Send a JSON object, or {} where nothing is required; %s", takes(namesOf(members)))
	}
	d, err := httpjson.NewReader(body, x.lease)
	if err != nil {
		return nil, nil, err
	}
	if given, err = readObject(d, "a JSON object", members, into); err != nil {
		return nil, nil, err
	}
	return body, given, d.End()
}

// readObject reads an object of the members, and returns the names of those that it has. See
// [httpjson.Reader.WrongKind] for want.
func readObject[T any](d *httpjson.Reader, want string, members []member[T], into T) (given []string, err error) {
	err = d.Object(want, func(name string) error {
		i := slices.IndexFunc(members, func(m member[T]) bool { return m.name == name })
		switch {
		case i < 0:
			return unknownMember(d, name, members)
		case members[i].excluded != "":
			return badRequest("%s %s", name, members[i].excluded).at("/" + name)
		}
		given = append(given, name)
		return members[i].read(d, into)
	})
	return given, err
}

// unknownMember returns the error for a member that a request does not have. It suggests the nearest
// name, or lists all.
func unknownMember[T any](d *httpjson.Reader, name string, members []member[T]) error {
	names, hint := namesOf(members), hints().Members[name]
	if hint == "" || !slices.Contains(names, "draw") {
		hint = nearestOr(name, names)
	}
	return badRequest("%s is not a member of this request; %s", suggest.Quote(name), hint).at(d.Pointer())
}

// namesOf returns the names of the members that a request takes.
func namesOf[T any](members []member[T]) (names []string) {
	for _, m := range members {
		if m.excluded == "" {
			names = append(names, m.name)
		}
	}
	return names
}

// nearestOr suggests the nearest of the names that a request takes, or lists all.
func nearestOr(name string, names []string) string { return suggest.Or(name, names, takes(names)) }

func takes(names []string) string {
	if len(names) == 0 {
		return "it takes none."
	}
	return "it takes " + strings.Join(names, ", ") + "."
}

// ofRequest returns a handler that calls answer with the request of the members in the body.
func ofRequest(members []member[*shuffleRequest], answer func(*API, *exchange, *shuffleRequest) error) handler {
	return withQuery(func(a *API, x *exchange) (err error) {
		q := &shuffleRequest{maxItems: a.Rules.Limits.Items}
		if q.body, _, err = readMembers(a, x, members, q); err != nil {
			return err
		}
		return a.answer(x, q, answer)
	})
}

// answer calls answer with a request that was read, and ends its job.
func (a *API) answer(x *exchange, q *shuffleRequest, answer func(*API, *exchange, *shuffleRequest) error) error {
	if err := a.prepare(x, q); err != nil {
		return err
	}
	defer func() { q.job.Done() }()
	return answer(a, x, q)
}

// elementBytes is the memory of an element that is shuffled: its position, the copy that some
// algorithms make, and an entry in their table.
const elementBytes = 32

// shortShuffle is the most steps of a shuffle that needs no place among the long requests: a few
// milliseconds for fewer than 100,000 results, since the keystream is 20 times as fast as the
// reference that steps are counted for.
const shortShuffle = 2_000_000

// prepare sets the idempotency key and the admission hooks, which charge the lease for the elements
// and give the request a job if it takes long.
func (a *API) prepare(x *exchange, q *shuffleRequest) (err error) {
	admit := func(steps uint64) (err error) {
		if steps > shortShuffle && q.job == nil {
			q.job, err = a.long.Admit(x, x.r)
		}
		return err
	}
	q.Reserve = func(s *audit.Statement) error {
		if err := admit(s.Cost()); err != nil {
			return err
		}
		return x.lease.Grow(int64(plan.Elements(s)) * elementBytes)
	}
	q.Work = func(ctx context.Context, steps uint64, work func()) error {
		if err := admit(steps); err != nil {
			return err
		}
		if err := q.job.Wait(ctx); err != nil {
			return err
		}
		defer q.job.Release()
		work()
		return nil
	}
	q.Key, err = idempotencyKey(x, q.body)
	return err
}

// idempotencyKey returns the key that identifies a request's retries, or nil without an
// Idempotency-Key. It is bound to the name of the caller's key, so that a token can be replaced,
// and to method, path, query and body.
func idempotencyKey(x *exchange, body []byte) (*journal.IdempotencyKey, error) {
	values := x.r.Header.Values("Idempotency-Key")
	if len(values) == 0 {
		return nil, nil
	}
	key, ok := journal.ParseKey(values)
	if !ok {
		return nil, badRequest("Idempotency-Key must be one key of 1 to %d visible ASCII characters, bare or in double quotes, such as a random UUID.", journal.MaxKey)
	}
	return journal.NewIdempotencyKey(key, []byte(x.r.Method+" "+x.r.RequestURI+"\n"), body).By(x.caller.Key), nil
}

// relative returns a member that is an integer whose bounds depend on others. [plan.Rules] check it.
func relative(name string, field func(*shuffleRequest) **uint64) member[*shuffleRequest] {
	return member[*shuffleRequest]{name: name, read: func(d *httpjson.Reader, q *shuffleRequest) (err error) {
		n, err := d.Count(0, math.MaxUint64)
		*field(q), err = q.relative(name, n, err)
		return err
	}}
}

// relative returns the value of a member that was read with err. An integer beyond any bound is
// rejected once the bounds are known.
func (q *shuffleRequest) relative(name string, n uint64, err error) (*uint64, error) {
	if wrong, ok := errors.AsType[*httpjson.Error](err); ok && wrong.Integer != "" {
		if q.Sent == nil {
			q.Sent = map[string]string{}
		}
		q.Sent[name], n, err = wrong.Integer, math.MaxUint64, nil
	}
	return &n, err
}

// readItems finds the caller's items in the body.
func readItems(d *httpjson.Reader, q *shuffleRequest) error {
	found, err := d.Elements(q.maxItems)
	if err != nil {
		return err
	}
	q.items = found.Spans
	q.Items = &plan.Items{Count: found.Count, Digest: found.Digest}
	return nil
}

// values returns the items as text for a shoe to store; nil if it cannot have as many.
func (q *shuffleRequest) values() []string {
	if q.Items == nil || q.Items.Count > shoe.MaxCards {
		return nil
	}
	values := make([]string, len(q.items))
	for i, item := range q.items {
		values[i] = string(item.Of(q.body))
	}
	return values
}

// readHands reads hand sizes, or the name of a preset.
func readHands(d *httpjson.Reader, q *shuffleRequest) (err error) {
	const accepted = `the sizes of the hands, such as [5,5], or a preset of the deck, such as "bridge"`
	if d.Kind() == '"' {
		q.Preset, err = readFilled(d, "hands must be "+accepted+`; got ""`)
		return err
	}
	if q.Hands, err = readCounts(d, accepted, audit.MaxSize); err == nil && len(q.Hands) == 0 {
		err = unprocessable("hands must have at least one size, as in [13,13,13,13], or be left out; got [].").at("/hands")
	}
	return err
}

// readCounts reads an array of integers from 1 to most. See [httpjson.Reader.WrongKind] for want.
func readCounts(d *httpjson.Reader, want string, most uint64) ([]uint64, error) {
	counts := []uint64{}
	err := d.Array(want, func(int) error {
		n, err := d.Count(1, most)
		counts = append(counts, n)
		return err
	})
	return counts, err
}

// readParameters reads the parameters of a deck type.
func readParameters(d *httpjson.Reader, q *shuffleRequest) error {
	q.Parameters = map[string]int{}
	return d.Object(`an object of integers such as {"players": 9}`, func(name string) error {
		n, err := d.Count(0, maxParameter)
		q.Parameters[name] = int(n)
		return err
	})
}

// maxParameter is the most that a parameter of any deck type can be.
const maxParameter = 10_000

// readExpiry reads the number of seconds until a shoe or a commitment expires.
func readExpiry(d *httpjson.Reader) (time.Duration, error) {
	n, err := d.Count(1, uint64(liveshoes.MaxExpiry/time.Second))
	return time.Duration(n) * time.Second, err
}

// readCut reads the cut card's position, or the range to draw it from.
func readCut(d *httpjson.Reader) (*shoe.Cut, error) {
	if d.Kind() == '0' {
		n, err := d.Count(1, shoe.MaxCards-1)
		return &shoe.Cut{At: n}, err
	}
	ends, err := readCounts(d, "a number of cards such as 234 or a range of them such as [220,250]", shoe.MaxCards-1)
	switch {
	case err != nil:
		return nil, err
	case len(ends) != 2 || ends[0] >= ends[1]:
		got := suggest.Brief(strings.ReplaceAll(fmt.Sprint(ends), " ", ","))
		return nil, unprocessable("cut must be a range of two numbers, the smaller one first, such as [220,250]; got %s.", got).at("/cut")
	}
	return &shoe.Cut{From: ends[0], To: ends[1]}, nil
}

// revealMembers are the members of a reveal.
var revealMembers = []member[*string]{text("seed", func(seed *string) *string { return seed }, audit.CheckSeed)}
