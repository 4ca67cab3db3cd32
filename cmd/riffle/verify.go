package main

import (
	"cmp"
	"context"
	"errors"
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
	Policy    string   `placeholder:"FILE" help:"The logs and witnesses that are trusted, and how many of these have to cosign (C2SP tlog-policy)."`
	ItemsSalt string   `placeholder:"SALT" help:"The items_salt that the items were sent with."`
	Order     string   `placeholder:"FILE" help:"What was answered: the whole answer of POST /shuffle, or the JSON array of the order, or one hand of it."`
	Hand      string   `placeholder:"FILE" help:"Cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	HandOf    string   `placeholder:"N" help:"Which hand of the deal the order is: a number from 1, or rest. Without it, any hand will do."`
	AnyOrder  bool     `help:"Accept the hands and the rest of the order in any order, as players sort them. Without it, only one hand by itself may be sorted."`
	Proof     []string `sep:"none" placeholder:"FILE" help:"A proof file, which is not sorted. May be repeated."`
	From      string   `placeholder:"URL" help:"The service that has the proofs. A file can then be an audit id. With a token in RIFFLE_TOKEN, the service is sent it."`
	JSON      bool     `name:"json" help:"Print the verdict and the steps as JSON."`
	Files     []string `arg:"" name:"file" optional:"" help:"Files in any order: proofs as GET /audits/{id}/proof answers them, or http(s) URLs of them or, with --from, audit ids; the answer, a hand, the items, the key and a salt. Each is what it looks like. The proof of a commitment goes with that of the shuffle or the shoe that used it. Those of a whole shoe are checked together, in one file or several."`
}

// errUnchecked is for proofs that could not be checked to the end. The reason has been printed.
var errUnchecked = errors.New("the files were read, and it could not be checked to the end")

// verdictErrors have the errors that give verdicts their exit codes.
var verdictErrors = map[prooffile.Verdict]error{
	prooffile.VerdictFalse:     fmt.Errorf("the files were checked, and %w", errFindings),
	prooffile.VerdictUnchecked: errUnchecked,
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
	template := "findings"
	if err != nil { // the error is the text
		template = ""
	}
	return cmp.Or(c.print(k.JSON, found, template), err, verdictErrors[found.Verdict])
}

// check checks the proofs. The error says why it could not begin.
func (k *verify) check(ctx context.Context, c *console) (*prooffile.Findings, error) {
	decks, errDecks := deck.Builtin()
	service, err := k.service()
	if err = cmp.Or(err, errDecks); err != nil {
		return nil, err
	}
	texts := k.given()
	for _, name := range k.Files {
		texts = append(texts, service.readText(ctx, name, ""))
	}
	for _, name := range k.Proof {
		texts = append(texts, service.readText(ctx, name, prooffile.RoleProof))
	}
	var warning string
	if service != nil {
		missing, open := prooffile.Missing(texts)
		for _, id := range missing {
			texts = append(texts, service.readText(ctx, id.String(), prooffile.RoleProof))
		}
		for _, id := range open {
			if void, err := service.voidOf(ctx, id); err != nil {
				_, _ = fmt.Fprintln(c.messages, "riffle: warning:", err)
			} else if void != "" {
				texts = append(texts, service.readText(ctx, void, prooffile.RoleProof))
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
	found, err := await(ctx, func() (*prooffile.Findings, error) {
		return prooffile.Verify(texts, prooffile.Options{HandOf: k.HandOf, AnyOrder: k.AnyOrder, Decks: decks}), nil
	})
	if err == nil && warning != "" {
		found.Warn(warning)
	}
	return found, err
}

// given reads the texts that are given in their roles.
func (k *verify) given() (texts []prooffile.Text) {
	if key := k.Key; key != "" {
		t := prooffile.Text{Name: "--key", Role: prooffile.RoleKey}
		if _, notKey := prooffile.Verifier(key); notKey != nil { // it names a file
			t.Name = key
			if key, t.Err = readVerifierKey(key); t.Err != nil {
				t.Err = fmt.Errorf("the key: %w", t.Err)
			}
		}
		t.Content = []byte(key)
		texts = append(texts, t)
	}
	if k.ItemsSalt != "" {
		texts = append(texts, prooffile.Text{Name: "--items-salt", Role: prooffile.RoleSalt, Content: []byte(k.ItemsSalt)})
	}
	for _, f := range []struct {
		path string
		role prooffile.Role
	}{{k.Policy, prooffile.RolePolicy}, {k.Items, prooffile.RoleItems}, {k.Order, prooffile.RoleOrder}, {k.Hand, prooffile.RoleHand}} {
		if f.path == "" {
			continue
		}
		t := prooffile.Text{Name: f.path, Role: f.role}
		if t.Content, t.Err = readFile(f.path); t.Err != nil {
			t.Err = fmt.Errorf("the %s: %s: %w", f.role, f.path, t.Err)
		}
		texts = append(texts, t)
	}
	return texts
}

// readLimited reads a text that is not too long.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, prooffile.MaxText+1))
	if err == nil && len(text) > prooffile.MaxText {
		err = fmt.Errorf("it is longer than %d MiB", prooffile.MaxText>>20)
	}
	return text, err
}
