// Bundle makes the files of internal/web/static from the sources in web/, and the names that pages
// refer to them by. It needs the packages that web/package.json names: npm ci in web/.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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
	names, err := namesOf(result.Metafile)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.Mkdir(folder, 0o750); err != nil {
		return err
	}
	for _, file := range result.OutputFiles {
		if err := os.WriteFile(file.Path, file.Contents, 0o600); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(names, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "names.json"), append(text, '\n'), 0o600)
}

// namesOf returns the name of the file that each entry became.
func namesOf(metafile string) (map[string]string, error) {
	var meta struct {
		Outputs map[string]struct{ EntryPoint string }
	}
	if err := json.Unmarshal([]byte(metafile), &meta); err != nil {
		return nil, err
	}
	names := map[string]string{}
	for path, output := range meta.Outputs {
		if output.EntryPoint != "" {
			names[strings.TrimSuffix(output.EntryPoint, filepath.Ext(output.EntryPoint))] = filepath.Base(path)
		}
	}
	return names, nil
}
