package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"riffle/internal/access"
	"riffle/internal/config"
	"riffle/internal/ledger"
)

// logOptions are the settings of a log. Those of the main log are flags; those of another have the
// same names in the list logs of the configuration file.
type logOptions struct {
	name    string
	data    string // its folder
	retired bool   // it answers reads only

	store       string
	create      string
	key         string
	seedKey     []byte
	seedKeyFile string
	origin      string
	deadline    time.Duration
	decks       string
}

// check refuses settings that no log can have. It calls refuse with the reason and the setting.
func (l *logOptions) check(refuse func(err error, setting string)) {
	dash := ""
	if l.name == access.MainLog {
		dash = "-"
	}
	if l.create != createAuto && l.create != createNever {
		refuse(fmt.Errorf("%screate must be auto or never, got %s", dash, strconv.Quote(l.create)), "create")
	}
	if l.deadline < time.Second || l.deadline > 30*24*time.Hour {
		refuse(fmt.Errorf("%sdeadline must be from 1s to 720h, got %v", dash, l.deadline), "deadline")
	}
	if l.store != "" && !strings.HasPrefix(l.store, "postgres://") && !strings.HasPrefix(l.store, "postgresql://") {
		refuse(fmt.Errorf("%sstore must be the URL of a PostgreSQL database, such as postgres://user@host/name; leave it out for SQLite in the data folder", dash), "store")
	}
}

// keyFile returns the file of the log's private key.
func (l *logOptions) keyFile() string {
	return filepath.Clean(cmp.Or(l.key, filepath.Join(l.data, ledger.KeyName)))
}

// mustExist reports whether the log must not be begun.
func (l *logOptions) mustExist() bool { return l.create == createNever || l.retired }

// database returns the database of a PostgreSQL URL, without user and password.
func (l *logOptions) database() string {
	u, err := url.Parse(l.store)
	if err != nil || l.store == "" {
		return l.store
	}
	if u.Port() == "" {
		u.Host += ":5432"
	}
	return strings.ToLower(u.Host) + u.Path + "?" + u.Query().Encode()
}

// logsFolder is the folder within the data folder that has the folders of the logs.
const logsFolder = "logs"

// newLog returns the settings of another log, for the configuration file to set.
func (o *options) newLog() map[string]config.Setting {
	l := &logOptions{}
	f := flag.NewFlagSet("logs", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	l.addFlags(f)
	o.more, o.moreFlags = append(o.more, l), append(o.moreFlags, f)
	settings := map[string]config.Setting{}
	f.VisitAll(func(fl *flag.Flag) {
		settings[fl.Name] = config.Setting{Set: func(value string) error { return setFlag(f, fl, value) }}
	})
	return settings
}

// completeLogs gives the logs of a file their names and folders, and what the file does not say of
// them: the decks, the deadline and when to begin a log are those of the main log.
func (o *options) completeLogs(file *config.File) {
	for i, l := range o.more {
		l.name, l.retired = file.Logs[i].Name, file.Logs[i].Retired
		l.data = filepath.Join(o.data, logsFolder, l.name)
		given := given(o.moreFlags[i])
		if !given["decks"] {
			l.decks = o.decks
		}
		if !given["deadline"] {
			l.deadline = o.deadline
		}
		if !given["create"] {
			l.create = o.create
		}
	}
}

// checkLogs refuses logs that cannot run, or not with each other: two logs with one store, one key
// or one origin would be two histories of one log.
func (o *options) checkLogs(file *config.File) {
	owner := map[string]string{} // of what only one log may have
	for i, l := range o.logs() {
		refuse := func(err error, setting string) {
			if i > 0 {
				file.RefuseLog(file.Logs[i-1], err, setting)
			}
		}
		if i > 0 {
			l.check(refuse)
		}
		for _, own := range []struct{ setting, value string }{{"store", l.database()}, {"key", l.keyFile()}, {"origin", l.origin}} {
			if own.value == "" {
				continue
			}
			id := own.setting + " " + own.value
			if other, taken := owner[id]; taken {
				refuse(fmt.Errorf("the log %s has this %s already, and each log has its own", other, own.setting), own.setting)
				continue
			}
			owner[id] = l.name
		}
	}
}

// logs returns the settings of all logs, the main one first.
func (o *options) logs() []*logOptions { return append([]*logOptions{&o.logOptions}, o.more...) }

// logNames returns the names of the logs besides the main one.
func (o *options) logNames() []string {
	names := []string{}
	for _, l := range o.more {
		names = append(names, l.name)
	}
	return names
}

// find returns the settings of the log of a name, or nil.
func (o *options) find(name string) *logOptions {
	list := o.logs()
	if i := slices.IndexFunc(list, func(l *logOptions) bool { return l.name == name }); i >= 0 {
		return list[i]
	}
	return nil
}
