package cli

import "github.com/spf13/cobra"

func (a *app) sampleCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use:   "sample",
		Short: "Serve the sample API over HTTP, until interrupted",
		Long: `Serve the sample API over HTTP, until interrupted. Its description is at
/openapi.json. "executor source add sample" needs no server.`,
		Args: wants(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			err := a.Sample.Serve(cmd.Context(), listen, func(base string) {
				a.say(map[string]string{"url": base, "spec": base + "/openapi.json"}, "%s", base)
				a.next("executor source add pets --spec " + base + "/openapi.json --allow-private")
			})
			if cmd.Context().Err() != nil {
				return nil // an interrupt is how it ends
			}
			return err
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`address` to listen on; port 0: any free one")
	return cmd
}
