// Riffle is the offline companion of the shuffle service: it checks what the service has answered and left behind, on
// tools that need neither the service nor its secrets, and shuffles lines as the service shuffles items.
//
// This file reads the command line and turns the outcome into an exit code; each command has a file of its own. The code
// is 0 if all is well, 1 if what was checked does not add up, and 2 if it could not be checked: a script can tell a
// forged log from a missing file.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"
)

// Exit codes.
const (
	exitFindings  = 1
	exitUnchecked = 2
)

// errFindings is for what was checked and does not add up. The findings have been printed.
var errFindings = errors.New("it does not add up")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "riffle:", err)
		os.Exit(exitCode(err))
	}
}

func exitCode(err error) int {
	if errors.Is(err, errFindings) {
		return exitFindings
	}
	return exitUnchecked
}

// version is set when the program is built for a release.
var version = "dev"

// commands are what the program can do.
type commands struct {
	Version kong.VersionFlag `help:"Print the version."`

	Verify     verify      `cmd:"" help:"Check proof files: that an order follows from its seed, and that its record is in the log."`
	Shuffle    shuffleCmd  `cmd:"" help:"Shuffle lines, with a proof."`
	Log        logCommands `cmd:"" help:"The log of a service."`
	Completion completion  `cmd:"" help:"Print a script that completes the commands in a shell."`
	Suggest    suggest     `cmd:"" hidden:""`
}

// A console is what a command reads from and writes to.
type console struct {
	in       io.Reader
	out      io.Writer
	messages io.Writer // for what is no output
	progress io.Writer // nil unless somebody watches
	colour   bool      // of out
}

// run is the program.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	parser, err := kong.New(&commands{}, kong.Name("riffle"), kong.Writers(stdout, stderr), kong.Vars{"version": "riffle " + version},
		kong.Description("The offline companion of the shuffle service.\n\n"+
			"The exit code is 0 if all is well, 1 if what was checked does not add up, and 2 if it could not be checked."),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(&console{
			in: os.Stdin, out: stdout, messages: stderr, progress: watched(stderr),
			colour: watched(stdout) != nil && os.Getenv("NO_COLOR") == "",
		}),
	)
	if err != nil {
		return err
	}
	command, err := parser.Parse(args)
	if err != nil {
		return fmt.Errorf("%w; see riffle --help", err)
	}
	return command.Run()
}

// watched returns w if it is a terminal, and nil otherwise.
func watched(w io.Writer) io.Writer {
	f, ok := w.(*os.File)
	if !ok {
		return nil
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return nil
	}
	return f
}
