package config

import (
	"errors"
	"math"
	"strconv"

	"github.com/dustin/go-humanize"
)

// Bytes is a number of bytes, in texts such as 67108864, 64MiB or 64MB.
type Bytes int64

// UnmarshalText implements [encoding.TextUnmarshaler].
func (b *Bytes) UnmarshalText(text []byte) error {
	n, err := humanize.ParseBytes(string(text))
	if err != nil || n > math.MaxInt64 {
		return errors.New("it must be a number of bytes, such as 67108864, 64MiB or 64MB")
	}
	*b = Bytes(n)
	return nil
}

// MarshalText implements [encoding.TextMarshaler].
func (b Bytes) MarshalText() ([]byte, error) { return []byte(b.String()), nil }

// String returns b with the largest unit that loses no byte, such as 64MiB.
func (b Bytes) String() string {
	for i, unit := range []string{"GiB", "MiB", "KiB"} {
		if size := Bytes(1) << (30 - 10*i); b >= size && b%size == 0 {
			return strconv.FormatInt(int64(b/size), 10) + unit
		}
	}
	return strconv.FormatInt(int64(b), 10)
}
