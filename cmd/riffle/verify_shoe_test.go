package main

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/dealer"
	"riffle/internal/deck"
	"riffle/internal/disclosure"
	"riffle/internal/ledger"
	"riffle/internal/ledger/sqlite"
	"riffle/internal/liveshoes"
	"riffle/internal/plan"
	"riffle/internal/services"
	"riffle/internal/shoe"
)

// A dealtShoe is a shoe that the dealer deals from, over a real store.
type dealtShoe struct {
	t   *testing.T
	log *ledger.Log
	*services.Services
	made   *liveshoes.Result
	folder string
}

func shoeRequest(r plan.Request, items ...string) *liveshoes.Request {
	return &liveshoes.Request{Request: dealer.Request{Request: r}, Items: items}
}

func dealShoe(t *testing.T, r *liveshoes.Request) *dealtShoe {
	t.Helper()
	s := &dealtShoe{t: t, folder: t.TempDir()}
	store, err := sqlite.Open(t.Context(), filepath.Join(s.folder, "riffle.db"))
	if err != nil {
		t.Fatal(err)
	}
	if s.log, err = ledger.Open(t.Context(), store, ledger.Options{Folder: s.folder}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.log.Close(); err != nil {
			t.Error(err)
		}
	})
	decks, err := deck.Builtin()
	if err != nil {
		t.Fatal(err)
	}
	rules := &plan.Rules{Decks: decks, Limits: plan.Limits{Items: 1000, Results: 1000}}
	s.Services = services.New(s.log, rules, services.Options{Random: rand.Reader})
	if s.made, err = s.Shoes.Create(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.folder, "log.pub"), s.log.Verifier()+"\n")
	return s
}

func (s *dealtShoe) change(c liveshoes.Change) *liveshoes.Result {
	s.t.Helper()
	changed, err := s.Shoes.Apply(s.t.Context(), s.made.Shoe.ID, &c)
	if err != nil {
		s.t.Fatal(err)
	}
	return changed
}

// draw draws cards from the top and writes them as a hand.
func (s *dealtShoe) draw(count uint64, name string) []liveshoes.Card {
	s.t.Helper()
	drawn := s.change(liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Top, Count: &count, To: shoe.Dealt, Openings: true})
	var list []map[string]any
	for _, c := range drawn.Cards {
		path := []string{}
		for _, h := range c.Opening.Path {
			path = append(path, hex.EncodeToString(h[:]))
		}
		card := map[string]any{
			"card": c.Number, "position": c.Position, "sealed_by": c.SealedBy, "salt": hex.EncodeToString(c.Opening.Salt[:]), "path": path,
		}
		if c.Card != nil {
			card["code"], card["instance"] = c.Card.Code, c.Card.Instance
		} else {
			card["item"] = json.RawMessage(c.Item)
		}
		list = append(list, card)
	}
	text, err := json.Marshal(map[string]any{"audit_id": drawn.AuditID, "cards": list})
	if err != nil {
		s.t.Fatal(err)
	}
	write(s.t, filepath.Join(s.folder, name), string(text))
	return drawn.Cards
}

func text(p *disclosure.Proof) []byte {
	return (&prooffile.File{Record: p.Record, Seed: p.Seed, ClientSeed: p.ClientSeed, Inclusion: p.Inclusion, LogKey: p.LogKey}).Text()
}

