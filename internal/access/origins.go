package access

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
)

// Origins are the web origins whose pages may write (Fetch Standard, 3.2). The zero value has none.
type Origins struct{ list map[string]bool }

// ParseOrigins parses origins, separated by commas, such as "https://game.example".
func ParseOrigins(list string) (Origins, error) {
	o := Origins{map[string]bool{}}
	for entry := range entries(list) {
		u, err := url.Parse(entry)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || strings.Contains(u.Host, "*") || entry != strings.ToLower(u.Scheme+"://"+u.Host) {
			return Origins{}, fmt.Errorf("%q is not an origin; accepted are scheme and host in lower case, with a port unless it is the usual one, such as https://game.example", entry)
		}
		o.list[entry] = true
	}
	return o, nil
}

// MarshalText returns the sorted origins for [ParseOrigins].
func (o Origins) MarshalText() ([]byte, error) {
	return []byte(strings.Join(slices.Sorted(maps.Keys(o.list)), ",")), nil
}

// UnmarshalText is [ParseOrigins].
func (o *Origins) UnmarshalText(list []byte) (err error) {
	*o, err = ParseOrigins(string(list))
	return err
}

// Allow reports whether an origin's pages may write.
func (o Origins) Allow(origin string) bool { return o.list[origin] }
