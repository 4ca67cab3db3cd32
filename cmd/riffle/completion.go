package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// A completion prints what a shell needs to complete the commands, their flags and the values of flags.
type completion struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"One of ${enum}."`
}

// Help is the longer text of riffle completion --help.
func (*completion) Help() string {
	return `bash: source <(riffle completion bash)
zsh: source <(riffle completion zsh), after compinit
fish: riffle completion fish | source

In the file that the shell reads when it starts, it lasts.`
}

// Run prints the script.
func (k *completion) Run(c *console, app *kong.Kong) error {
	list := completions(app.Model.Node, nil)
	var script string
	switch k.Shell {
	case "bash":
		script = bashScript(list)
	case "zsh":
		// zsh completes by scripts of bash when asked to.
		script = "autoload -Uz bashcompinit && bashcompinit\n" + bashScript(list)
	default:
		script = fishScript(list)
	}
	if _, err := fmt.Fprint(c.out, script); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// A word is something that can be typed, with what it does.
type word struct{ text, help string }

// A completed is a command, or the program itself, and what may follow it.
type completed struct {
	path   string // the names of the commands, with spaces between
	names  []word // of the commands under it
	flags  []word
	values map[string][]string // of a flag that takes one of a few
	takes  []string            // the flags that a value follows
	args   []string            // the values of the argument; nil for files
}

// completions lists the commands under a node, the node first.
func completions(node *kong.Node, path []string) []completed {
	c := completed{path: strings.Join(path, " "), values: map[string][]string{}}
	for _, flag := range node.Flags {
		name := "--" + flag.Name
		c.flags = append(c.flags, word{name, flag.Help})
		if !flag.IsBool() && flag.Name != "help" {
			c.takes = append(c.takes, name)
		}
		if flag.Enum != "" {
			c.values[name] = flag.EnumSlice()
		}
	}
	if !slices.ContainsFunc(c.flags, func(w word) bool { return w.text == "--help" }) {
		c.flags = append(c.flags, word{"--help", "Show context-sensitive help."})
	}
	for _, arg := range node.Positional {
		if arg.Enum != "" {
			c.args = arg.EnumSlice()
		}
	}
	list := []completed{c}
	for _, child := range node.Children {
		list[0].names = append(list[0].names, word{child.Name, child.Help})
		list = append(list, completions(child, append(slices.Clone(path), child.Name))...)
	}
	return list
}

func texts(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

// bashScript finds the command by the words so far, and then offers what may follow it; where it offers nothing, the shell
// offers files.
func bashScript(list []completed) string {
	var b strings.Builder
	b.WriteString(`_riffle() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case "$command ${COMP_WORDS[i]}" in
`)
	for _, c := range list[1:] {
		parent, name := "", c.path
		if i := strings.LastIndexByte(c.path, ' '); i >= 0 {
			parent, name = c.path[:i], c.path[i+1:]
		}
		fmt.Fprintf(&b, "            %q) command=%q ;;\n", parent+" "+name, c.path)
	}
	b.WriteString(`        esac
    done
    case "$command $before" in
`)
	for _, c := range list {
		for _, flag := range c.takes {
			reply := "" // and the shell offers files
			if values := c.values[flag]; values != nil {
				reply = fmt.Sprintf(`$(compgen -W %q -- "$word")`, strings.Join(values, " "))
			}
			fmt.Fprintf(&b, "        %q) COMPREPLY=(%s); return ;;\n", c.path+" "+flag, reply)
		}
	}
	b.WriteString(`    esac
    case "$command" in
`)
	for _, c := range list {
		words := strings.TrimSpace(texts(c.names) + " " + strings.Join(c.args, " "))
		fmt.Fprintf(&b, "        %q)\n            if [[ $word == -* ]]; then COMPREPLY=($(compgen -W %q -- \"$word\"))\n", c.path, texts(c.flags))
		fmt.Fprintf(&b, "            else COMPREPLY=($(compgen -W %q -- \"$word\")); fi ;;\n", words)
	}
	b.WriteString(`    esac
}
complete -o default -F _riffle riffle
`)
	return b.String()
}

// fishScript has a line for each word, with the commands after which it may stand.
func fishScript(list []completed) string {
	var b strings.Builder
	for _, c := range list {
		seen := strings.Fields(c.path)
		var conditions []string
		for _, name := range seen {
			conditions = append(conditions, "__fish_seen_subcommand_from "+name)
		}
		if len(c.names) > 0 {
			conditions = append(conditions, "not __fish_seen_subcommand_from "+texts(c.names))
		}
		when := strings.Join(conditions, "; and ")
		for _, w := range c.names {
			fmt.Fprintf(&b, "complete -c riffle -f -n '%s' -a %s -d %s\n", when, w.text, fishQuote(w.help))
		}
		for _, value := range c.args {
			fmt.Fprintf(&b, "complete -c riffle -f -n '%s' -a %s\n", when, value)
		}
		for _, w := range c.flags {
			takes := ""
			if values := c.values[w.text]; values != nil {
				takes = " -x -a '" + strings.Join(values, " ") + "'"
			} else if slices.Contains(c.takes, w.text) {
				takes = " -r"
			}
			fmt.Fprintf(&b, "complete -c riffle -n '%s' -l %s%s -d %s\n", when, strings.TrimPrefix(w.text, "--"), takes, fishQuote(w.help))
		}
	}
	return b.String()
}

// fishQuote puts a text in single quotes, inside which fish escapes the quote and the backslash.
func fishQuote(text string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(text) + "'"
}
