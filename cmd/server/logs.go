package main

import (
	"errors"
	"flag"
	"io"
	"slices"

	"riffle/internal/config"
	"riffle/internal/logs"
)

// newLog adds a log besides the main one, and returns its settings for the configuration file to set.
func (o *options) newLog() map[string]config.Setting {
	l := &logs.Settings{}
	f := flag.NewFlagSet("logs", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	addLogFlags(f, l)
	o.logs, o.logFlags = append(o.logs, l), append(o.logFlags, f)
	settings := map[string]config.Setting{}
	f.VisitAll(func(fl *flag.Flag) {
		settings[fl.Name] = config.Setting{Set: func(value string) error { return setFlag(f, fl, value) }}
	})
	return settings
}

// completeLogs sets names and folders of the file's logs. They inherit decks, deadline and create
// from the main log.
func (o *options) completeLogs(file *config.File) {
	main := o.mainLog()
	for i, l := range o.logs[1:] {
		l.Name, l.Retired = file.Logs[i].Name, file.Logs[i].Retired
		l.Folder = logs.FolderFor(main.Folder, l.Name)
		given := given(o.logFlags[i])
		for _, inherited := range []string{"decks", "deadline", "create"} {
			if !given[inherited] {
				_ = o.logFlags[i].Set(inherited, o.flags.Lookup(inherited).Value.String()) // valid there
			}
		}
	}
}

// checkLogs checks the logs besides the main one.
func (o *options) checkLogs(file *config.File) {
	for i, l := range o.logs[1:] {
		l.Check(func(setting, rule string) { file.RefuseLog(file.Logs[i], errors.New(setting+" "+rule), setting) })
	}
	logs.CheckDistinct(o.logs, func(log int, setting string, err error) { file.RefuseLog(file.Logs[log-1], err, setting) })
}

func (o *options) mainLog() *logs.Settings { return o.logs[0] }

// logNames returns the names of the logs besides the main one.
func (o *options) logNames() []string {
	names := []string{}
	for _, l := range o.logs[1:] {
		names = append(names, l.Name)
	}
	return names
}

// find returns the settings of the log with this name, or nil.
func (o *options) find(name string) *logs.Settings {
	if i := slices.IndexFunc(o.logs, func(l *logs.Settings) bool { return l.Name == name }); i >= 0 {
		return o.logs[i]
	}
	return nil
}
