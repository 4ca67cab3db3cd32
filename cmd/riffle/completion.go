package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A completion prints the script with which a shell completes the command line.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"One of ${enum}."`
}

// Help is the longer text of riffle completion --help.
func (*completion) Help() string {
	return `bash: source <(riffle completion bash)
zsh: source <(riffle completion zsh), after compinit
fish: riffle completion fish | source

Put the line for your shell into the file that the shell reads when it starts.`
}

// scripts are the completion scripts by shell. Each asks riffle suggest for the candidates. Without
// any, the shell completes file names.
var scripts = map[string]string{
	"bash": bashScript,
	"zsh":  "autoload -Uz bashcompinit && bashcompinit\n" + bashScript,
	"fish": `function __riffle_suggest
    riffle suggest -- (commandline -opc)[2..] "$(commandline -ct)" 2>/dev/null
end
complete -c riffle -n 'count (__riffle_suggest) >/dev/null' -f -a '(__riffle_suggest)'
`,
}

const bashScript = `_riffle() {
    local IFS=$'\n'
    COMPREPLY=($(riffle suggest -- "${COMP_WORDS[@]:1:$COMP_CWORD}" 2>/dev/null | cut -f 1))
}
complete -o default -F _riffle riffle
`

// Run prints the script.
func (k *completion) Run(c *console) error {
	if _, err := fmt.Fprint(c.out, scripts[k.Shell]); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// A suggest prints the words that can complete a command line. The completion scripts call it.
type suggest struct {
	Words []string `arg:"" help:"The words after riffle, up to the one to complete, which may be empty."`
}

// Run prints one candidate per line, followed by a tab and what it does where that is known.
func (k *suggest) Run(c *console, app *kong.Kong) error {
	for _, s := range candidates(app.Model.Node, k.Words) {
		if _, err := fmt.Fprintln(c.out, s); err != nil {
			return fmt.Errorf("printing: %w", err)
		}
	}
	return nil
}

// candidates returns the completions of the last word, each with its help after a tab: the values
// of a flag, the flags of a command, or its subcommands and the values of its arguments.
func candidates(command *kong.Node, words []string) (list []string) {
	done, last := words[:len(words)-1], words[len(words)-1]
	add := func(name, help string) {
		if strings.HasPrefix(name, last) {
			list = append(list, strings.TrimSuffix(name+"\t"+help, "\t"))
		}
	}
	var value *kong.Flag // the flag whose value comes next
	for _, word := range done {
		switch child := subcommand(command, word); {
		case value != nil:
			value = nil
		case strings.HasPrefix(word, "-"):
			value = flagWithValue(command, word)
		case child != nil:
			command = child
		}
	}
	switch {
	case value != nil:
		for _, text := range value.EnumSlice() {
			add(text, "")
		}
	case strings.HasPrefix(last, "-"):
		for _, flag := range slices.Concat(command.AllFlags(true)...) {
			add("--"+flag.Name, flag.Help)
		}
	default:
		for _, child := range command.Children {
			if !child.Hidden {
				add(child.Name, child.Help)
			}
		}
		for _, argument := range command.Positional {
			for _, text := range argument.EnumSlice() {
				add(text, "")
			}
		}
	}
	return list
}

// subcommand returns the subcommand of that name, or nil.
func subcommand(command *kong.Node, name string) *kong.Node {
	for _, child := range command.Children {
		if child.Name == name {
			return child
		}
	}
	return nil
}

// flagWithValue returns the flag that a word names if the next word is its value, and nil
// otherwise.
func flagWithValue(command *kong.Node, word string) *kong.Flag {
	for _, flag := range slices.Concat(command.AllFlags(true)...) {
		if "--"+flag.Name == word && !flag.IsBool() {
			return flag
		}
	}
	return nil
}
