package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"riffle/internal/audit/prooffile"
)

// A console holds the streams that a command reads from and writes to.
type console struct {
	in       io.Reader
	out      io.Writer
	messages io.Writer // standard error
	progress io.Writer // standard error if it is a terminal, else nil
	colour   bool      // whether out may be coloured
}

// open opens the file of that name. No name and - mean standard input.
func (c *console) open(name string) (io.Reader, error) {
	if name == "" || name == "-" {
		return c.in, nil
	}
	return os.Open(name)
}

// print prints a report: as JSON on one line, or what a template says about it; "" for nothing.
func (c *console) print(asJSON bool, report any, template string) error {
	var err error
	if asJSON {
		encoder := json.NewEncoder(c.out)
		encoder.SetEscapeHTML(false)
		err = encoder.Encode(report)
	} else if template != "" {
		_, err = io.WriteString(c.out, words(template, map[string]any{"Console": c, "Report": report}))
	}
	if err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return nil
}

// A mark is how a step ended: a word, and its colour on a terminal.
type mark struct{ Word, Colour string }

// markOf returns the mark of a step.
func markOf(state prooffile.State) mark {
	switch state {
	case prooffile.OK:
		return mark{"ok", "32"}
	case prooffile.Wrong:
		return mark{"WRONG", "1;31"}
	default:
		return mark{"not checked", "33"}
	}
}

// Text returns a word, coloured if the output may be.
func (c *console) Text(word, colour string) string {
	if !c.colour {
		return word
	}
	return "\x1b[" + colour + "m" + word + "\x1b[0m"
}

// clearLine erases the current line of a terminal.
const clearLine = "\r\x1b[K"

// showing returns a function that shows how many things are done, and the time left, at most every 100 ms.
// It begins after those done before. It is nil without a terminal.
func (c *console) showing(things string, before uint64) func(done, total uint64) {
	if c.progress == nil {
		return nil
	}
	began := time.Now()
	var last time.Time
	return func(done, total uint64) {
		if time.Since(last) < 100*time.Millisecond || done <= before {
			return
		}
		last = time.Now()
		left := time.Duration(float64(time.Since(began)) / float64(done-before) * float64(total-done))
		_, _ = fmt.Fprintf(c.progress, clearLine+"%d of %d %s, %s left", done, total, things, left.Round(time.Second))
	}
}

// clear erases the line that shows progress.
func (c *console) clear() {
	if c.progress != nil {
		_, _ = fmt.Fprint(c.progress, clearLine)
	}
}

// await returns what f returns, or early when ctx is done: reads and replays cannot be cancelled.
func await[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var result T
	done := make(chan error, 1)
	go func() {
		found, err := f()
		result = found
		done <- err
	}()
	select {
	case err := <-done:
		return result, err
	case <-ctx.Done():
		return *new(T), context.Cause(ctx)
	}
}
