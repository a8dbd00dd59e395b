// Command embed shows Executor as a library, in process: it adds an API, lists
// tools, calls one that reads and one that writes, and lets the program's own user
// answer for the second. Nothing is kept and nothing listens: records are in
// memory, and the API is the sample.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/open-executor/executor"
	"github.com/open-executor/executor/egress"
	"github.com/open-executor/executor/sample"
	"github.com/open-executor/executor/source/all"
)

func main() {
	if err := run(context.Background(), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, out io.Writer) error {
	shop := sample.New()
	person, err := executor.New(executor.Config{
		Kinds:     all.Kinds(),
		Transport: func(private bool) http.RoundTripper { return shop.Transport(egress.Transport(private)) },
	})
	if err != nil {
		return err
	}
	config, err := json.Marshal(map[string]string{"text": string(sample.Description())})
	if err != nil {
		return err
	}
	src, err := person.AddSource(ctx, executor.Source{ID: "sample", Kind: "openapi", Config: config})
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "added %s\n", src.ID)

	// What acts for the person sees the pets only, and is an agent, whatever it says.
	pets := executor.Toolkit{Name: "pets", Tools: []string{"sample.*.*.pets.*"}}
	agent := person.Narrow(pets, executor.Principal{Kind: executor.Agent, ID: "robby"})
	for tool, err := range agent.Tools(ctx) {
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-7s %s\n", tool.Tool.Effect, tool.Address)
	}
	status, err := agent.Execute(ctx, address("pets.get"), []byte(`{"petId": 1}`))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "read: %s\n", status.Value)

	// A write waits for a person. The agent cannot be the one; the program's user can.
	waiting, err := agent.Execute(ctx, address("pets.create"), []byte(`{"body": {"name": "Bo", "tag": "dog", "price": 90}}`))
	fmt.Fprintf(out, "write: %s\n", executor.CodeOf(err))
	if _, err := agent.Answer(ctx, waiting.Run, true, ""); executor.CodeOf(err) != executor.Blocked {
		return errors.New("an agent answered for itself")
	}
	if _, err := person.Answer(ctx, waiting.Run, true, "a good dog"); err != nil {
		return err
	}
	done, err := agent.Resume(ctx, waiting.Run)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "after a person said yes: %s\n", done.Value)
	return nil
}

func address(tool executor.ToolName) executor.Address {
	return executor.Address{Source: "sample", Scope: "user", Connection: executor.Public, Tool: tool}
}
