package cli

import (
	"github.com/spf13/cobra"

	"github.com/open-executor/executor"
)

func (a *app) auditCommand() *cobra.Command {
	return group("audit", "Prove that the record is whole", a.auditVerifyCommand())
}

func (a *app) auditVerifyCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "verify",
		Short: "Check that no run was altered or removed",
		Long: `Check that no run was altered or removed: each entry of the record names the hash
of the one before. Keep the head elsewhere; a later check that does not come past
it shows that the end was cut off.`,
		Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.with(cmd.Context(), func(e *executor.Executor) error {
				stop := a.progress("reading the record")
				v, err := e.VerifyRuns(cmd.Context())
				stop()
				if err != nil {
					return err
				}
				a.say(v, "whole: %d entries, %d runs\nhead: %s", v.Entries, v.Runs, v.Head)
				return nil
			})
		},
	}
}
