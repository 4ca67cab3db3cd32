package main

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"riffle/internal/shuffle/shuffletest"
)

// orders is a program whose shuffle is to be measured, for the scripts: orders naive 52 1000 prints a
// thousand orders of 52.
func orders() {
	n, _ := strconv.Atoi(os.Args[2])
	runs, _ := strconv.Atoi(os.Args[3])
	out := bufio.NewWriter(os.Stdout)
	writeOrders(out, os.Args[1], n, runs)
	_ = out.Flush()
}

// An intSource draws integers as package naive does.
type intSource struct{ *rand.Rand }

func (s intSource) Uint64n(n uint64) uint64 { return s.Uint64N(n) }

func writeOrders(out io.Writer, name string, n, runs int) {
	src := rand.New(rand.NewChaCha8(sha256.Sum256([]byte(name))))
	a := make([]int, n)
	for run := range runs {
		if name != "twice" || run%2 == 0 {
			for i := range a {
				a[i] = i
			}
			shuffles[name](a, src)
		}
		fmt.Fprintln(out, strings.Trim(fmt.Sprint(a), "[]"))
	}
}

// fromLater swaps each place but the last with a later one, or from itself on if least is 0.
func fromLater(a []int, least int, below func(n int) int) {
	for i := range len(a) - 1 {
		j := i + least + below(len(a)-i-least)
		a[i], a[j] = a[j], a[i]
	}
}

// shuffles are right and wrong ones.
var shuffles = map[string]func(a []int, src *rand.Rand){
	"fair":    func(a []int, src *rand.Rand) { fromLater(a, 0, src.IntN) },
	"twice":   func(a []int, src *rand.Rand) { fromLater(a, 0, src.IntN) },
	"long":    func([]int, *rand.Rand) {},
	"none":    func([]int, *rand.Rand) {},
	"naive":   func(a []int, src *rand.Rand) { shuffletest.Shuffle(a, intSource{src}) },
	"sattolo": func(a []int, src *rand.Rand) { fromLater(a, 1, src.IntN) },
	"last":    func(a []int, src *rand.Rand) { fromLater(a[:len(a)-1], 0, src.IntN) },
	"modulo":  func(a []int, src *rand.Rand) { fromLater(a, 0, func(n int) int { return src.IntN(512) % n }) },
	"seed":    func(a []int, src *rand.Rand) { fromLater(a, 0, rand.New(rand.NewPCG(src.Uint64()>>48, 0)).IntN) },
	"comparator": func(a []int, src *rand.Rand) {
		slices.SortStableFunc(a, func(int, int) int { return 2*src.IntN(2) - 1 })
	},
	"riffles": func(a []int, src *rand.Rand) {
		for range 3 {
			cut := 0
			for range a {
				cut += src.IntN(2)
			}
			left, right := slices.Clone(a[:cut]), slices.Clone(a[cut:])
			for at := range a {
				if src.IntN(len(left)+len(right)) < len(left) {
					a[at], left = left[0], left[1:]
				} else {
					a[at], right = right[0], right[1:]
				}
			}
		}
	},
}

// FuzzOrders reads whatever lines there are. What is read is an order of the items.
func FuzzOrders(f *testing.F) {
	for _, seed := range []string{"1 2 3\n3 2 1\n", "a,b\nb,a", `["a","b"]`, "[1,2]\n[2 1]", "\ufeff0 1\r\n1 0\r\n", "[", "\x00", ",", "[]", `["\ud800","b"]`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		reader := newOrderReader(strings.NewReader(text))
		for {
			order, err := reader.next()
			if err != nil {
				if !errors.Is(err, io.EOF) && !strings.HasPrefix(err.Error(), "line ") {
					t.Errorf("the error does not say where it is: %v", err)
				}
				return
			}
			sorted := slices.Sorted(slices.Values(order))
			for i, item := range sorted {
				require.Equalf(t, i, int(item), "%d is no order of %q", order, reader.items)
				require.Lenf(t, sorted, len(reader.items), "%d is no order of %q", order, reader.items)
			}
		}
	})
}
