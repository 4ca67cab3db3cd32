// Package system holds what operating systems do in different ways: locks of files, permissions,
// free space, open files, core files, groups of processes. Windows has some of it in a weaker form,
// which each function says.
package system

import "errors"

// ErrLocked is returned for a file that another process has locked.
var ErrLocked = errors.New("the file is locked by another process")
