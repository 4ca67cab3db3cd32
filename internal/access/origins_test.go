package access

import "testing"

func TestOrigins(t *testing.T) {
	o, err := ParseOrigins(" https://game.example, http://localhost:5173 ,")
	if err != nil {
		t.Fatal(err)
	}
	for origin, want := range map[string]bool{
		"https://game.example": true, "http://localhost:5173": true,
		"http://game.example": false, "https://game.example:443": false, "https://a.game.example": false,
		"https://game.example.evil": false, "null": false, "": false, "*": false,
	} {
		if o.Allow(origin) != want {
			t.Errorf("%q may write: %v, want %v", origin, !want, want)
		}
	}
	for _, list := range []string{"*", "null", "game.example", "https://game.example/", "https://Game.example", "https://*.example", "ftp://a", "https://a?b", "https://u@a"} {
		if o, err := ParseOrigins(list); err == nil {
			t.Errorf("%q is taken for an origin: %v", list, o)
		}
	}
}
