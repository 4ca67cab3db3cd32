package main

import (
	"cmp"
	"os"
	"path/filepath"

	"riffle/internal/access"
)

// A logName names one of the logs of a service; empty for the main one.
type logName string

// Validate implements kong's check of a value.
func (n logName) Validate() error {
	if n == "" || n == access.MainLog {
		return nil
	}
	return access.CheckName(string(n))
}

// named reports whether the log is not the main one.
func (n logName) named() bool { return n != "" && n != access.MainLog }

// folder returns the folder of the log, whose service has the data folder.
func (n logName) folder(data string) string {
	data = cmp.Or(data, "./data")
	if n.named() {
		return filepath.Join(data, "logs", string(n))
	}
	return data
}

// setting returns the log's own setting. A service's variables are for its main log, so they do not
// apply to another.
func (n logName) setting(value, variable string) string {
	if n.named() && value == os.Getenv(variable) {
		return ""
	}
	return value
}
