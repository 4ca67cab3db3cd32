package config

import (
	"fmt"
	"slices"

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
			if l.Name = f.logName(value, lines); l.Name != "" {
				l.at = at(value)
			}
		}
		fields["retired"] = func(value *yaml.Node) {
			l.Retired = parsed(f, "retired", "true or false", value, func(text string) (bool, bool) {
				return text == "true", text == "true" || text == "false"
			})
		}
		if f.mapping(node, "each of logs", fields) && l.Name == "" {
			f.mistake(at(node), "the log has no name; add name: ...")
		}
		f.Logs = append(f.Logs, l)
	}
}

// logName reads a log's name, which must be unique.
func (f *File) logName(value *yaml.Node, lines map[string]int) string {
	name, ok := f.name(value)
	switch line := lines[name]; {
	case !ok:
	case name == access.MainLog:
		f.mistake(at(value), "%s is the log without a prefix, whose settings stand outside of logs; choose another name", name)
	case line > 0:
		f.once(value, fmt.Sprintf("name %.80q; the log", name), line)
	default:
		lines[name] = value.Line
		return name
	}
	return ""
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
