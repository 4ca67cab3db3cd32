package main

import (
	"flag"
	"log/slog"
	"reflect"

	"riffle/internal/config"
)

// reload applies and logs the changes in the configuration file, which was parsed to o or has the
// mistakes err. It warns of changes that need a restart, each time. A file with a mistake changes
// nothing.
func (s *service) reload(level *slog.LevelVar, o *options, err error) {
	running := s.options
	if running.config == "" {
		s.logger.Warn("nothing to reload, since the service was started without --config")
		return
	}
	if err == nil {
		err = s.checkCallers(o)
	}
	if err != nil {
		s.logger.Error("reloading failed, and nothing was changed", "file", running.config, "mistakes", lines(err))
		return
	}
	live := map[string]func(){
		"hosts":        func() { s.handler.SetHosts(running.api.Hosts) },
		"log-level":    func() { level.Set(running.logLevel) },
		"cors-origins": func() { s.handler.SetOrigins(running.api.Origins) },
	}
	var changed []any
	before, after := given(running.flags), given(o.flags)
	o.flags.VisitAll(func(fl *flag.Flag) {
		value := fl.Value.String()
		if value == running.flags.Lookup(fl.Name).Value.String() || !before[fl.Name] && !after[fl.Name] { // or fit has chosen
			return
		}
		apply, ok := live[fl.Name]
		if !ok {
			s.warn(fl.Name, value)
			return
		}
		_ = running.flags.Set(fl.Name, value) // valid, since it was parsed
		apply()
		changed = append(changed, slog.String(fl.Name, value))
	})
	if !reflect.DeepEqual(o.callers, running.callers) {
		running.callers = o.callers
		s.handler.SetPolicy(o.callers.policy())
		changed = append(changed, slog.Any("keys", o.callers.names()), slog.Bool("anonymous", o.callers.anonymous != nil))
	}
	if !s.certificates.reload(o.tls) {
		s.warn("tls", "")
	}
	s.logger.Info("reloaded", "file", running.config, slog.Group("changed", changed...))
}

// warn logs that a changed setting needs a restart.
func (s *service) warn(name, value string) {
	to := " to " + value
	if name == "store" || name == "tls" { // a store's URL may have a password; tls has several values
		to = ""
	}
	s.logger.Warn(name+" changed"+to+" in "+s.options.config+"; it applies after a restart", "setting", name)
}

// checkCallers returns an error if the file, which may be truncated, no longer mentions callers:
// everybody could do everything.
func (s *service) checkCallers(o *options) error {
	if o.callers.given() || !s.options.callers.given() {
		return nil
	}
	return config.Mistakes{{Path: s.options.config, Text: "there are no keys any more, so that everybody could do everything; " +
		"if that is wanted, say so with anonymous: {may: [shuffle, deal, read, metrics]}"}}
}
