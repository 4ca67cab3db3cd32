package access

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOrigins(t *testing.T) {
	var o Origins
	require.NoError(t, o.UnmarshalText([]byte(" https://game.example, http://localhost:5173 ,")))
	for origin, want := range map[string]bool{
		"https://game.example": true, "http://localhost:5173": true,
		"http://game.example": false, "https://game.example:443": false, "https://a.game.example": false,
		"https://game.example.evil": false, "null": false, "": false, "*": false,
	} {
		assert.Equalf(t, want, o.Allow(origin), "%q may write: %v, want", origin, !want)
	}
	for _, list := range []string{"*", "null", "game.example", "https://game.example/", "https://Game.example", "https://*.example", "ftp://a", "https://a?b", "https://u@a"} {
		assert.Errorf(t, new(Origins).UnmarshalText([]byte(list)), "%q is taken for an origin", list)
	}
}
