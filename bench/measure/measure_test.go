package measure

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"riffle/bench/load"
)

func TestPercentiles(t *testing.T) {
	var hundred []time.Duration
	for i := range 100 {
		hundred = append(hundred, time.Duration(i+1))
	}
	for _, test := range []struct {
		list []time.Duration
		p    float64
		want time.Duration
	}{
		{hundred, 50, 50},
		{hundred, 90, 90},
		{hundred, 99, 99},
		{hundred, 100, 100},
		{hundred, 0, 1},
		{hundred, 99.5, 100},
		{hundred[:1], 50, 1},
		{hundred[:1], 99, 1},
		{hundred[:3], 50, 2},
		{hundred[:10], 99, 10},
	} {
		if got := Percentile(test.list, test.p); got != test.want {
			t.Errorf("the %gth percentile of %d is %d, want %d", test.p, len(test.list), got, test.want)
		}
	}
}

func TestMedianAndRatio(t *testing.T) {
	if got := Median([]float64{9, 1, 5}); got != 5 {
		t.Errorf("median %g, want 5", got)
	}
	if got := Median([]time.Duration{8, 1, 2, 4}); got != 3 {
		t.Errorf("median %d, want 3", got)
	}
	got := Ratio([]float64{10, 20, 90}, []float64{20, 20, 30})
	if want := (Spread{1, 0.5, 3}); got != want || got.String() != "1.00x (0.50 to 3.00)" {
		t.Errorf("ratio %v, want %v", got, want)
	}
}

// TestAlternate runs two contenders whose n-th run has n responses of n ms each, the second of them
// twice as many.
func TestAlternate(t *testing.T) {
	var order []string
	contender := func(name string, times int) *Contender {
		n := 0
		return &Contender{Name: name, Connections: 7, Run: func(context.Context) (*load.Tally, error) {
			order = append(order, name)
			n++
			tally := &load.Tally{Took: time.Second}
			for range n * times {
				tally.Latencies = append(tally.Latencies, time.Duration(n)*time.Millisecond)
			}
			return tally, nil
		}}
	}
	results, err := Alternate(t.Context(), Runs{Count: 3, Length: time.Second}, contender("a", 1), contender("b", 2))
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"a", "b", "b", "a", "a", "b", "b", "a"}; !slices.Equal(order, want) {
		t.Errorf("runs %v, want %v", order, want)
	}
	a, b := results[0], results[1]
	if a.Name != "a" || b.Name != "b" || a.Connections != 7 {
		t.Errorf("results of %q and %q", a.Name, b.Name)
	}
	// The first run does not count.
	if want := []float64{2, 3, 4}; !slices.Equal(a.Rates, want) || a.Rate() != 3 {
		t.Errorf("rates %v, want %v", a.Rates, want)
	}
	if got := Ratio(b.Rates, a.Rates); got != (Spread{2, 2, 2}) {
		t.Errorf("ratio %v, want 2", got)
	}
	ms := time.Millisecond
	if !slices.Equal(a.Tails, []time.Duration{2 * ms, 3 * ms, 4 * ms}) || a.P50 != 3*ms || a.Max != 4*ms {
		t.Errorf("latencies %v, median %s, max %s", a.Tails, a.P50, a.Max)
	}
}

func TestAlternateFails(t *testing.T) {
	broken := errors.New("broken")
	for name, run := range map[string]func(context.Context) (*load.Tally, error){
		"a failing run":   func(context.Context) (*load.Tally, error) { return nil, broken },
		"no responses":    func(context.Context) (*load.Tally, error) { return &load.Tally{Took: 1}, nil },
		"a run cut short": nil,
	} {
		ctx, cancel := context.WithCancel(t.Context())
		if run == nil {
			run = func(context.Context) (*load.Tally, error) {
				cancel()
				return &load.Tally{Latencies: []time.Duration{1}}, nil
			}
		}
		if _, err := Alternate(ctx, Runs{Count: 1, Length: time.Second}, &Contender{Run: run}); err == nil {
			t.Errorf("%s passes", name)
		}
		cancel()
	}
}

func TestLoopRunsAtLeastOnce(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	tally, err := Loop("", func() (time.Duration, error) { return 3, nil }).Run(ctx)
	if err != nil || len(tally.Latencies) != 1 || tally.Took != 3 {
		t.Errorf("%+v, %v", tally, err)
	}
}
