package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	cosignature "github.com/transparency-dev/formats/note"

	"riffle/internal/access"
)

// keyCommands are the commands for keys.
type keyCommands struct {
	New    newKey    `cmd:"" help:"Draw a token for a caller, and print what to put into riffle.yaml."`
	Cosign cosignKey `cmd:"" help:"Make a second key that signs a log, by ML-DSA-44, and print its line of a policy."`
}

// A cosignKey makes a key by which a log cosigns its own checkpoints.
type cosignKey struct {
	Name string `arg:"" help:"The name in the key, such as riffle.example/log-2."`
	File string `arg:"" help:"The new file with the private key."`
}

// Run writes the private key, and prints the line of a policy with the other.
func (k *cosignKey) Run(c *console) error {
	private, public, err := cosignature.GenerateMLDSAKey(k.Name)
	if err != nil {
		return fmt.Errorf("%q is not a name of a key, such as riffle.example/log-2: %w", k.Name, err)
	}
	path, err := filepath.Abs(k.File)
	switch {
	case err != nil:
	case strings.ContainsAny(path, " \t\r\n"):
		err = fmt.Errorf("the path %q has a space, which a line of a policy cannot have", path)
	default:
		err = writeNew(path, []byte(private+"\n"), 0o600)
	}
	if err != nil {
		return fmt.Errorf("writing the key: %w", err)
	}
	if _, err = fmt.Fprintf(c.out, "witness own %s file:%s\n", public, path); err != nil {
		err = errors.Join(err, os.Remove(path)) // nobody has the other half
	}
	return err
}

// A newKey draws a token. It writes nothing to disk: the service knows the key once its digest is in
// the configuration file.
type newKey struct {
	Name string   `arg:"" help:"The name of the key in logs and metrics: up to 64 letters, digits, dots, dashes and underscores."`
	May  []string `enum:"shuffle,deal,read,metrics" default:"shuffle,deal,read" help:"What its holder may do: ${enum}."`
	Rate *float64 `placeholder:"N" help:"Requests a second. Default unlimited."`

	Expires string `placeholder:"DATE" help:"When the token ends: a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z. Default never."`
}

// Run draws the token. The YAML goes to standard output, so that it can be appended to a file; the
// token to standard error.
func (k *newKey) Run(c *console) error {
	if err := access.CheckName(k.Name); err != nil {
		return err
	}
	if k.Rate != nil && !(*k.Rate > 0 && *k.Rate < 1e9) {
		return fmt.Errorf("--rate must be more than 0 and less than 1e9; got %g", *k.Rate)
	}
	if _, err := access.ParseExpiry(k.Expires); k.Expires != "" && err != nil {
		return fmt.Errorf("--expires must be a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z; got %q", k.Expires)
	}
	token := access.NewToken()
	if _, err := fmt.Fprintln(c.messages, token); err != nil {
		return err
	}
	_, err := io.WriteString(c.out, words("key", struct {
		*newKey
		Digest access.Digest
	}{k, token.Digest()}))
	return err
}
