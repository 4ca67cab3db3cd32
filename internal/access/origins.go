package access

import (
	"fmt"
	"net/url"
	"strings"
)

// Origins are the web origins whose pages may write (Fetch Standard, 3.2). The zero value has none.
type Origins struct{ set }

// ParseOrigins parses origins, separated by commas, such as "https://game.example".
func ParseOrigins(list string) (Origins, error) {
	o := Origins{set{}}
	for entry := range entries(list) {
		u, err := url.Parse(entry)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Contains(u.Host, "*") || entry != strings.ToLower(u.Scheme+"://"+u.Host) {
			return Origins{}, fmt.Errorf("%q is not an origin; accepted are scheme and host in lower case, with a port unless it is the usual one, such as https://game.example", entry)
		}
		o.set[entry] = true
	}
	return o, nil
}

// UnmarshalText is [ParseOrigins].
func (o *Origins) UnmarshalText(list []byte) (err error) {
	*o, err = ParseOrigins(string(list))
	return err
}

// Allow reports whether an origin's pages may write.
func (o Origins) Allow(origin string) bool { return o.set[origin] }
