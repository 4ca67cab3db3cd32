package config

import (
	"slices"
	"strconv"

	"go.yaml.in/yaml/v4"

	"riffle/internal/access"
)

// A Log is a log besides the main one.
type Log struct {
	Name    string
	Retired bool // serve reads only

	at     position            // of the name
	values map[string]position // of the settings
}

func (f *File) readLogs(list *yaml.Node, newLog func() map[string]Setting) {
	if !f.isList("logs", list) {
		return
	}
	lines := map[string]int{} // by name
	for _, node := range list.Content {
		l := &Log{at: at(node), values: map[string]position{}}
		fields := map[string]func(*yaml.Node){}
		for name, setting := range newLog() {
			fields[name] = func(value *yaml.Node) { f.setIn(l.values, name, setting, value) }
		}
		fields["name"] = func(value *yaml.Node) {
			switch l.Name = f.name(value, "log", lines); l.Name {
			case "":
			case access.MainLog:
				f.mistake(at(value), "%s is the log without a prefix, whose settings stand outside of logs; choose another name", l.Name)
				l.Name = ""
			default:
				l.at = at(value)
			}
		}
		fields["retired"] = field(f, "retired", "true or false", &l.Retired, strconv.ParseBool)
		if f.mapping(node, "each of logs", fields) && l.Name == "" {
			f.mistake(at(node), "the log has no name; add name: ...")
		}
		f.Logs = append(f.Logs, l)
	}
}

// checkLogNames adds a mistake for each unknown log in keys and anonymous.
func (f *File) checkLogNames() {
	names := []string{access.MainLog}
	for _, l := range f.Logs {
		names = append(names, l.Name)
	}
	for _, node := range f.logNames {
		if !slices.Contains(names, node.Value) {
			f.mistake(at(node), "%s", unknown("log", node.Value, names))
		}
	}
}

// RefuseLog adds err as a mistake at a log's setting, or at its name if the file does not set it.
func (f *File) RefuseLog(l *Log, err error, setting string) {
	where, ok := l.values[setting]
	if !ok {
		where = l.at
	}
	f.mistake(where, "%v", err)
}
