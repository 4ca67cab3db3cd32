package access

import (
	"fmt"
	"net/url"
	"strings"
)

// Origins are the web origins whose pages may write (Fetch Standard, 3.2). The zero value has none.
type Origins struct{ set }

// UnmarshalText parses origins, separated by commas, such as "https://game.example".
func (o *Origins) UnmarshalText(list []byte) error {
	*o = Origins{set{}}
	for entry := range entries(string(list)) {
		u, err := url.Parse(entry)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Contains(u.Host, "*") || entry != strings.ToLower(u.Scheme+"://"+u.Host) {
			return fmt.Errorf("%q is not an origin; accepted are scheme and host in lower case, with a port unless it is the usual one, such as https://game.example", entry)
		}
		o.set[entry] = true
	}
	return nil
}

// Allow reports whether an origin's pages may write.
func (o Origins) Allow(origin string) bool { return o.set[origin] }
