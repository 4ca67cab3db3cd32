package main

import (
	"fmt"
	"io"

	"riffle/internal/access"
)

// keyCommands are the commands for keys.
type keyCommands struct {
	New newKey `cmd:"" help:"Draw a token for a caller, and print what to put into riffle.yaml."`
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
