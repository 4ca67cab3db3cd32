package main

import (
	"fmt"

	"riffle/bench/measure"
	"riffle/bench/report"
)

// printResults prints what contenders did.
func printResults(on string, runs measure.Runs, results []measure.Result) {
	fmt.Printf("%s; %s; %s of each, in turn; medians and ranges\n\n", report.Machine(), on, runs)
	table := report.NewTable(1, "", "connections", "per second", "range", "p50", "p99", "CPU each")
	for _, r := range results {
		rates, cpu := measure.SpreadOf(r.Rates), ""
		if r.CPU > 0 {
			cpu = report.Span(r.CPU)
		}
		table.Row(r.Name, fmt.Sprint(r.Connections), report.Count(rates.Median), report.Count(rates.Min)+" to "+report.Count(rates.Max),
			report.Span(r.P50), report.Span(r.P99), cpu)
	}
	fmt.Println(table.Text())
}

// A ratio compares the rates of a to those of b.
type ratio struct {
	name string
	a, b *measure.Result
}

func printRatios(ratios ...ratio) {
	table := report.NewTable(1, "ratio", "median and range")
	for _, r := range ratios {
		table.Row(r.name, measure.Ratio(r.a.Rates, r.b.Rates).String())
	}
	fmt.Println(table.Text())
}
