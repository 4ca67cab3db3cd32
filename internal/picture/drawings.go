package picture

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"sync"
)

//go:embed drawings
var drawingFiles embed.FS

// drawings returns the content of each SVG file in the folder drawings, by its path without
// "drawings/" and ".svg".
var drawings = sync.OnceValue(func() map[string]string {
	all := map[string]string{}
	err := fs.WalkDir(drawingFiles, "drawings", func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, _ := drawingFiles.ReadFile(file)
		name := strings.TrimSuffix(strings.TrimPrefix(file, "drawings/"), ".svg")
		if all[name], err = content(string(text)); err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		return nil
	})
	if err != nil {
		panic(err) // the files are part of the program
	}
	return all
})

var (
	svgElement  = regexp.MustCompile(`(?s)<svg\b[^>]*>(.*)</svg>`)
	betweenTags = regexp.MustCompile(`>\s+<`)
)

// content returns the markup inside the svg element of a file, without white space between tags.
func content(text string) (string, error) {
	found := svgElement.FindStringSubmatch(text)
	if found == nil {
		return "", errors.New("no svg element")
	}
	return betweenTags.ReplaceAllString(strings.TrimSpace(found[1]), "><"), nil
}
