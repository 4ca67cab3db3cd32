package logs

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// keyPlaceholder is replaced with the name of the key in a command.
const keyPlaceholder = "{}"

// keyTimeout is the time limit of a command that prints a key.
const keyTimeout = time.Minute

// readKey returns a function that runs the command for a key, or nil if there is no command. The key is in
// no error.
func (s *Settings) readKey(ctx context.Context) func(name string) (string, error) {
	if s.KeyCommand == "" {
		return nil
	}
	return func(name string) (string, error) {
		ctx, cancel := context.WithTimeout(ctx, keyTimeout)
		defer cancel()
		words := strings.Fields(strings.ReplaceAll(s.KeyCommand, keyPlaceholder, name))
		text, err := exec.CommandContext(ctx, words[0], words[1:]...).Output() //nolint:gosec // the operator's own command
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("%w: %s", err, strings.TrimSpace(string(failed.Stderr)))
		}
		if err != nil {
			return "", fmt.Errorf("key-command for %s: %w", name, err)
		}
		return string(text), nil
	}
}
