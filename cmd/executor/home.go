package main

import (
	"os"
	"path/filepath"
	"runtime"
)

// dataDirectory gives where everything is kept: $EXECUTOR_HOME, else where
// programs of the system keep their data. It makes nothing.
func dataDirectory() (string, error) {
	if dir := os.Getenv("EXECUTOR_HOME"); dir != "" {
		return filepath.Abs(dir)
	}
	if dir := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) { // a relative one is ignored, says the XDG specification
		return filepath.Join(dir, "executor"), nil
	}
	home, err := os.UserHomeDir()
	switch {
	case runtime.GOOS == "windows" && os.Getenv("LocalAppData") != "":
		return filepath.Join(os.Getenv("LocalAppData"), "executor"), nil
	case err != nil:
		return "", err
	case runtime.GOOS == "darwin":
		return filepath.Join(home, "Library", "Application Support", "executor"), nil
	}
	return filepath.Join(home, ".local", "share", "executor"), nil
}
