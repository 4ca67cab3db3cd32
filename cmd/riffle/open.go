package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
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
	Files      []string     `arg:"" name:"file" help:"The proof of the commitment; then, to get it with its seed, the proof of what used it."`
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

// Run prints the seed, and the order that follows if the client seed is known; or the proof with its
// seed of the record that used the commitment.
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
	if used != nil {
		used.Seed = seed
		if record, _ := audit.ParseRecord(used.Record); record.Round > 0 {
			used.Seed = audit.RoundSeed(seed, record.Round)
		}
		_, err = c.out.Write(used.Text())
		return err
	}
	found := &opened{ID: made.ID, OpensAt: made.OpensAt, Round: k.Round, ClientSeed: k.ClientSeed}
	if round, isKnown := beacon.Parse(made.Beacon); isKnown && len(k.Relays) > 0 {
		if found.ClientSeed, err = k.signature(ctx, round, k.ClientSeed); err != nil {
			return err
		}
	}
	return cmp.Or(found.follow(made, seed), c.print(true, found, nil))
}

// read returns the record of the commitment and, if its proof is given, what used it.
func (k *open) read(ctx context.Context) (made *audit.Record, used *prooffile.File, err error) {
	service, err := (&verify{From: k.From, Log: k.Log}).service()
	if err != nil {
		return nil, nil, err
	}
	for _, name := range k.Files {
		text := service.readText(ctx, name, prooffile.RoleProof)
		f, err := prooffile.Parse(text.Content)
		if err != nil {
			err = fmt.Errorf("%s: %w", name, err)
		}
		if err = cmp.Or(text.Err, err); err != nil {
			return nil, nil, err
		}
		switch record, err := audit.ParseRecord(f.Record); {
		case err != nil:
			return nil, nil, fmt.Errorf("%s: %w", name, err)
		case record.OpensAt != "":
			made = record
		case made != nil && record.UsesCommitment() && record.CommitmentID == made.ID:
			used = f
		default:
			return nil, nil, fmt.Errorf("%s is no proof of a commitment with a time lock, nor of what used the one before it", name)
		}
	}
	if made.Count > 0 && used == nil && (k.Round < 1 || k.Round > made.Count) {
		return nil, nil, fmt.Errorf("the commitment is a book: say with --round which of its %d rounds to open", made.Count)
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

// follow sets the seed and, if the client seed is known, the orders that follow from both.
func (o *opened) follow(made *audit.Record, seed rng.Seed) error {
	r := &audit.Record{Kind: audit.KindShuffle, ID: made.ID, Time: made.Time, Statement: made.Statement, Parameters: made.Parameters, ClientSeed: o.ClientSeed}
	if o.Round > 0 {
		seed = audit.RoundSeed(seed, o.Round)
	}
	o.Seed, r.Statement.Seed = hex.EncodeToString(seed), seed
	if o.ClientSeed == "" {
		return nil
	}
	r.Commitment = r.Statement.Commitment()
	v, _ := audit.Verify(r.Append(nil), seed, math.MaxUint64, nil) // no error, since nothing interrupts it
	o.Shuffles = v.Orders
	return audit.Rule(v.OK, "the order was not calculated: %s", v.Steps[len(v.Steps)-1].Detail)
}
