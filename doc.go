// Package executor is the layer through which agents, people and programs act
// on software. It holds the vocabulary (tool, source, connection, scope,
// policy, run …), the law (who may call what, and when a person is asked) and
// the one verb, [Executor.Execute], which finds a tool by its address, decides
// whether it may run, unlocks the credential, invokes it and records it.
//
// A program embeds it like this:
//
//	e, err := executor.New(executor.Config{
//		Kinds:     all.Kinds(),
//		Transport: egress.Transport,
//	})
//	_, err = e.AddSource(ctx, executor.Source{ID: "pets", Kind: "openapi", Config: cfg})
//	res, err := e.Execute(ctx, addr, args)
//
// The package imports the standard library and a JSON Schema validator, and
// nothing else: what speaks a protocol ([Kind]), knows a vault ([Provider]) or
// keeps records ([Storage]) is handed in.
package executor
