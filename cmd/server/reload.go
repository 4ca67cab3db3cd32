package main

import (
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"reflect"
	"slices"

	"riffle/internal/config"
)

// A reloader applies changes of the configuration file while the service runs.
type reloader struct {
	parse   func() (*options, error)
	logger  *slog.Logger
	running *options // the current settings

	live       map[string]func() // apply a setting of running, by its name; other settings need a restart
	setCallers func(callers)
	reloadTLS  func(*config.TLS) (changed, ok bool) // ok is false if the change needs a restart
	openShoes  func(log string) (uint64, error)     // counts them
}

// reload reads the file, and applies and logs its changes. It warns of changes that need a restart,
// each time. A file with a mistake changes nothing.
func (r *reloader) reload() {
	file := r.running.config
	if file == "" {
		r.logger.Warn("nothing to reload, since the service was started without --config")
		return
	}
	o, err := r.parse()
	if err == nil {
		err = cmp.Or(r.checkCallers(o), r.checkRemoved(o))
	}
	if err != nil {
		r.logger.Error("reloading failed, and nothing was changed", "file", file, "mistakes", lines(err))
		return
	}
	var changed []any
	o.flags.VisitAll(func(fl *flag.Flag) {
		value := fl.Value.String()
		if value == r.running.flags.Lookup(fl.Name).Value.String() {
			return
		}
		apply, ok := r.live[fl.Name]
		if !ok {
			r.warn(fl.Name, value)
			return
		}
		_ = r.running.flags.Set(fl.Name, value) // valid, since it was parsed
		apply()
		changed = append(changed, slog.String(fl.Name, value))
	})
	if names := changedLogs(r.running, o); len(names) > 0 {
		r.logger.Warn("logs changed in "+file+"; they apply after a restart", "setting", "logs", "logs", names)
	}
	if !reflect.DeepEqual(o.callers, r.running.callers) {
		r.running.callers = o.callers
		r.setCallers(o.callers)
		changed = append(changed, slog.Any("keys", o.callers.names()), slog.Bool("anonymous", o.callers.anonymous != nil))
	}
	if other, ok := r.reloadTLS(o.tls); !ok {
		r.warn("tls", "")
	} else if other {
		changed = append(changed, slog.Bool("certificate", true))
	}
	r.logger.Info("reloaded", "file", file, slog.Group("changed", changed...))
}

// warn logs that a changed setting needs a restart.
func (r *reloader) warn(name, value string) {
	to := " to " + value
	if name == "store" || name == "tls" { // a store's URL may have a password; tls has several values
		to = ""
	}
	r.logger.Warn(name+" changed"+to+" in "+r.running.config+"; it applies after a restart", "setting", name)
}

// checkCallers returns an error if the file, which may be truncated, no longer mentions callers:
// everybody could do everything.
func (r *reloader) checkCallers(o *options) error {
	if o.callers.given() || !r.running.callers.given() {
		return nil
	}
	return config.Mistakes{{Path: r.running.config, Text: "there are no keys any more, so that everybody could do everything; " +
		"if that is wanted, say so with anonymous: {may: [shuffle, deal, read, metrics]}"}}
}

// checkRemoved returns an error if the file no longer names a log that may have open shoes.
func (r *reloader) checkRemoved(o *options) error {
	var mistakes config.Mistakes
	for _, name := range r.running.logNames() {
		if o.find(name) != nil {
			continue
		}
		open, err := r.openShoes(name)
		because := fmt.Sprintf("has %d open shoes", open)
		if err != nil {
			because = fmt.Sprintf("may have open shoes (%s)", oneLine(err))
		}
		if open > 0 || err != nil {
			mistakes = append(mistakes, config.Mistake{Path: r.running.config, Text: fmt.Sprintf(
				"the log %s is not named any more, and %s; name it with retired: true, which still shows them, or close them first", name, because)})
		}
	}
	if len(mistakes) > 0 {
		return mistakes
	}
	return nil
}

// changedLogs returns the names of logs that the file adds, changes or removes.
func changedLogs(running, file *options) []string {
	names := slices.Concat(running.logNames(), file.logNames())
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool {
		return reflect.DeepEqual(running.find(name), file.find(name))
	})
}
