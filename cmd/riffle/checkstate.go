package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"riffle/internal/ledger"
)

// A checkState is the content of the file of --state. Whoever can change it can hide changes of the
// records that were checked before.
type checkState struct {
	Origin string `json:"origin"`
	Seeds  bool   `json:"seeds"` // whether seeds and keys were checked, too
	ledger.CheckState

	path string // empty for none
	last time.Time
}

// read reads the file if it exists.
func (s *checkState) read() error {
	text, err := os.ReadFile(s.path)
	if s.path == "" || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	was := checkState{path: s.path}
	if err == nil {
		err = json.Unmarshal(text, &was)
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s does not tell how far a check came: %w; remove it to begin anew", s.path, err)
	case was.Origin != s.Origin:
		return fmt.Errorf("%s is about the log %s, and this is %s", s.path, was.Origin, s.Origin)
	case was.Seeds != s.Seeds:
		return fmt.Errorf("%s is about checks with another --without-seeds", s.path)
	}
	*s = was
	return nil
}

// save replaces the file.
func (s *checkState) save(now ledger.CheckState) error {
	if s.path == "" {
		return nil
	}
	text, err := json.Marshal(checkState{Origin: s.Origin, Seeds: s.Seeds, CheckState: now})
	if err == nil {
		err = ledger.ReplaceFile(s.path, append(text, '\n'))
	}
	if err != nil {
		return fmt.Errorf("writing down how far the check came: %w", err)
	}
	return nil
}

// saveSometimes saves every few seconds. A failure shows at the end.
func (s *checkState) saveSometimes(now ledger.CheckState) {
	const every = 2 * time.Second
	if time.Since(s.last) >= every {
		s.last = time.Now()
		_ = s.save(now)
	}
}
