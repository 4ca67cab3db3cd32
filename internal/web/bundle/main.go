// Bundle makes the files of internal/web/static from the sources in web/, the names that pages refer
// to them by, and the list of those that the page /verify needs. It needs the packages that
// web/package.json names: npm ci in web/.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

func main() {
	if err := bundle("../../web", "static"); err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// entries are the sources that pages refer to. What they import is part of them.
var entries = []string{
	"table.tsx", "verify.tsx", "verify-worker.ts", "explore.tsx", "fairness.tsx", "lab/worker.ts", "lab/own.ts", "contract.tsx", "docs.ts",
	"theme.ts", "style.css", "contract-style.css",
}

// bundle replaces the files of a folder by those that it makes of the sources.
func bundle(sources, folder string) error {
	sources, err := filepath.Abs(sources)
	if err != nil {
		return err
	}
	if folder, err = filepath.Abs(folder); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(sources, "node_modules")); err != nil {
		return fmt.Errorf("the packages of the pages are missing: run npm ci in web: %w", err)
	}
	result := api.Build(api.BuildOptions{
		EntryPoints: entries, EntryNames: "[name]-[hash]", ChunkNames: "[name]-[hash]",
		External:      []string{"node:*"}, // of a verifier, when it is run as a program
		AbsWorkingDir: sources, Outdir: folder, Bundle: true, Splitting: true,
		Format: api.FormatESModule, Target: api.ES2022, Platform: api.PlatformBrowser,
		JSX: api.JSXAutomatic, JSXImportSource: "preact",
		MinifyWhitespace: true, MinifyIdentifiers: true, MinifySyntax: true,
		LegalComments: api.LegalCommentsEndOfFile, Metafile: true, LogLevel: api.LogLevelWarning,
	})
	if len(result.Errors) > 0 {
		return errors.New("the sources have errors")
	}
	var meta metafile
	if err := json.Unmarshal([]byte(result.Metafile), &meta); err != nil {
		return err
	}
	names := meta.names()
	own := names["lab/own"]
	names["lab/own"] = strings.TrimSuffix(own, ".js") + ".html"
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	for _, file := range result.OutputFiles {
		if filepath.Base(file.Path) == own { // which a frame runs, so it is a document
			file.Path = filepath.Join(folder, names["lab/own"])
			file.Contents = fmt.Appendf(nil, "<!doctype html><script>%s</script>\n", file.Contents)
		}
		if err := os.WriteFile(file.Path, file.Contents, 0o600); err != nil {
			return err
		}
	}
	if err := write(filepath.Join(folder, "names.json"), names); err != nil {
		return err
	}
	needed := []string{names["style"], names["theme"]}
	meta.load(names["verify"], &needed)
	return write(filepath.Join(folder, "verify.json"), needed)
}

// write writes a value as JSON.
func write(path string, value any) error {
	text, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
}

// A metafile says what esbuild made, by paths.
type metafile struct {
	Outputs map[string]struct {
		EntryPoint string
		Imports    []struct {
			Path     string
			External bool
		}
	}
}

// names returns the name of the file that each entry became.
func (m *metafile) names() map[string]string {
	names := map[string]string{}
	for path, output := range m.Outputs {
		if output.EntryPoint != "" {
			names[strings.TrimSuffix(output.EntryPoint, filepath.Ext(output.EntryPoint))] = filepath.Base(path)
		}
	}
	return names
}

// load adds a file and all that it imports to those that are loaded.
func (m *metafile) load(name string, loaded *[]string) {
	if slices.Contains(*loaded, name) {
		return
	}
	*loaded = append(*loaded, name)
	for path, output := range m.Outputs {
		if filepath.Base(path) != name {
			continue
		}
		for _, imported := range output.Imports {
			if !imported.External {
				m.load(filepath.Base(imported.Path), loaded)
			}
		}
	}
}
