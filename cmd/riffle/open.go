package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/google/uuid"

	"riffle/internal/audit"
	"riffle/internal/audit/prooffile"
	"riffle/internal/beacon"
	"riffle/internal/relay"
	"riffle/internal/rng"
	"riffle/internal/timelock"
)

// An open opens the seed of a commitment with a time lock.
type open struct {
	Signature  string       `placeholder:"HEX" help:"The signature of the round, 96 hex digits."`
	Relays     relay.Relays `placeholder:"URL,..." help:"Relays of drand to ask for what is not given, such as https://api.drand.sh. They are not trusted: signatures are checked."`
	ClientSeed string       `placeholder:"TEXT" help:"Also print the order that follows with this client seed. With a beacon it is the signature of its round, which relays have."`
	Round      uint64       `placeholder:"N" help:"Of a book: which round, from 1."`
	From       string       `placeholder:"URL" help:"The service that has the proofs. A file can then be an audit id."`
	Log        logName      `placeholder:"NAME" help:"Which log of the service --from fetches from: the one below /logs/NAME."`
	Files      []string     `arg:"" name:"file" help:"The proof of the commitment and, to get it with its seed, of what used it, as riffle verify reads them."`
}

// An opened has what a time lock shows.
type opened struct {
	ID         uuid.UUID  `json:"commitment_id"`
	OpensAt    string     `json:"opens_at"`
	Round      uint64     `json:"round,omitzero"` // of a book
	Seed       string     `json:"seed"`
	ClientSeed string     `json:"client_seed,omitempty"`
	Shuffles   [][]uint64 `json:"shuffles,omitempty"`
}

// Run prints the seed, and the order that follows if the client seed is known; or the proofs, with
// their seeds, of what used the commitment.
func (k *open) Run(ctx context.Context, c *console) error {
	made, used, err := k.read(ctx)
	if err != nil {
		return err
	}
	at, isKnown := beacon.Parse(made.OpensAt)
	if !isKnown {
		return fmt.Errorf("%w, %q", beacon.ErrUnknown, made.OpensAt)
	}
	signature, err := k.signature(ctx, at, k.Signature)
	if err == nil {
		err = at.Check(signature)
	}
	if err != nil {
		return err
	}
	sealed, _ := base64.StdEncoding.DecodeString(made.SealedSeed) // no error in a record
	seed, err := timelock.Open(at, signature, sealed)
	if err == nil {
		err = made.CheckSeed(seed)
	}
	if err != nil {
		return fmt.Errorf("the operator sealed something other than the seed of the commitment %s: %w: %w", made.ID, err, errFindings)
	}
	if len(used) > 0 {
		for _, p := range used {
			if p.record.CommitmentID == made.ID {
				sealed := made.SeedOf(seed, p.record.Round)
				if p.file.Seed != nil && !bytes.Equal(p.file.Seed, sealed) {
					return fmt.Errorf("the proof of %s has another seed than the one that was sealed: %w", p.record.ID, errFindings)
				}
				p.file.Seed = sealed
			}
			if _, err := c.out.Write(p.file.Text()); err != nil {
				return err
			}
		}
		return nil
	}
	found := &opened{
		ID: made.ID, OpensAt: made.OpensAt, Round: k.Round, ClientSeed: k.ClientSeed, Seed: hex.EncodeToString(made.SeedOf(seed, k.Round)),
	}
	if round, isKnown := beacon.Parse(made.Beacon); isKnown && len(k.Relays) > 0 {
		found.ClientSeed, err = k.signature(ctx, round, k.ClientSeed)
	}
	if err == nil {
		err = found.follow(ctx, made, seed)
	}
	if err != nil { // the seed is right nevertheless
		found.ClientSeed = ""
		_, _ = fmt.Fprintln(c.messages, "riffle: warning: without the order:", err)
	}
	return c.print(true, found, "")
}

// A usedProof is the proof of what used a commitment, or that belongs to it.
type usedProof struct {
	file   *prooffile.File
	record *audit.Record
}

