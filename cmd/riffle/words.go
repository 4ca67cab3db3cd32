package main

import (
	"embed"
	"strings"
	"sync"
	"text/template"

	"riffle/internal/audit/message"
)

//go:embed *.tmpl
var templateFiles embed.FS

// templates say what is found to people.
var templates = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("").Funcs(template.FuncMap{
		"comma": comma, "plural": plural, "decimal": decimal, "probability": pValue, "value": func(n *int) int { return *n },
		"mark": markOf, "join": strings.Join, "printable": message.Printable,
	}).ParseFS(templateFiles, "*.tmpl"))
})

// words returns what a template says about values.
func words(name string, values any) string {
	var text strings.Builder
	if err := templates().ExecuteTemplate(&text, name, values); err != nil {
		panic(err) // it is embedded
	}
	return text.String()
}
