package beacon_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"riffle/internal/beacon"
)

// published are signatures that quicknet published.
var published = map[beacon.Round]string{
	123:  "b75c69d0b72a5d906e854e808ba7e2accb1542ac355ae486d591aa9d43765482e26cd02df835d3546d23c4b13e0dfc92",
	1000: "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e39",
	1001: "b33bf3667cbd5a82de3a24b4e0e9fe5513cc1a0e840368c6e31f5fcfa79bea03f73896b25883abf2853d10337fb8fa41",
}

func TestCheck(t *testing.T) {
	for round, signature := range published {
		require.NoError(t, round.Check(signature))
	}
	for name, signature := range map[string]string{
		"nothing":              "",
		"another round":        published[1001],
		"capitals":             strings.ToUpper(published[1000]),
		"a digit less":         published[1000][1:],
		"a byte more":          published[1000] + "00",
		"no hex":               "x" + published[1000][1:],
		"a flipped bit":        "b44679b9a59af2ec876b1a6b1ad52ea9b1615fc3982b19576350f93447cb1125e342b73a8dd2bacbe47e4b6b63ed5e38",
		"the other root":       "9" + published[1000][1:],
		"not compressed":       "3" + published[1000][1:],
		"both coordinates":     "1" + published[1000][1:] + "11f92e4521ef54f047b64b85fa98db2d46f0f44add1f60b93f8a0dbddd63b34f238657c2d93aed18b90bddd60a01b6d2",
		"identity":             "c0" + strings.Repeat("00", 47),
		"not on the curve":     "80" + strings.Repeat("00", 46) + "01",
		"not in the group":     "80" + strings.Repeat("00", 46) + "04",
		"coordinate too large": "9a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab",
	} {
		assert.EqualError(t, beacon.Round(1000).Check(signature), "not the signature of quicknet 1000, which has 96 hex digits in lower case", name)
	}
}

// The first round was on 23 August 2023 at 15:09:27, and one follows every three seconds.
func TestTimes(t *testing.T) {
	first := time.Date(2023, 8, 23, 15, 9, 27, 0, time.UTC)
	assert.Equal(t, first, beacon.Round(1).Time())
	assert.Equal(t, first.Add(999*3*time.Second), beacon.Round(1000).Time())
	for after, round := range map[time.Duration]beacon.Round{
		-time.Hour: 1, 0: 1, 1: 2, 3 * time.Second: 2, 3*time.Second + 1: 3, 2997 * time.Second: 1000,
	} {
		assert.Equal(t, round, beacon.From(first.Add(after)), "after %s", after)
	}
}

func TestParse(t *testing.T) {
	round, isKnown := beacon.Parse(beacon.Round(1000).String())
	assert.True(t, isKnown && round == 1000, "%v", round)
	for _, text := range []string{"", "quicknet", "quicknet ", "quicknet x", "evmnet 1000", "quicknet 99999999999999999"} {
		_, isKnown := beacon.Parse(text)
		assert.False(t, isKnown, text)
	}
}
