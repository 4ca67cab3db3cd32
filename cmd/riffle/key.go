package main

import (
	"fmt"
	"strings"

	"riffle/internal/access"
)

// keyCommands are the commands for keys of callers.
type keyCommands struct {
	New newKey `cmd:"" help:"Draw a token for a caller, and print what to put into riffle.yaml."`
}

// A newKey draws a token. It writes nothing to disk: the service knows the key once its digest is in
// the configuration file.
type newKey struct {
	Name string   `arg:"" help:"The name of the key in logs and metrics: up to 64 letters, digits, dots, dashes and underscores."`
	May  []string `enum:"shuffle,deal,read,metrics" default:"shuffle,deal,read" help:"What its holder may do: ${enum}."`
	Log  []string `placeholder:"NAME" help:"Only in these logs."`
	Rate *float64 `placeholder:"N" help:"Requests a second. Default unlimited."`

	Expires string `placeholder:"DATE" help:"When the token ends: a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z. Default never."`
}

// Help is the longer text of riffle key new --help.
func (*newKey) Help() string {
	return `The token is printed once and stored nowhere: give it to the caller, who sends it as "Authorization: Bearer rfl_...". The lines for riffle.yaml contain only its SHA-256. Add them below "keys:", and send the service SIGHUP.`
}

// Run draws the token. The YAML goes to standard output, so that it can be appended to a file; the
// token to standard error.
func (k *newKey) Run(c *console) error {
	if err := access.CheckName(k.Name); err != nil {
		return err
	}
	for _, log := range k.Log {
		if err := access.CheckName(log); err != nil {
			return fmt.Errorf("--log: %w", err)
		}
	}
	if k.Rate != nil && *k.Rate <= 0 {
		return fmt.Errorf("--rate must be more than 0; got %g", *k.Rate)
	}
	if _, err := access.ParseExpiry(k.Expires); k.Expires != "" && err != nil {
		return fmt.Errorf("--expires must be a date such as 2027-01-31, or a time such as 2027-01-31T18:00:00Z; got %q", k.Expires)
	}
	token := access.NewToken()
	var text strings.Builder
	_, _ = fmt.Fprintf(&text, "  - name: %q\n    sha256: %x\n    may: [%s]\n", k.Name, token.Digest(), strings.Join(k.May, ", "))
	if len(k.Log) > 0 {
		_, _ = fmt.Fprintf(&text, "    logs: [%s]\n", strings.Join(k.Log, ", "))
	}
	if k.Rate != nil {
		_, _ = fmt.Fprintf(&text, "    rate: %g\n", *k.Rate)
	}
	if k.Expires != "" {
		_, _ = fmt.Fprintf(&text, "    expires: %s\n", k.Expires)
	}
	if _, err := fmt.Fprintln(c.messages, token); err != nil {
		return err
	}
	_, err := fmt.Fprint(c.out, text.String())
	return err
}
