// Package witness has the checkpoints of a log cosigned by witnesses. A witness cosigns a
// checkpoint only if it extends the last one that it cosigned, so that it takes part in one history
// of a log.
//
// A [Cosigner] asks the witnesses of a policy by the protocol tlog-witness of C2SP
// (https://c2sp.org/tlog-witness).
package witness

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

const (
	timeout   = 2 * time.Second // of a request
	maxAnswer = 64 << 10        // bytes
	maxPause  = time.Minute     // until a witness that failed is asked again
)

// ErrOtherHistory is the error of a witness that says that the checkpoint does not extend the last
// one of this log that it cosigned.
var ErrOtherHistory = errors.New("it has cosigned another history of this log")

// ErrAhead is the error of a witness that has cosigned a newer checkpoint: another replica is
// ahead, or the log has lost records.
var ErrAhead = errors.New("it has cosigned a newer checkpoint of this log")

// A Cosigner has a log's checkpoints cosigned. It is used by one goroutine.
type Cosigner struct {
	policy   *proof.Policy
	cosigned []byte  // the checkpoint that was asked for last, with its cosignatures
	suffice  bool    // whether these do
	states   []state // by witness
}

// A state has the last answers of a witness.
type state struct {
	line  string        // its cosignature of the checkpoint; empty if it has not cosigned that
	size  uint64        // of the last checkpoint that it cosigned
	pause time.Duration // after its last failure; 0 if it did not fail
	again time.Time     // when it is asked again
}

// New returns a cosigner for a policy.
func New(policy *proof.Policy) *Cosigner {
	return &Cosigner{policy: policy, states: make([]state, len(policy.Witnesses))}
}

// A Checkpoint is to be cosigned.
type Checkpoint struct {
	proof.Checkpoint
	Note []byte // signed by the log
	// Prove proves that the checkpoint extends an earlier size, by RFC 6962, 2.1.2.
	Prove func(ctx context.Context, c proof.Checkpoint, earlier uint64) ([]tlog.Hash, error)
}

// Cosign asks all witnesses in parallel, except those that have cosigned this checkpoint or failed
// lately. It returns the note with their cosignatures, whether these suffice, and the outcome of
// each that was asked, by its name.
func (c *Cosigner) Cosign(ctx context.Context, p *Checkpoint) ([]byte, bool, map[string]error) {
	isNew, outcomes := !bytes.HasPrefix(c.cosigned, p.Note), map[string]error{}
	var asking sync.WaitGroup
	var mu sync.Mutex // guards outcomes
	for i, w := range c.policy.Witnesses {
		s := &c.states[i]
		if isNew {
			s.line = ""
		}
		if s.line != "" || time.Now().Before(s.again) {
			continue
		}
		asking.Go(func() {
			ctx, cancel := context.WithTimeout(ctx, timeout)
			defer cancel()
			err := s.ask(ctx, &w, p)
			s.pause = min(maxPause, max(time.Second, 2*s.pause))
			if s.again = time.Now().Add(s.pause); err == nil || errors.Is(err, ErrAhead) {
				s.pause, s.again = 0, time.Time{}
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[w.Name] = err
		})
	}
	asking.Wait()
	if isNew || len(outcomes) > 0 {
		c.cosigned = bytes.Clone(p.Note)
		for i := range c.states {
			c.cosigned = append(c.cosigned, c.states[i].line...)
		}
		_, suffice, err := c.policy.Cosignatures(proof.Unverified(c.cosigned))
		c.suffice = suffice && err == nil
	}
	return c.cosigned, c.suffice, outcomes
}

// ask gets the witness's cosignature. A witness that has seen another size than the last one here
// says so once.
func (s *state) ask(ctx context.Context, w *proof.Witness, p *Checkpoint) error {
	for isRepeated := false; ; isRepeated = true {
		status, answer, err := s.send(ctx, w, p)
		if err != nil {
			return err
		}
		switch status {
		case http.StatusOK:
			n, err := note.Open(append(bytes.Clone(p.Note), answer...), note.VerifierList(w.Key))
			if err != nil {
				return fmt.Errorf("its answer is not its cosignature: %w", err)
			}
			line := "— " + n.Sigs[0].Name + " " + n.Sigs[0].Base64 + "\n"
			alone := &proof.Policy{Witnesses: []proof.Witness{*w}}
			if _, _, err := alone.Cosignatures(proof.Unverified(append(bytes.Clone(p.Note), line...))); err != nil {
				return err // of a time that nobody accepts
			}
			s.line, s.size = line, p.Size
			return nil
		case http.StatusConflict:
			size, err := strconv.ParseUint(strings.TrimSuffix(string(answer), "\n"), 10, 63)
			if err != nil || isRepeated {
				return fmt.Errorf("it answered 409 with %.40q", answer)
			} else if size > p.Size {
				return fmt.Errorf("%w, of %d records, and this one has %d", ErrAhead, size, p.Size)
			}
			s.size = size
		case http.StatusUnprocessableEntity:
			return fmt.Errorf("%w, of %d records; it answered 422 with %.200q", ErrOtherHistory, s.size, answer)
		default:
			return fmt.Errorf("it answered %d: %.200q", status, answer)
		}
	}
}

// send posts the checkpoint, and the proof that it extends the last one.
func (s *state) send(ctx context.Context, w *proof.Witness, p *Checkpoint) (status int, answer []byte, err error) {
	body := fmt.Sprintf("old %d\n", s.size)
	if s.size > 0 && s.size < p.Size {
		hashes, err := p.Prove(ctx, p.Checkpoint, s.size)
		if err != nil {
			return 0, nil, err
		}
		for _, hash := range hashes {
			body += base64.StdEncoding.EncodeToString(hash[:]) + "\n"
		}
	}
	return do(ctx, http.MethodPost, w.URL+"/add-checkpoint", body+"\n"+string(p.Note))
}

// Seen returns the last checkpoint of the log with an origin that a witness has cosigned.
func Seen(ctx context.Context, w *proof.Witness, origin string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	status, answer, err := do(ctx, http.MethodGet, fmt.Sprintf("%s/%x/checkpoint", w.URL, sha256.Sum256([]byte(origin))), "")
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("it answered %d: %.200q", status, answer)
	}
	return answer, err
}

// do sends a request to a witness.
func do(ctx context.Context, method, url, body string) (status int, answer []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return response.StatusCode, answer, errors.Join(err, response.Body.Close())
}

// client has a redirect be the answer, which is an error: a POST would become a GET.
var client = &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