// proofs writes the proof files of all records to one file and returns their texts.
func (s *dealtShoe) proofs(name string) (lines []string) {
	s.t.Helper()
	for { // polls until a checkpoint covers all records
		lines = nil
		err := s.Disclosure.ProveShoe(s.t.Context(), s.made.Shoe.ID, nil, func(p *disclosure.Proof) error {
			lines = append(lines, string(text(p)))
			return nil
		})
		if err == nil {
			break
		}
		if !errors.Is(err, ledger.ErrNotPublished) {
			s.t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	write(s.t, filepath.Join(s.folder, name), strings.Join(lines, ""))
	return lines
}

// run runs the command with files of the folder.
func (s *dealtShoe) run(args ...string) (code int, out string) {
	s.t.Helper()
	all := []string{"verify", "--key", filepath.Join(s.folder, "log.pub")}
	for _, arg := range args {
		if !strings.HasPrefix(arg, "--") {
			arg = filepath.Join(s.folder, arg)
		}
		all = append(all, arg)
	}
	var text strings.Builder
	if err := run(s.t.Context(), all, &text, io.Discard); err != nil {
		code = exitCode(err)
		text.WriteString(err.Error())
	}
	return code, text.String()
}

// wants fails the test unless the command exits with the code and prints a match.
func (s *dealtShoe) wants(code int, says string, args ...string) {
	s.t.Helper()
	got, out := s.run(args...)
	if !regexp.MustCompile("(?m)"+says).MatchString(out) || got != code {
		s.t.Errorf("%v: %d, want %d and %q:\n%s", args, got, code, says, out)
	}
}

// The command verifies a shoe of the service, open and closed, and each of its hands alone.
func TestVerifyShoe(t *testing.T) {
	two := uint64(2)
	s := dealShoe(t, shoeRequest(plan.Request{Deck: "standard52", Decks: &two, Reference: "table 7"}))
	s.draw(5, "first.hand")
	s.draw(3, "second.hand")
	s.change(liveshoes.Change{Kind: audit.KindDraw, From: shoe.Deck, Taken: shoe.Random, Count: &two, To: shoe.OnPile("nils"), Put: shoe.Top})
	s.change(liveshoes.Change{Kind: audit.KindReturn, From: shoe.OnPile("nils"), Taken: shoe.Named, To: shoe.Deck, Put: shoe.Bottom})
	s.change(liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.Deck, ClientSeed: "Zoë"})
	s.draw(4, "third.hand")
	lines := s.proofs("open")
	names := []string{}
	for i, line := range lines {
		names = append(names, "record"+string(rune('1'+i)))
		write(t, filepath.Join(s.folder, names[i]), line)
	}

	s.wants(0, `^Verified: the 5 cards of the hand were sealed at their positions`, "--hand", "first.hand", "record1")
	s.wants(0, `^The other cards of the shoe stay hidden until it is closed`, "--hand", "second.hand", "record1")
	s.wants(0, `^Verified: the 4 card`, "--hand", "third.hand", "record6")
	s.wants(2, `no card of the hand was sealed by this record`, "--hand", "third.hand", "record1")
	s.wants(2, `^Not proven yet: the seed is still secret, because the shoe is still open; the record is in the log of `, "record1")
	s.wants(2, `^hand +not checked: a record of kind draw has sealed no cards`, "--hand", "first.hand", "record2")
	s.wants(0, `It is a change of the shoe `+s.made.AuditID.String(), "record2")
	s.wants(0, `^Verified: the order follows`, "record4")
	s.wants(2, `^Not proven yet: the shoe is still open, .*; the first record of the shoe and its 6 changes`, "open")
	s.wants(0, `^Verified: the 4 cards of the hand were sealed at their positions; the first record`, "--hand", "third.hand", "open")

	s.change(liveshoes.Change{Kind: audit.KindClose})
	lines = s.proofs("closed")
	s.wants(0, `^Verified: the whole shoe, from its first record to its last`, "closed")
	s.wants(0, `^root +ok: salts from the seeds and the cards in their orders have the roots in 2 record`, "closed")
	s.wants(0, `^The hand is proven: 5 cards`, "--hand", "first.hand", "closed")
	for i, line := range lines {
		write(t, filepath.Join(s.folder, "closed"+string(rune('1'+i))), line)
	}
	s.wants(0, `^Verified: the whole shoe`, "closed3", "closed2", "closed1", "closed8", "closed5", "closed6", "closed4", "closed7")
	s.wants(1, `it fails at the step chain`, "closed3", "closed2", "closed1", "closed8", "closed5", "closed6", "closed4")
	s.wants(0, `^The cards were sealed in this order\.$`, "closed1")
	s.wants(2, `seeds? held back in these files, and public since`, "record1", "record2", "record3", "record4", "record5", "record6", "record7", "closed8")

	for name, change := range map[string]func([]string) []string{
		"left out": func(l []string) []string { return append(l[:2:2], l[3:]...) },
		"no first": func(l []string) []string { return l[1:] },
	} {
		write(t, filepath.Join(s.folder, "wrong"), strings.Join(change(append([]string{}, lines...)), ""))
		if code, out := s.run("wrong"); code != exitFindings || !strings.Contains(out, "it fails at the step chain.") {
			t.Errorf("%s: %d\n%s", name, code, out)
		}
	}
	whole := strings.Join(lines, "")
	noticed := regexp.MustCompile(`^This proof does NOT verify: it fails at the step |^2 proofs: 0 verified|^2 proofs: 1 verified, 1 false|^Not checked to the end: the step proof could not be checked\.`)
	for i := 0; i < len(whole); i += 53 {
		write(t, filepath.Join(s.folder, "wrong"), whole[:i]+string([]byte{whole[i] ^ 1})+whole[i+1:])
		if code, out := s.run("wrong"); !noticed.MatchString(out) || code == 0 {
			t.Fatalf("byte %d: %d\n%s", i, code, out)
		}
	}
}

// The proofs of a shoe and of its commitment may come in any order.
func TestVerifyCommittedShoe(t *testing.T) {
	s := dealShoe(t, shoeRequest(plan.Request{Deck: "standard52"}))
	commitment, err := s.Dealer.Commit(t.Context(), request(plan.Request{Deck: "standard54"}))
	if err != nil {
		t.Fatal(err)
	}
	if s.made, err = s.Shoes.Create(t.Context(), shoeRequest(plan.Request{CommitmentID: commitment.ID, ClientSeed: "late"})); err != nil {
		t.Fatal(err)
	}
	s.draw(2, "hand")
	s.change(liveshoes.Change{Kind: audit.KindClose})
	s.proofs("shoe")
	p, err := s.Disclosure.Prove(t.Context(), commitment.ID)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(s.folder, "commitment"), string(text(p)))
	s.wants(0, `^The commitment `+commitment.ID.String()+` fixed the order`, "shoe", "commitment")
	s.wants(0, `^It names the commitment `, "--hand", "hand", "shoe")
	s.wants(0, `^committed +ok: `, "--hand", "hand", "commitment", "shoe")
}

