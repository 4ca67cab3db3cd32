// Riffle is the offline companion of the shuffle service. It verifies proofs and checks logs
// without the service or its secrets, shuffles lines the way the service shuffles items, and measures
// the shuffles of other programs.
//
// This file parses the command line and maps the outcome to an exit code; each command has its own
// file. The code is 0 for success, 1 if something checked is false, and 2 if it could not be
// checked, so that a script can tell a forged log from a missing file.
package main

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/alecthomas/kong"

	"riffle/internal/fairness"
	"riffle/internal/release"
)

// Exit codes.
const (
	exitFindings  = 1
	exitUnchecked = 2
)

// errFindings means that something checked is false. The findings have been printed.
var errFindings = errors.New("it does not add up")

func main() {
	boundHeaders()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the second signal ends what does not listen, such as a read of a pipe
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "riffle:", err)
		os.Exit(exitCode(err))
	}
}

// exitCode returns the exit code for an error.
func exitCode(err error) int {
	if errors.Is(err, errFindings) || damaged(err) {
		return exitFindings
	}
	return exitUnchecked
}

// commands is the command line, as kong reads it.
type commands struct {
	Version kong.VersionFlag `help:"Print the version."`

	Verify   verify      `cmd:"" help:"Check a proof: that an order follows from its seed, and that its record is in the log."`
	Proof    proofCmd    `cmd:"" help:"Print proofs from a log, without its service."`
	Shuffle  shuffleCmd  `cmd:"" help:"Shuffle lines, with a proof."`
	Fairness fairnessCmd `cmd:"" help:"Measure a program's shuffle by its orders."`
	Log      logCommands `cmd:"" help:"The log of a service."`
	Backup   backup      `cmd:"" help:"Copy a log while its service runs."`
	Restore  restore     `cmd:"" help:"Make a data folder from a backup."`
	Key      keyCommands `cmd:"" help:"Keys of callers."`
}

// run parses the command line and runs the command.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	parser := kong.Must(&commands{}, kong.Name("riffle"), kong.Writers(stdout, stderr), kong.Vars{"version": release.Current().String(), "algorithms": algorithms()},
		kong.Description("The offline companion of the shuffle service.\n\n"+
			"The exit code is 0 if all is well, 1 if what was checked does not add up, and 2 if it could not be checked."),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&console{
			in: os.Stdin, out: stdout, messages: stderr, progress: terminal(stderr),
			colour: terminal(stdout) != nil && os.Getenv("NO_COLOR") == "",
		}),
	)
	explain(parser.Model.Node)
	command, err := parser.Parse(doubleDashes(args))
	if err == nil {
		err = checkArguments(args, command)
	}
	if err != nil {
		return fmt.Errorf("%w; see riffle --help", err)
	}
	return command.Run()
}

// checkArguments refuses texts that are not UTF-8, which kong would change, and flags without a value,
// as a variable that is not set leaves them: nothing would be restricted or compared by them.
func checkArguments(args []string, command *kong.Context) error {
	if i := slices.IndexFunc(args, func(arg string) bool { return !utf8.ValidString(arg) }); i >= 0 {
		return fmt.Errorf("the argument %q is not UTF-8", args[i])
	}
	for _, given := range command.Path {
		isEmpty := func(v reflect.Value) bool {
			return (v.Kind() == reflect.String || v.Kind() == reflect.Slice) && v.Len() == 0
		}
		if f := given.Flag; f != nil && isEmpty(f.Target) {
			return fmt.Errorf("--%s is empty: give it a value, or leave it out", f.Name)
		}
		if p := given.Positional; p != nil && isEmpty(p.Target) {
			return fmt.Errorf("<%s> is empty: give it a value", p.Name)
		}
	}
	return nil
}

// help has the longer texts of the commands' --help, in files of their names.
//
//go:embed help
var help embed.FS

// explain gives a command and those below it their longer texts.
func explain(command *kong.Node) {
	text, err := help.ReadFile("help/" + strings.ReplaceAll(command.Path(), " ", "-") + ".txt")
	if err == nil { // a group of commands has none
		command.Detail = strings.ReplaceAll(strings.TrimSuffix(string(text), "\n"), "${most}", strconv.Itoa(fairness.MostItems))
	}
	for _, child := range command.Children {
		explain(child)
	}
}

// doubleDashes returns the arguments with -key and -key=value written as --key and --key=value, as
// the server's flags may be written. The arguments after -- are unchanged.
func doubleDashes(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if arg == "--" {
			break
		}
		if isWord(arg) {
			args[i] = "-" + arg
		}
	}
	return args
}

// isWord reports whether an argument is a dash and a name of more than one letter.
var isWord = regexp.MustCompile(`^-[a-z][a-z-]`).MatchString

// terminal returns w if it is a terminal, and nil otherwise.
func terminal(w io.Writer) io.Writer {
	if f, ok := w.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode()&os.ModeCharDevice != 0 {
			return f
		}
	}
	return nil
}
