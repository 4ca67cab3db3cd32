// Package keycommand gets a log's keys from a command of the operator, such as a vault's, in place
// of files. See [Run].
package keycommand

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"riffle/internal/system"
)

// Placeholder is replaced with the name of the key in a command.
const Placeholder = "{}"

// Limits of a command.
const (
	timeout   = time.Minute
	maxOutput = 64 << 10 // bytes of its output, and of its messages
)

// Run runs the command that prints the key of a name, without a shell, and returns its output. Processes
// that the command has started end with it. The key is in no error.
func Run(ctx context.Context, command, name string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	if strings.TrimSpace(command) == "" {
		return "", errors.New("the key-command is empty")
	}
	words := strings.Fields(strings.ReplaceAll(command, Placeholder, name))
	c := exec.CommandContext(ctx, words[0], words[1:]...) //nolint:gosec // the operator's own command
	kill := system.Group(c)
	c.Cancel, c.WaitDelay = kill, time.Second
	var key, messages output
	c.Stdout, c.Stderr = &key, &messages
	err := c.Run()
	if c.Process != nil {
		_ = kill() // fails if nothing is left
	}
	switch {
	case err == nil:
		return key.String(), nil
	case key.full || messages.full:
		err = fmt.Errorf("it printed more than %d bytes", maxOutput)
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("it took longer than %v", timeout)
	case errors.Is(err, exec.ErrWaitDelay):
		err = errors.New("a process that it started keeps its output open")
	}
	if text := strings.TrimSpace(messages.String()); text != "" && !strings.Contains(text, "PRIVATE+KEY+") {
		err = fmt.Errorf("%w: %s", err, text)
	}
	return "", fmt.Errorf("key-command %s for %s: %w", words[0], name, err)
}

// Reader returns a function that runs a command for a key by name, or nil for no command.
func Reader(ctx context.Context, command string) func(name string) (string, error) {
	if command == "" {
		return nil
	}
	return func(name string) (string, error) { return Run(ctx, command, name) }
}

// An output keeps what a command prints, up to maxOutput.
type output struct {
	strings.Builder
	full bool
}

// Write implements [io.Writer]. Its error closes the pipe of the command.
func (o *output) Write(p []byte) (int, error) {
	if o.full = o.Len()+len(p) > maxOutput; o.full {
		return 0, io.ErrShortWrite
	}
	return o.Builder.Write(p)
}
