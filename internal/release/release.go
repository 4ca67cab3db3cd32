// Package release says which build of Riffle is running.
package release

import (
	"fmt"
	"runtime/debug"
)

// version, commit and date are set by the linker for a release and for an image, whose build has no
// Git repository. Any other build from a clone takes them from what Go recorded.
var version, commit, date string

// A Build is a version with its commit and the time of that commit, in RFC 3339. What is not known is
// "unknown", and the version of a build outside a repository "dev".
type Build struct{ Version, Commit, Date string }

// Current returns the build of this program.
func Current() Build {
	b := Build{version, commit, date}
	set := func(to *string, value string) {
		if *to == "" {
			*to = value
		}
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if info.Main.Version != "(devel)" {
			set(&b.Version, info.Main.Version)
		}
		for _, s := range info.Settings {
			switch s.Key {
			case "vcs.revision":
				set(&b.Commit, s.Value)
			case "vcs.time":
				set(&b.Date, s.Value)
			}
		}
	}
	set(&b.Version, "dev")
	set(&b.Commit, "unknown")
	set(&b.Date, "unknown")
	return b
}

// String returns the line that the programs print.
func (b Build) String() string {
	return fmt.Sprintf("riffle %s, commit %s of %s", b.Version, b.Commit, b.Date)
}
