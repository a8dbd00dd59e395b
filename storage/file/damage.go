package file

import (
	"errors"
	"fmt"

	"github.com/open-executor/executor"
)

// A Damage is a place in the directory that does not hold what was written.
type Damage struct {
	File   string // path
	Offset int64  // byte of the file where it begins
	Msg    string // what is wrong there
	Torn   bool   // an unfinished last line, which Open cuts off by itself
	Moved  string // where Repair has put the damaged part; "" from Check

	full bool // a last line of the right length; see settled
}

func (d *Damage) Error() string {
	return fmt.Sprintf("%s is damaged at byte %d: %s", d.File, d.Offset, d.Msg)
}

func (d *Damage) asError(op string) error {
	return &executor.Error{Code: executor.Internal, Op: op, Msg: d.Error(), Hint: "run: executor doctor --repair"}
}

// damageOf says in which file a reader of lines has found a bad one. Another
// error is given back as it is.
func damageOf(path string, err error) error {
	var bad *badLine
	if !errors.As(err, &bad) {
		return err
	}
	return &Damage{File: path, Offset: bad.at, Msg: bad.why, Torn: bad.torn, full: bad.full}
}

// explain gives err, met while reading path, the form in which it is returned.
func explain(op, path string, err error) error {
	var damage *Damage
	if errors.As(err, &damage) {
		return damage.asError(op)
	}
	return diskError(op, path, err)
}

// settled takes the excuse of being unfinished from a last line of full length, where
// the process that wrote it has closed the storage in order: nothing was being
// written then, so it was altered since.
func settled(err error, clean bool) error {
	var damage *Damage
	if clean && errors.As(err, &damage) && damage.full {
		damage.Torn = false
	}
	return err
}
