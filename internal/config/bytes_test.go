package config

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBytes(t *testing.T) {
	for text, want := range map[string]struct {
		bytes Bytes
		text  string // of String
	}{
		"67108864":  {64 << 20, "64MiB"},
		"64MiB":     {64 << 20, "64MiB"},
		"64 mib":    {64 << 20, "64MiB"},
		"64M":       {64e6, "62500KiB"},
		"1.5GiB":    {3 << 29, "1536MiB"},
		"1025":      {1025, "1025"},
		"0":         {0, "0"},
		"7EiB":      {7 << 60, "7516192768GiB"},
		"8EiB":      {-1, ""},
		"-1":        {-1, ""},
		"":          {-1, ""},
		"64 MiBit":  {-1, ""},
		"unlimited": {-1, ""},
	} {
		b := Bytes(-1)
		err := b.UnmarshalText([]byte(text))
		assert.Equalf(t, want.bytes, b, "%q is %d, %v", text, b, err)
		assert.Equalf(t, want.bytes < 0, err != nil, "%q: %v", text, err)
		if err == nil {
			assert.Equal(t, want.text, b.String())
		}
	}
}
