// Package witnesstest has a witness by https://c2sp.org/tlog-witness, for tests.
package witnesstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	cosignature "github.com/transparency-dev/formats/note"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"riffle/internal/ledger/proof"
)

// A Witness serves one log at a time.
type Witness struct {
	Name, Key string // the key as policies have it
	signer    note.Signer

	mu    sync.Mutex
	log   note.Verifier
	last  proof.Checkpoint
	note  []byte
	fault http.HandlerFunc // in place of the witness; nil for none
}

// New returns a witness that knows no log yet. Its key follows from its name.
func New(name string) (*Witness, error) {
	secret := sha256.Sum256([]byte("witness " + name))
	private, public, err := note.GenerateKey(bytes.NewReader(secret[:]), name+".example")
	if err != nil {
		return nil, err
	}
	signer, err := cosignature.NewSignerForCosignatureV1(private)
	if err != nil {
		return nil, err
	}
	key, err := cosignature.VKeyToCosignatureV1(public)
	return &Witness{Name: name, Key: key, signer: signer}, err
}

// Set changes the fault.
func (w *Witness) Set(fault http.HandlerFunc) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fault = fault
}

// Know has the witness accept a log, by its verifier key.
func (w *Witness) Know(key string) error {
	log, err := note.NewVerifier(strings.TrimSpace(key))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = log
	return err
}

// Forget loses the state of the witness.
func (w *Witness) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last, w.note = proof.Checkpoint{}, nil
}

func (w *Witness) ServeHTTP(answer http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	fault := w.fault
	w.mu.Unlock()
	if fault != nil {
		fault(answer, r)
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if r.Method == http.MethodGet {
		_, _ = answer.Write(w.note)
		return
	}
	status, text := w.add(string(body))
	answer.WriteHeader(status)
	_, _ = io.WriteString(answer, text)
}

// add answers POST /add-checkpoint.
func (w *Witness) add(body string) (status int, text string) {
	head, checkpoint, _ := strings.Cut(body, "\n\n")
	lines := strings.Split(head, "\n")
	var old uint64
	if _, err := fmt.Sscanf(lines[0], "old %d", &old); err != nil || w.log == nil {
		return http.StatusNotFound, "unknown log"
	}
	c, err := proof.OpenCheckpoint([]byte(checkpoint), w.log)
	if err != nil {
		return http.StatusForbidden, err.Error()
	}
	var hashes tlog.TreeProof
	for _, line := range lines[1:] {
		raw, err := base64.StdEncoding.DecodeString(line)
		if err != nil || len(raw) != tlog.HashSize {
			return http.StatusBadRequest, "not a hash"
		}
		hashes = append(hashes, tlog.Hash(raw))
	}
	switch {
	case old > c.Size:
		return http.StatusBadRequest, "the old size is larger"
	case old != w.last.Size:
		return http.StatusConflict, fmt.Sprintf("%d\n", w.last.Size)
	case old == c.Size && old > 0 && c.Root != w.last.Root:
		err = errors.New("the same size has another root")
	case old > 0:
		err = tlog.CheckTree(hashes, int64(c.Size), c.Root, int64(old), w.last.Root)
	}
	if err != nil {
		return http.StatusUnprocessableEntity, err.Error()
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, w.signer)
	if err != nil {
		return http.StatusInternalServerError, err.Error()
	}
	_, line, _ := strings.Cut(string(signed), "\n\n")
	w.last, w.note = c, []byte(checkpoint+line)
	return http.StatusOK, line
}
