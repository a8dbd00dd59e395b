package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// Version says what this program is.
type Version struct {
	Version string `json:"version"`
	Commit  string `json:"commit"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// Built gives the version that the linker or, without it, the build noted. A
// build from a directory without history is "dev".
func Built(version, commit string) Version {
	v := Version{Version: version, Commit: commit, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	if info, ok := debug.ReadBuildInfo(); ok {
		if v.Version == "" && info.Main.Version != "(devel)" {
			v.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" && v.Commit == "" {
				v.Commit = s.Value
			}
		}
	}
	if v.Version == "" {
		v.Version = "dev"
	}
	return v
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{Use: "version", Short: "Print the version", Args: wants(), RunE: a.version}
}

func (a *app) version(*cobra.Command, []string) error {
	v := a.Version
	text := "executor " + v.Version
	if v.Commit != "" {
		text += " (" + fit(v.Commit, 12) + ")"
	}
	a.say(v, "%s %s %s/%s", text, v.Go, v.OS, v.Arch)
	return nil
}
