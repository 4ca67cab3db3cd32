package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"riffle/internal/fairness"
)

// A fairnessCmd measures the orders that a program's shuffle gives.
type fairnessCmd struct {
	Items  string `placeholder:"FILE" help:"A file with the items in their order before the shuffle, in the form of a line of orders. Without it they are taken to be sorted: numbers by value, others as text."`
	Cyclic bool   `help:"Compare with single cycles through all items, which Sattolo's algorithm gives, instead of with all orders."`
	JSON   bool   `name:"json" help:"Print the report as JSON."`
	File   string `arg:"" optional:"" help:"The orders; standard input if none is given."`
}

// Help is the longer text of riffle fairness --help.
func (*fairnessCmd) Help() string {
	return fmt.Sprintf(`Reads orders that a shuffle gave, one a line, and says whether it is fair: my-shuffle | riffle fairness. Each run of the shuffle should begin with the same order. A line has the items in their new order, separated by commas or, where there are none, by white space, or as a JSON array: numbers from 0 or from 1 on, card codes, or any other words, from 2 to %d of them. The first line says which items there are.

The tests are chi-square tests of where each item lands, of which item follows which, and, of up to 7 items, of all orders; and tests of mean, variance and distribution of the number of items that stay (fixed points), of cycles, of rising sequences, of inversions, and of places that have the same item as in the run before. From 15 items on, orders that come up twice among the first 2^20 show a small seed. A test whose rarest outcome is expected less than ten times is not judged. The report says how many runs it needs.

p is how likely a fair shuffle gives a chi-square as large. The corrected p, by which a test is judged, is of all that the test looks at: three times the least p of distribution, mean and variance, and both ends of chi-square from 20 degrees of freedom on. Holm's correction makes one verdict of all tests: a fair shuffle is caught in about one of a million reports, or a few with the fewest runs that are judged. What is caught comes with what it is likely to be. What is not caught may still be unfair by less than so many runs can show, or in ways that these tests do not look for: that nobody can predict the next order, no test of orders shows.

The memory does not grow with the number of orders. A million orders of 52 take seconds.

The exit code is 0 if nothing is caught, 1 if something is, and 2 if there are too few orders to judge, or a line is wrong.`, fairness.MostItems)
}

// errCaught means that no fair shuffle gives these orders. The report has been printed.
var errCaught = fmt.Errorf("the shuffle was measured, and %w", errFindings)

// errTooFew means that there were too few orders. The report has been printed.
var errTooFew = errors.New("there are too few orders to judge")

// Run measures the orders and prints the report.
func (k *fairnessCmd) Run(ctx context.Context, c *console) error {
	in, err := c.open(k.File)
	if err != nil {
		return fmt.Errorf("reading the orders: %w", err)
	}
	reader := newOrderReader(in)
	if k.Items != "" {
		if err := readItems(reader, k.Items); err != nil {
			return err
		}
	}
	meter, err := await(ctx, nil, func() (*fairness.Meter, error) { return k.measure(ctx, reader) })
	if err != nil {
		return err
	}
	report := newFairnessReport(meter, reader.items, k.Cyclic, k.Items == "")
	if err := k.print(c, report); err != nil {
		return fmt.Errorf("printing: %w", err)
	}
	return report.err()
}

// readItems reads the items of the deck from a file.
func readItems(reader *orderReader, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the items: %w", err)
	}
	items, err := newOrderReader(file).readWords()
	if err == nil {
		err = reader.setItems(items)
	}
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("the items: %s: %w", path, err)
	}
	return nil
}

// measure counts all orders, or those before ctx is done.
func (k *fairnessCmd) measure(ctx context.Context, reader *orderReader) (meter *fairness.Meter, err error) {
	for ctx.Err() == nil {
		order, err := reader.next()
		switch {
		case errors.Is(err, io.EOF) && meter == nil:
			return nil, errors.New("there are no orders: write one a line, such as 3 1 2, to standard input or to the file")
		case errors.Is(err, io.EOF):
			return meter, nil
		case err != nil:
			return nil, fmt.Errorf("reading the orders: %w", err)
		case meter == nil && k.Cyclic && len(order) < 3:
			return nil, errors.New("two items have one cycle: --cyclic needs three or more")
		case meter == nil && k.Cyclic:
			meter = fairness.NewCyclicMeter(len(order))
		case meter == nil:
			meter = fairness.NewMeter(len(order))
		}
		meter.Add(order)
	}
	return nil, context.Cause(ctx)
}

func (k *fairnessCmd) print(c *console, report *fairnessReport) error {
	if !k.JSON {
		_, err := io.WriteString(c.out, report.text(c))
		return err
	}
	return c.printJSON(report)
}