func TestVerifyShoeOfItems(t *testing.T) {
	values := []string{`"a"`, `1`, `{"b": 2}`, `"a"`, `null`}
	array := "[" + strings.Join(values, ",") + "]"
	s := dealShoe(t, shoeRequest(plan.Request{Items: &plan.Items{Count: 5, Digest: digestOf(t, array)}}, values...))
	s.draw(5, "hand")
	s.change(liveshoes.Change{Kind: audit.KindReshuffle, From: shoe.All})
	s.change(liveshoes.Change{Kind: audit.KindClose})
	lines := s.proofs("shoe")
	write(t, filepath.Join(s.folder, "items"), array)
	write(t, filepath.Join(s.folder, "others"), strings.Replace(array, "1", "2", 1))
	write(t, filepath.Join(s.folder, "first"), lines[0])
	s.wants(0, `none was exchanged\.$`, "--items", "items", "shoe")
	s.wants(0, `Which cards they were was not compared\.$`, "shoe")
	s.wants(0, `^root +not checked: the cards are not known`, "shoe")
	s.wants(1, `it fails at the step items`, "--items", "others", "shoe")
	s.wants(0, `^hand +ok: 5 of the 5`, "--items", "items", "--hand", "hand", "shoe")
	s.wants(0, `^hand +ok: 5 of the 5`, "--hand", "hand", "first")
	s.wants(2, `the hand: .*items is card 0, from 0: `, "--hand", "items", "first")
	s.wants(2, `the hand: there is no file`, "--hand", "nothing", "first")
}

// digestOf returns the digest of an array of items, as the service takes it.
func digestOf(t *testing.T, array string) (digest [32]byte) {
	t.Helper()
	var compact bytes.Buffer
	if err := json.Compact(&compact, []byte(array)); err != nil {
		t.Fatal(err)
	}
	return sha256.Sum256(compact.Bytes())
}
