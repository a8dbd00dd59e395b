package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/cli"
	secrets "github.com/open-executor/executor/secret/all"
	"github.com/open-executor/executor/source/all"
	"github.com/open-executor/executor/storage/file"
)

// check looks after the data directory and what lies in it.
func (h installation) check(_ context.Context, repair bool) []cli.Check {
	providers, store := secrets.Providers(h.home, keychain())
	var schemes, kinds []string
	for _, p := range providers {
		schemes = append(schemes, p.Scheme()+"://")
	}
	for _, k := range all.Kinds() {
		kinds = append(kinds, k.Name())
	}
	checks := []cli.Check{
		{Name: "kinds of sources", Status: cli.Healthy, Text: strings.Join(kinds, ", ")},
		{Name: "secrets come from", Status: cli.Healthy, Text: strings.Join(schemes, ", ")},
	}
	stat, err := os.Stat(h.home)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return append(checks, cli.Check{Name: "data directory", Status: cli.Doubt, Text: h.home + " does not exist yet", Hint: "run: executor source add sample"})
	case err != nil:
		return append(checks, failed("data directory", err))
	}
	checks = append(checks, h.checkMode(stat), cli.Check{Name: "key of the secrets", Status: cli.Healthy, Text: store.Where()})
	checks = append(checks, h.checkRecords(repair)...)
	return append(checks, h.checkSync())
}

func (h installation) checkMode(stat fs.FileInfo) cli.Check {
	c := cli.Check{Name: "data directory", Status: cli.Healthy, Text: h.home}
	switch {
	case !stat.IsDir():
		c.Status, c.Text, c.Hint = cli.Broken, h.home+" is not a directory", "move it away, or set EXECUTOR_HOME"
	case runtime.GOOS != "windows" && stat.Mode().Perm()&0o077 != 0:
		c.Status, c.Text = cli.Doubt, fmt.Sprintf("%s is open to others (mode %04o)", h.home, stat.Mode().Perm())
		c.Hint = "run: chmod 700 " + h.home
	}
	return c
}

// checkRecords reads everything, and puts aside what is damaged if repair is set.
func (h installation) checkRecords(repair bool) []cli.Check {
	look := file.Check
	if repair {
		look = file.Repair
	}
	damage, err := look(h.home)
	if err != nil {
		return []cli.Check{failed("records", err)}
	}
	if len(damage) == 0 {
		return []cli.Check{{Name: "records", Status: cli.Healthy, Text: "whole"}}
	}
	var checks []cli.Check
	for _, d := range damage {
		c := cli.Check{Name: "records", Status: cli.Broken, Text: d.Error(), Hint: "run: executor doctor --repair"}
		if d.Torn {
			c.Status, c.Hint = cli.Doubt, "an unfinished line is cut off by itself"
		}
		if d.Moved != "" {
			c.Status, c.Hint = cli.Doubt, "repaired; what was damaged lies in "+d.Moved
		}
		checks = append(checks, c)
	}
	return checks
}

func failed(name string, err error) cli.Check {
	c := cli.Check{Name: name, Status: cli.Broken, Text: err.Error()}
	var e *executor.Error
	if errors.As(err, &e) {
		c.Text, c.Hint = e.Msg, e.Hint
	}
	return c
}

const (
	syncs    = 20
	slowSync = 50 * time.Millisecond // a call that writes waits for two of them
)

// checkSync measures how long the disk takes to promise that it has something.
func (h installation) checkSync() (c cli.Check) {
	c = cli.Check{Name: "disk", Status: cli.Healthy}
	f, err := os.CreateTemp(h.home, "doctor-*")
	if err != nil {
		return failed(c.Name, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // an empty file of ours, at worst
	start := time.Now()
	for range syncs {
		if _, err = f.WriteString("executor\n"); err == nil {
			err = f.Sync()
		}
		if err != nil {
			break
		}
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return failed(c.Name, err)
	}
	each := time.Since(start) / syncs
	c.Text = fmt.Sprintf("%v for a sync", each.Round(10*time.Microsecond))
	if each > slowSync {
		c.Status, c.Hint = cli.Doubt, "calls that write wait for the disk; a local disk is faster"
	}
	return c
}
