package config

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"riffle/internal/access"
)

// A Log is a log beside the main one.
type Log struct {
	Name    string
	Retired bool // it answers reads only

	at     position            // of the name
	values map[string]position // where the value of each setting is
}

// readLogs reads the list of logs, each with settings of its own.
func (f *File) readLogs(list *yaml.Node, newLog func() map[string]Setting) {
	if !f.isList("logs", list) {
		return
	}
	lines := map[string]int{} // that the names are in
	for _, node := range list.Content {
		l := &Log{at: at(node), values: map[string]position{}}
		before := len(f.mistakes)
		fields := map[string]func(*yaml.Node){}
		for name, setting := range newLog() {
			fields[name] = func(value *yaml.Node) { f.setIn(l.values, name, setting, value) }
		}
		fields["name"] = func(value *yaml.Node) {
			if l.Name = f.logName(value, lines); l.Name != "" {
				l.at = at(value)
			}
		}
		fields["retired"] = func(value *yaml.Node) { l.Retired = f.boolean("retired", value) }
		if f.mapping(node, "each of logs", fields); len(f.mistakes) == before && l.Name == "" {
			f.mistake(at(node), "the log has no name; add name: ...")
		}
		f.Logs = append(f.Logs, l)
	}
}

// logName reads the name of a log, which no other log has.
func (f *File) logName(value *yaml.Node, lines map[string]int) string {
	name, ok := f.scalar("name", value)
	if !ok {
		return ""
	}
	err := access.CheckName(name)
	switch line := lines[name]; {
	case err != nil:
		f.mistake(at(value), "%v", err)
	case name == access.MainLog:
		f.mistake(at(value), "%s is the log without a prefix, whose settings stand outside of logs; choose another name", name)
	case line > 0:
		f.mistake(at(value), "duplicate name %.80q; the log in line %d has it already", name, line)
	default:
		lines[name] = value.Line
		return name
	}
	return ""
}

// boolean returns true or false.
func (f *File) boolean(name string, value *yaml.Node) bool {
	text, ok := f.scalar(name, value)
	if ok && text != "true" && text != "false" {
		f.mistake(at(value), "%s must be true or false, got %.80q", name, text)
	}
	return text == "true"
}

// checkLogNames adds a mistake for each log that a key is for and that there is not.
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

// RefuseLog adds a mistake: the service cannot run with what the file gives a setting of a log.
func (f *File) RefuseLog(l *Log, err error, setting string) {
	where, ok := l.values[setting]
	if !ok {
		where = l.at
	}
	f.mistake(where, "%v", err)
}
