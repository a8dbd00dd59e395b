package file

// Failing gives opts with a disk that asks fail before each step.
func Failing(opts Options, fail func(step, path string) error) Options {
	opts.disk.fail = fail
	return opts
}
