package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"riffle/internal/audit/prooffile"
	"riffle/internal/deck"
)

// A verify checks one proof against the key of the log and whatever else is given.
type verify struct {
	Key    string  `placeholder:"FILE-OR-KEY" help:"The key of the log, from another source than the proof: the verifier key as GET /log/key answers it, or a file with it or with the private key, of which only the public half is used."`
	Policy string  `placeholder:"FILE" help:"The logs and witnesses that are trusted, and how many of these have to cosign (C2SP tlog-policy)."`
	Answer string  `placeholder:"FILE" help:"What POST /shuffle answered, whole."`
	Order  string  `placeholder:"FILE" help:"Everything that was dealt, as a list."`
	Hand   string  `placeholder:"FILE" help:"One hand of a deal, as a list, in any order; or cards that were drawn from a shoe, with salt and path: the whole answer, an array of cards, or one card."`
	HandOf *string `placeholder:"N" help:"Which hand of the deal it is: a number from 1, or rest. Without it, any hand will do."`
	Items  string  `placeholder:"FILE" help:"What was shuffled, as a list. Decks are built in."`
	Salt   *string `placeholder:"SALT" help:"The items_salt that the items were sent with."`
	From   string  `placeholder:"URL" help:"The service that has the proof, which can then be an audit id. With a token in RIFFLE_TOKEN, the service is sent it."`
	JSON   bool    `name:"json" help:"Print the verdict and the steps as JSON."`
	Proof  string  `arg:"" help:"The proof, as GET /audits/{id}/proof or GET /shoes/{id}/proof answers it: a file, or its http(s) URL or, with --from, the audit id. A list, above, is a JSON array or plain lines."`
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
	template := "findings"
	if err != nil { // nothing was begun, and the error is the text
		found, template = prooffile.Refused("from", err), ""
	}
	return cmp.Or(c.print(k.JSON, found, template), err, verdictErrors[found.Verdict])
}

// check checks the proof.
func (k *verify) check(ctx context.Context, c *console) (*prooffile.Conclusion, error) {
	decks, errDecks := deck.Builtin()
	service, err := k.service()
	if err = cmp.Or(err, errDecks); err != nil {
		return nil, err
	}
	proof, err := service.readProof(ctx, k.Proof)
	if err != nil {
		return prooffile.Refused("proof", fmt.Errorf("%s: %w", k.Proof, err)), nil
	}
	in, refused := k.inputs()
	if refused != nil {
		return refused, nil
	}
	in.Decks = decks
	var warning string
	if service != nil && in.Key == nil {
		var key string
		if key, warning, err = service.trustedKey(ctx); err != nil {
			return nil, err
		}
		in.Key = []byte(key)
	}
	if warning != "" {
		_, _ = fmt.Fprintln(c.messages, "riffle: warning:", warning)
	}
	found, err := await(ctx, func() (*prooffile.Conclusion, error) { return prooffile.Verify(proof, in), nil })
	if err == nil && warning != "" {
		found.Warn(warning)
	}
	return found, err
}

// inputs reads what the proof is checked against.
func (k *verify) inputs() (in *prooffile.Inputs, refused *prooffile.Conclusion) {
	in = &prooffile.Inputs{}
	if key := k.Key; key != "" {
		if _, notKey := prooffile.Verifier(key); notKey != nil { // it names a file
			var err error
			if key, err = readVerifierKey(key); err != nil {
				return nil, prooffile.Refused("key", err)
			}
		}
		in.Key = []byte(key)
	}
	for text, to := range map[*string]*[]byte{k.HandOf: &in.HandOf, k.Salt: &in.Salt} {
		if text != nil {
			*to = []byte(*text)
		}
	}
	for _, f := range []struct {
		name, path string
		to         *[]byte
	}{{"policy", k.Policy, &in.Policy}, {"answer", k.Answer, &in.Answer}, {"order", k.Order, &in.Order}, {"hand", k.Hand, &in.Hand}, {"items", k.Items, &in.Items}} {
		if f.path == "" {
			continue
		}
		var err error
		if *f.to, err = readFile(f.path); err != nil {
			return nil, prooffile.Refused(f.name, fmt.Errorf("%s: %w", f.path, err))
		}
	}
	return in, nil
}

// readLimited reads a text that is not too long.
func readLimited(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, prooffile.MaxText+1))
	if err == nil && len(text) > prooffile.MaxText {
		err = fmt.Errorf("it is longer than %d MiB", prooffile.MaxText>>20)
	}
	return text, err
}
