package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A verify checks proof files against the key of the log, the items that were shuffled and the
// order that was answered.
type verify struct {
	Key       string   `placeholder:"FILE-OR-KEY" help:"The key of the log, from another source than the proof: the verifier key as GET /log/key answers it, or a file with it or with the private key, of which only the public half is used."`
	Items     string   `placeholder:"FILE" help:"What was shuffled, as a JSON array. Decks are built in."`
	ItemsSalt string   `placeholder:"SALT" help:"The items_salt that the items were sent with."`
	Order     string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order, or one hand of it."`
	Hand      string   `placeholder:"FILE" help:"Cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	HandOf    string   `placeholder:"N" help:"Which hand of the deal the order is: a number from 1, or rest. Without it, any hand will do."`
	AnyOrder  bool     `help:"Accept the hands and the rest of the order in any order, as players sort them. Without it, only one hand by itself may be sorted."`
	Proof     []string `sep:"none" placeholder:"FILE" help:"A proof file, which is not sorted. May be repeated."`
	From      string   `placeholder:"URL" help:"The service that has the proofs. A file can then be an audit id; the proof of its commitment is fetched as well. With a token in RIFFLE_TOKEN, the service is sent it."`
	Log       logName  `placeholder:"NAME" help:"Which log of the service --from fetches from: the one below /logs/NAME."`
	JSON      bool     `name:"json" help:"Print the verdict and the steps as JSON."`
	Report    string   `placeholder:"FILE" help:"Write the verdict and the steps to an HTML page that can be printed and filed, such as report.html."`
	Files     []string `arg:"" name:"file" optional:"" help:"Files in any order: proofs as GET /audits/{id}/proof answers them, or http(s) URLs of them or, with --from, audit ids; the answer, a hand, the items, the key and a salt. Each is what it looks like. The proof of a commitment goes with that of the shuffle or the shoe that used it. Those of a whole shoe are checked together, in one file or several."`
}

// Help is the longer text of riffle verify --help.
func (*verify) Help() string {
	return `Checks, in this order: the form of the proof file and its key; the record; the seed and the commitment to it; the keys that follow from it; the order, replayed from them and compared with the one given; the items or the deck, by their digest; that the record is in the tree of the log; the signature of the log; and, where the record says that it used a commitment, that the commitment fixed the same seed and statement, and is earlier in the log. Nothing is asked of any service, unless a proof is a URL or an audit id.

White space, escapes and the order of members do not matter in any file, nor whether it has gone through a database or a pretty-printer. What the members hold does, to the byte.

Files without an option are sorted by what they are: a list whose digest is in the record is the items, and any other list is compared as the order or as a hand. Two answers, two hands or two lists that are not the items are refused. --json says which role each file had.

Of a whole answer, the audit id, the place in the log, the algorithm, the commitment and the seed are compared as well. If the shuffle was dealt to hands, one hand is enough: the verdict says which it is, and whether it is in the order dealt. --hand-of says which it has to be.

A replay takes at most 2^30 steps of some ten nanoseconds; a record that takes more is not replayed.

A hand of cards from a shoe is proven by the proofs of the records that sealed it, which each card names as sealed_by: the step hand says whether salt and path lead from every card to the root in that record. That takes no seed, and shows nothing of other cards. Of a whole shoe it is also checked that no record is missing, that every change is of cards that lay where it says, that draws at random follow from their seeds and, once the shoe is closed, that the orders and roots do as well.

For the step committed give the proof of the commitment as well, before or after that of the shuffle: GET /audits/{id}/proof with the commitment_id in the record. Without it the step is left out, and the verdict says so.

It trusts the key that is given, and nothing else. Without --key it uses the one in the file, which shows only that the file agrees with itself. With --from and without --key it uses the key that the service had when it was first asked, and says where that is saved: compare it with the key from somewhere else.

The exit code is 0 if everything that was given verifies, 1 if something is false, and 2 if it cannot be checked: a file cannot be read or is no proof, the seed is held back, a card of the hand is sealed by a record that was not given, no key was given, the record is of a kind that this version does not know. Of several proofs, 1 comes before 2 and 2 before 0.`
}

// Run checks the proofs and prints what it finds.
func (k *verify) Run(ctx context.Context, c *console) error {
	found, err := k.check(ctx, c)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil { // nothing was begun
		found = prooffile.Refused(err)
	}
	if k.Report != "" {
		if err := writeReport(k.Report, found); err != nil {
			return err
		}
	}
	if err := k.print(c, found, err == nil); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	if err != nil {
		return err
	}
	return verdictError(found)
}

// check checks the proofs. The error says why it could not begin.
func (k *verify) check(ctx context.Context, c *console) (*prooffile.Findings, error) {
	decks, err := deck.Builtin()
	if err != nil {
		return nil, err
	}
	service, err := k.service()
	if err != nil {
		return nil, err
	}
	texts, err := k.given()
	if err != nil {
		return nil, err
	}
	for _, name := range k.Files {
		texts = append(texts, readText(ctx, service, name, ""))
	}
	for _, name := range k.Proof {
		texts = append(texts, readText(ctx, service, name, prooffile.RoleProof))
	}
	var warning string
	if service != nil {
		for _, id := range prooffile.Missing(texts) {
			texts = append(texts, readText(ctx, service, id.String(), prooffile.RoleProof))
		}
		for _, id := range prooffile.Open(texts) {
			if void, err := service.voidOf(ctx, id); err != nil {
				_, _ = fmt.Fprintln(c.messages, "riffle: warning:", err)
			} else if void != "" {
				texts = append(texts, readText(ctx, service, void, prooffile.RoleProof))
			}
		}
		if !slices.ContainsFunc(texts, func(t prooffile.Text) bool { return t.IsKey() }) {
			var key string
			if key, warning, err = service.trustedKey(ctx); err != nil {
				return nil, err
			}
			texts = append(texts, prooffile.Text{Name: "the key of the service", Role: prooffile.RoleKey, Content: []byte(key)})
		}
	}
	if warning != "" {
		_, _ = fmt.Fprintln(c.messages, "riffle: warning:", warning)
	}
	found, err := await(ctx, c.progress, func() (*prooffile.Findings, error) {
		return prooffile.Verify(texts, prooffile.Options{HandOf: k.HandOf, AnyOrder: k.AnyOrder, Decks: decks}), nil
	})
	if err == nil && warning != "" {
		found.Notes = append([]string{warning}, found.Notes...)
	}
	return found, err
}

// given reads the texts that are given in their roles.
func (k *verify) given() (texts []prooffile.Text, err error) {
	if k.Key != "" {
		key, err := readKey(k.Key)
		if err != nil {
			return nil, err
		}
		texts = append(texts, prooffile.Text{Name: "--key", Role: prooffile.RoleKey, Content: []byte(key)})
	}
	if k.ItemsSalt != "" {
		texts = append(texts, prooffile.Text{Name: "--items-salt", Role: prooffile.RoleSalt, Content: []byte(k.ItemsSalt)})
	}
	for _, f := range []struct {
		path string
		role prooffile.Role
	}{{k.Items, prooffile.RoleItems}, {k.Order, prooffile.RoleOrder}, {k.Hand, prooffile.RoleHand}} {
		if f.path == "" {
			continue
		}
		t := prooffile.Text{Name: f.path, Role: f.role}
		if t.Content, t.Err = readFile(f.path); t.Err != nil {
			t.Err = fmt.Errorf("the %s: %s: %w", f.role, f.path, t.Err)
		}
		texts = append(texts, t)
	}
	return texts, nil
}

// readKey returns the key that a flag is, or that is in the file of that name.
func readKey(keyOrFile string) (string, error) {
	if _, err := prooffile.Verifier(keyOrFile); err == nil {
		return keyOrFile, nil
	}
	return readVerifierKey(keyOrFile)
}

// readText reads a file, or fetches a proof.
func readText(ctx context.Context, s *service, name string, role prooffile.Role) prooffile.Text {
	content, isFetched, err := s.readText(ctx, name)
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	if isFetched {
		role = prooffile.RoleProof
	}
	return prooffile.Text{Name: name, Role: role, Content: content, Err: err}
}

// readLimited reads a text that is not too long.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, prooffile.MaxText+1))
	if err == nil && len(text) > prooffile.MaxText {
		err = fmt.Errorf("it is longer than %d MiB", prooffile.MaxText>>20)
	}
	return text, err
}
