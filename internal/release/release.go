// Package release says which build of Riffle is running.
package release

import (
	"cmp"
	"fmt"
	"runtime/debug"
	"strings"
)

// version, commit and date are set by the linker for a release and for an image, whose build has no
// Git repository. Any other build from a clone takes them from what Go recorded.
var version, commit, date string

// A Build is a version with its commit and the time of that commit, in RFC 3339. What is not known is
// "unknown", and the version of a build outside a repository "dev".
type Build struct{ Version, Commit, Date string }

// Current returns the build of this program.
func Current() Build {
	recorded := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		recorded["version"] = strings.TrimPrefix(info.Main.Version, "(devel)")
		for _, s := range info.Settings {
			recorded[s.Key] = s.Value
		}
	}
	return Build{
		Version: cmp.Or(version, recorded["version"], "dev"),
		Commit:  cmp.Or(commit, recorded["vcs.revision"], "unknown"),
		Date:    cmp.Or(date, recorded["vcs.time"], "unknown"),
	}
}

// String returns the line that the programs print.
func (b Build) String() string {
	return fmt.Sprintf("riffle %s, commit %s of %s", b.Version, b.Commit, b.Date)
}