// read returns the record of the commitment and, if one of them used it, the other proofs.
func (k *open) read(ctx context.Context) (made *audit.Record, used []usedProof, err error) {
	service, err := (&verify{From: k.From, Log: k.Log}).service()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range k.Files {
		text := service.readText(ctx, name, prooffile.RoleProof)
		if text.Err != nil {
			return nil, nil, text.Err
		}
		for _, proof := range prooffile.Split(text.Content) {
			p := usedProof{}
			if p.file, err = prooffile.Parse(proof); err == nil {
				p.record, err = audit.ParseRecord(p.file.Record)
			}
			switch {
			case err != nil:
				return nil, nil, fmt.Errorf("%s: %w", name, err)
			case p.record.OpensAt == "":
				used = append(used, p)
			case made != nil && made.ID != p.record.ID:
				return nil, nil, errors.New("these are two commitments with a time lock: open one after the other")
			default:
				made = p.record
			}
		}
	}
	if made == nil {
		return nil, nil, errors.New("there is no proof of a commitment with a time lock among them")
	}
	uses := func(p usedProof) bool { return p.record.UsesCommitment() && p.record.CommitmentID == made.ID }
	isVoid := func(p usedProof) bool { return p.record.Kind == audit.KindVoid && p.record.CommitmentID == made.ID }
	isUsed := slices.ContainsFunc(used, uses)
	if used = slices.DeleteFunc(used, isVoid); !isUsed && len(used) > 0 {
		return nil, nil, fmt.Errorf("the record %s has not used the commitment %s", used[0].record.ID, made.ID)
	}
	isBook := made.Count > 0 && !isUsed
	switch {
	case made.Count > audit.MaxRounds:
		return nil, nil, fmt.Errorf("a book of %d rounds is not opened: a service makes books of at most %d", made.Count, audit.MaxRounds)
	case isBook && (k.Round < 1 || k.Round > made.Count):
		return nil, nil, fmt.Errorf("the commitment is a book: say with --round which of its %d rounds to open", made.Count)
	case isUsed && k.ClientSeed != "":
		return nil, nil, errors.New("--client-seed is for a commitment without the proof of what used it, which has the client seed")
	case !isBook && k.Round > 0:
		return nil, nil, errors.New("--round is for a book, without the proof of what used it")
	}
	return made, used, nil
}

// signature returns the signature of a round: given, or from relays.
func (k *open) signature(ctx context.Context, round beacon.Round, given string) (string, error) {
	switch {
	case given != "":
		return given, nil
	case time.Now().Before(round.Time()):
		return "", fmt.Errorf("%s is published at %s: nobody can open it before", round, round.Time().Format(time.RFC3339))
	case len(k.Relays) == 0:
		return "", errors.New("give the signature of " + round.String() + " with --signature, or ask relays with --relays https://api.drand.sh")
	}
	return k.Relays.Signature(ctx, round)
}

// follow sets the orders that follow from the seed of a commitment and the client seed, if that is
// known: it makes the record that would have used the commitment.
func (o *opened) follow(ctx context.Context, made *audit.Record, seed rng.Seed) error {
	if o.ClientSeed == "" {
		return nil
	}
	r := &audit.Record{
		Kind: audit.KindShuffle, ID: made.ID, Time: made.Time, Statement: made.Statement, Parameters: made.Parameters,
		ItemsDigest: made.ItemsDigest, ClientSeed: o.ClientSeed, CommitmentID: made.ID, Count: made.Count, Round: o.Round,
	}
	if made.Players != nil {
		r.ClientSeed, r.Joined = audit.SeedOfJoined(o.ClientSeed)
	}
	if r.Statement.Seed = seed; made.Count > 0 {
		r.Path = audit.NewBook(&r.Statement, made.Count).Path(o.Round)
	}
	seed = made.SeedOf(seed, o.Round)
	r.Statement.Seed = seed
	r.Commitment = r.Statement.Commitment()
	r.Statement.Seed = nil
	if err := r.CheckCommitted(made); err != nil {
		return err
	}
	v, err := audit.Verify(r.Append(nil), seed, math.MaxUint64, ctx.Err)
	if err != nil {
		return err
	}
	o.Shuffles = v.Orders
	return audit.Rule(v.OK, "%s", v.Steps[len(v.Steps)-1].Detail)
}
