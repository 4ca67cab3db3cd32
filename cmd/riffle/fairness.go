package main

import (
	"cmp"
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
	meter, err := await(ctx, func() (*fairness.Meter, error) { return k.measure(ctx, reader) })
	if err != nil {
		return err
	}
	report := newFairnessReport(meter, reader.items, k.Cyclic, k.Items == "")
	outcome := map[string]error{verdictCaught: errCaught, verdictUnjudged: errTooFew}[report.Verdict]
	return cmp.Or(c.print(k.JSON, report, "fairness"), outcome)
}

// readItems reads the items of the deck from a file.
func readItems(reader *orderReader, path string) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("the items: %w", err)
	}
	items := newOrderReader(file)
	if err = items.read(); err == nil {
		err = reader.setItems(items.words)
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
