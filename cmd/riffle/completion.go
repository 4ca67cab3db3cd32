package main

import (
	"cmp"
	"embed"
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A completion prints the script with which a shell completes the command line.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"One of ${enum}."`
}

// scripts are the completion scripts by shell. Each asks riffle suggest for the candidates. Without
// any, the shell completes file names.
//
//go:embed completion.bash completion.zsh completion.fish
var scripts embed.FS

// Run prints the script.
func (k *completion) Run(c *console) error {
	script, _ := scripts.ReadFile("completion." + k.Shell) // one of the enum
	_, err := c.out.Write(script)
	return err
}

// A suggest prints the words that can complete a command line. The completion scripts call it.
type suggest struct {
	Words []string `arg:"" help:"The words after riffle, up to the one to complete, which may be empty."`
}

// Run prints the completions of the last word, each with its help after a tab: the values of a flag,
// the flags of a command, or its subcommands and the values of its arguments.
func (k *suggest) Run(c *console, app *kong.Kong) error {
	done, last := k.Words[:len(k.Words)-1], k.Words[len(k.Words)-1]
	trace, err := kong.Trace(app, done) // a flag without its value ends it
	if err != nil {
		return err
	}
	command := cmp.Or(trace.Selected(), app.Model.Node)
	flags := slices.Concat(command.AllFlags(true)...)
	awaited := slices.IndexFunc(flags, func(flag *kong.Flag) bool {
		return len(done) > 0 && done[len(done)-1] == "--"+flag.Name && !flag.IsBool()
	})
	var candidates []string
	switch {
	case awaited >= 0:
		candidates = flags[awaited].EnumSlice()
	case strings.HasPrefix(last, "-"):
		for _, flag := range flags {
			candidates = append(candidates, "--"+flag.Name+"\t"+flag.Help)
		}
	default:
		for _, child := range command.Children {
			if !child.Hidden {
				candidates = append(candidates, child.Name+"\t"+child.Help)
			}
		}
		for _, argument := range command.Positional {
			candidates = append(candidates, argument.EnumSlice()...)
		}
	}
	for _, candidate := range candidates {
		if strings.HasPrefix(candidate, last) {
			if _, err := fmt.Fprintln(c.out, candidate); err != nil {
				return fmt.Errorf("printing: %w", err)
			}
		}
	}
	return nil
}
